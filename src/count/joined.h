/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates of all events, combined from those of the rotation sets. Rotation sets are independent:
 * the covariance of their errors is unknown, and they share no events.
 */
#ifndef COUNT_JOINED_H
#define COUNT_JOINED_H

#include <hpcprof/mux/estimate.h>
#include <hpcprof/pmu/groups.h>

/* Creates empty estimates. NULL: out of memory. */
struct hp_mux_estimates *joined_create(size_t count);

/* Adds those of a rotation set. `doubt`: smallest width of an interval, relative to the count. */
void joined_add(struct hp_mux_estimates *into, const struct hp_mux_estimates *from,
		const struct hp_rotation_set *rotation_set, double doubt);

#endif
