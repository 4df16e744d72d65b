/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times the same trace with the one-pass model, uarch/timing.h, for comparison. */
#ifndef HPCPROF_SRC_CYCLE_ONE_PASS_H
#define HPCPROF_SRC_CYCLE_ONE_PASS_H

#include "core.h"

/* Computes the cycles per instruction of the measured part. */
struct hp_error *one_pass_run(const struct core_run *run, double *cpi);

#endif
