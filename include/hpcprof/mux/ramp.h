/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of slices at the beginning of a run.
 *
 * Programs begin with a burst: execve, page faults, opened files, all within some milliseconds.
 * With slices of full length only one group would see it. So the first slices are short, and each
 * round takes a fixed share of the time so far: slices grow geometrically to their full length. In
 * a run of any length each group has then seen some of its beginning, and the cost grows only with
 * the logarithm of the run's length.
 */
#ifndef HPCPROF_MUX_RAMP_H
#define HPCPROF_MUX_RAMP_H

#include <stdint.h>

enum {
	/* The longest slice, however expensive rotation is: longer ones sample too few moments of a
	 * program. */
	HP_MUX_LONGEST_SLICE_NS = 500000000,
	/* The weight of a new cost of rotation is one in this number. */
	HP_MUX_COSTS_AVERAGED = 16,
};

struct hp_mux_ramp {
	uint32_t group_count; /* that take turns; > 0 */
	uint64_t shortest_ns; /* the shortest slice */
	uint64_t full_ns;     /* takes precedence if it is less than shortest_ns */
};

/* The length of the slice that begins when the target has run for `ran_ns`. This is the target's
 * own time, because a target that waits for a CPU makes no progress. */
uint64_t hp_mux_ramp_slice_ns(const struct hp_mux_ramp *ramp, uint64_t ran_ns);

#endif
