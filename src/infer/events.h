/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events in simulated windows: for each instruction, events per execution over all windows of an
 * image, with intervals from the differences between windows.
 */
#ifndef INFER_EVENTS_H
#define INFER_EVENTS_H

#include <hpcprof/infer/inference.h>

struct hp_loaded_part;
struct image_events;

/* The events of the part's image, made at the first request; NULL if nothing was simulated there.
 * Owned by the inference. requires: its file open */
struct hp_error *events_of(struct hp_inference *inference, const struct hp_loaded_part *part,
			   const struct image_events **events);
/* How events per run differ between windows, by what all events of an image tell. */
struct hp_pace events_pace_of(const struct hp_paces *paces);

/* The ends of the 90 % interval of events per run. `counts` and `runs` are sums by windows, of which
 * there are `windows` in all, and `pace` how they differ. requires: a run */
struct events_range {
	double low, high;
	double as_met; /* the high end, if only windows differ and nothing is chance */
};
struct events_range events_range_of(const struct hp_grouped *counts, const struct hp_grouped *runs,
				    double windows, const struct hp_pace *pace);
/* A callback of struct hp_analysis_input. */
bool events_happened(const void *events, hp_link_address address, struct hp_happened *happened);
void events_destroy(struct image_events *events);

#endif
