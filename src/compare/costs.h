/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs of the whole program cost. Of time, runs are measured by the CPU time that the kernel
 * counted for them: it has none of the chance that samples have. Of other events it is samples,
 * epoch by epoch.
 */
#ifndef COMPARE_COSTS_H
#define COMPARE_COSTS_H

#include "sides.h"
#include "statistics.h"

/* Whether time is compared, and all runs of all epochs say how much CPU time they took. */
bool costs_are_cpu_times(const struct sides *sides);

/* Costs of one run, or unit of work, and of which replicate of its side each run is; both in the
 * arena. Needs sides_gather. False when memory is short. */
bool costs_list(const struct sides *sides, size_t at, struct run_costs *runs, size_t **epochs);

#endif
