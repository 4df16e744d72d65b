/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real clock frequency of the core, measured from time to time during a recording. It converts
 * time into cycles. The nominal frequency and the TSC frequency are different.
 *
 * The measurements are stored as counts in classes 1/256 octave (0.27 %) wide, so that recordings
 * add up exactly and in any order, and percentiles can be read from the sum.
 */
#ifndef HPCPROF_MODEL_CLOCK_H
#define HPCPROF_MODEL_CLOCK_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_clock_class {
	uint64_t hz;	/* of its centre, > 0 */
	uint64_t count; /* measurements in it, > 0 */
};

/* No class: the clock is not known. */
struct hp_clock {
	struct hp_clock_class *classes; /* by hz, distinct. Owned */
	size_t class_count;
	/* How often it was looked whether another hardware thread of the core was busy, and how often one
	 * was (calibrate/sharing.h). */
	uint64_t looks, shared;
};

void hp_clock_clear(struct hp_clock *clock);

/* Adds one measurement; ignores an impossible one. False when memory is short. */
bool hp_clock_note(struct hp_clock *clock, double hz);

/* Adds one look at the core. */
void hp_clock_note_sharing(struct hp_clock *clock, bool is_shared);

/* Adds counts; past 64 bits they are DAMAGED. */
struct hp_error *hp_clock_add(struct hp_clock *into, const struct hp_clock *from);

uint64_t hp_clock_measurements(const struct hp_clock *clock);

/* The lowest clock that `percent` % of the measurements do not exceed, in Hz; 0 without
 * measurements. */
double hp_clock_percentile(const struct hp_clock *clock, double percent);

#endif
