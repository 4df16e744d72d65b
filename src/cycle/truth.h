/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The true cost of each cause, from runs of the same trace on cores that lack it. */
#ifndef HPCPROF_SRC_CYCLE_TRUTH_H
#define HPCPROF_SRC_CYCLE_TRUTH_H

#include "core.h"

/* `cpi`: of the core with its own properties, which is the last one in both orders. */
struct hp_error *truth_find(const struct core_run *run, double cpi, struct hp_cycle_result *result);

#endif
