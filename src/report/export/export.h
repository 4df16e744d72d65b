/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the export formats share. Each format is one file with one function. */
#ifndef REPORT_EXPORT_EXPORT_H
#define REPORT_EXPORT_EXPORT_H

#include "../common/state.h"

#include <hpcprof/base/buffer.h>
#include <hpcprof/profile/paths.h>

#include <stdio.h>

/* requires: call paths with names. */
struct hp_error *export_folded(struct report *report, FILE *out);
struct hp_error *export_speedscope(struct report *report, FILE *out);
struct hp_error *export_firefox(struct report *report, FILE *out);
struct hp_error *export_pprof(struct report *report, FILE *out);
struct hp_error *export_callgrind(struct report *report, FILE *out);
struct hp_error *export_perf_script(struct report *report, FILE *out);

/* requires: files open. */
struct hp_error *export_bolt(struct report *report, FILE *out);
struct hp_error *export_llvm_sample(struct report *report, FILE *out);
struct hp_error *export_llvm_profgen(struct report *report, FILE *out);
struct hp_error *export_autofdo(struct report *report, FILE *out);

/* A path as its steps from the sample to the root, without the root itself. */
struct export_path {
	HP_VECTOR(const struct hp_path_step *) steps;
};
struct hp_error *export_path_of(const struct hp_call_paths *paths, const struct hp_path_step *step,
				struct export_path *path);
static inline const struct hp_path_place *export_place(const struct hp_call_paths *paths,
						       const struct hp_path_step *step)
{
	return &paths->places.at[step->place];
}

/* The number of samples if all samples of the event stand for the same number of units, otherwise
 * the units. */
uint64_t export_value(const struct hp_loaded_event *event, const struct hp_tally *tally);

/* Adds the command line for titles, escaped. */
void export_command(const struct report *report, struct hp_buffer *text);

#endif
