/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long slices are when a run begins.
 *
 * Programs begin with a burst: execve, page faults, opened files, all within some milliseconds.
 * With slices of full length one group sees it, and no other knows of it. So the first slices are
 * short, and each round takes a part of all the time so far: they grow geometrically, until they
 * have their full length. Of a run of any length each group has then seen some of its beginning,
 * and what ramps cost grows with the logarithm of the run only.
 */
#ifndef HPCPROF_MUX_RAMP_H
#define HPCPROF_MUX_RAMP_H

#include <stdint.h>

struct hp_mux_ramp {
	uint32_t group_count; /* that take turns; > 0 */
	uint64_t shortest_ns; /* shorter ones cost too much */
	uint64_t full_ns;     /* wins where it is less than shortest_ns */
};

/* Of the slice that begins when the target has run for `ran_ns`: its own time, as a target that
 * waits for a CPU has not gone on with its beginning. */
uint64_t hp_mux_ramp_slice_ns(const struct hp_mux_ramp *ramp, uint64_t ran_ns);

#endif
