/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/mux/ramp.h>

#include "tuning.h"

uint64_t hp_mux_ramp_slice_ns(const struct hp_mux_ramp *ramp, uint64_t ran_ns)
{
	uint64_t length_ns = ran_ns / (ROUND_PART * (uint64_t)ramp->group_count);

	if (length_ns < ramp->shortest_ns)
		length_ns = ramp->shortest_ns;
	return length_ns < ramp->full_ns ? length_ns : ramp->full_ns;
}
