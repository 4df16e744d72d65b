/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the area from which Lim's cost of a group is made (scheduler.h, roc). It has a header of
 * its own so that a test can call it.
 */
#ifndef HPCPROF_SRC_MUX_TRIANGLE_H
#define HPCPROF_SRC_MUX_TRIANGLE_H

#include <stdint.h>

/* Half of the distance of B from the line between A and C. Neither x nor y decreases. */
static inline uint64_t hp_mux_triangle(const uint64_t x[3], const uint64_t y[3])
{
	uint64_t run = x[2] - x[0], rise = y[2] - y[0];
	uint64_t delta_y = 0, actual = y[1] - y[0];

	if (run > 0)
		delta_y = (uint64_t)((unsigned __int128)rise * (x[1] - x[0]) / run);
	return (actual > delta_y ? actual - delta_y : delta_y - actual) / 2;
}

#endif
