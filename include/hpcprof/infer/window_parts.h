/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prepares the parts of absolute windows for the fit of penalties (hpcprof/analyze/penalties.h):
 * for each part, the cycles that it took and the cycles that the models predict for the code that
 * ran in it.
 *
 * The cycles of a block are the mean over all its simulated runs, in whichever windows these
 * happened. One window may process other data than most: so the cycles of each cause are multiplied
 * by the number of its events in this window's simulated stretch, divided by the average number in
 * the same code. Code without a simulated time is assumed to behave like the rest of the part.
 */
#ifndef HPCPROF_INFER_WINDOW_PARTS_H
#define HPCPROF_INFER_WINDOW_PARTS_H

#include <hpcprof/analyze/penalties.h>
#include <hpcprof/infer/inference.h>
#include <hpcprof/model/evidence.h>

typedef HP_VECTOR(struct hp_timed_part) hp_timed_parts;

/* Adds the parts of one command, which belong to windows `first` to `first` + HP_EVIDENCE_WINDOWS
 * - 1. Parts that are too short, or of whose code too little was simulated, are left out. */
struct hp_error *hp_window_parts(const struct hp_window_stratum *stratum, double cycles_per_ns,
				 size_t first, hp_timed_parts *parts);

/* The penalties of all commands that pass --comm. requires: hp_inference_create */
struct hp_error *hp_inference_penalties(const struct hp_inference *inference,
					struct hp_penalties *penalties);

#endif
