/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a fixed amount of work on this machine now: a loop that every recording of a command
 * times before and after the command, so that runs at different times can be compared.
 *
 * It consists of two loops: independent additions, which a thread on the same core slows down, and
 * reads of more memory than the CPU's own caches hold, which other users of the shared cache and
 * the memory slow down. The clock frequency (see clock.h) shows neither. How far costs of programs
 * follow it is what `scripts/check-accuracy --only=occasions` prints (DRIFT_SLOPE in
 * src/compare/tuning.h).
 */
#ifndef HPCPROF_CALIBRATE_REFERENCE_H
#define HPCPROF_CALIBRATE_REFERENCE_H

#include <stdint.h>

/* The geometric mean of the CPU times of the two loops, in ns; takes about 2 ms. 0 if there is no
 * memory for it. */
uint64_t hp_reference_measure(void);

#endif
