/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates of all events, from those of the rotation sets. Rotation sets are apart: nothing is
 * known of how their errors go together, and nothing is shared.
 */
#ifndef COUNT_JOINED_H
#define COUNT_JOINED_H

#include <hpcprof/mux/estimate.h>
#include <hpcprof/pmu/groups.h>

/* Nothing is counted yet. NULL when memory is short. */
struct hp_mux_estimates *joined_create(size_t count);

/* Adds those of a rotation set. `doubt`: an interval is at least so wide, relative to the count. */
void joined_add(struct hp_mux_estimates *into, const struct hp_mux_estimates *from,
		const struct hp_rotation_set *rotation_set, double doubt);

#endif
