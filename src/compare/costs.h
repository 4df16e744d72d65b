/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of each run of the whole program. For time it is the CPU time that the kernel accounted
 * to the run, which has no sampling error. For other events it is estimated from samples, per
 * epoch.
 */
#ifndef COMPARE_COSTS_H
#define COMPARE_COSTS_H

#include "sides.h"
#include "statistics.h"

/* Whether time is compared, and all runs of all epochs have their CPU time. */
bool costs_are_cpu_times(const struct sides *sides);

/* Lists the costs of a run, or unit of work, and the replicate of each run; both in the arena.
 * Requires sides_gather. False: out of memory. */
bool costs_list(const struct sides *sides, size_t at, struct run_costs *runs, size_t **epochs);

#endif
