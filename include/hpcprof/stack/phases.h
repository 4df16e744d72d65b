/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Phases of a program: stretches of intervals whose stacks are alike (Azimi et al. 2005, figure 7).
 *
 * Change points are found by PELT (Killick, Fearnhead and Eckley 2012). It finds the division into
 * stretches with the smallest sum of squared distances from each stretch's mean, in units of the
 * noise, plus a penalty per stretch. The result is exactly the best division, in time that grows
 * little faster than the number of intervals.
 *
 * The model is Gaussian noise around means that change abruptly. The penalty of a change is that of
 * BIC, summed over the numbers of a stack: log n for the place of the change, and log n for the
 * mean. (The place is counted once per number, because the numbers of a stack are correlated: a
 * random deviation in one appears in all.) The noise is estimated from the median of the
 * differences of neighbours, which changes of the mean do not affect, corrected for the
 * autocorrelation that differences at distance two show.
 */
#ifndef HPCPROF_STACK_PHASES_H
#define HPCPROF_STACK_PHASES_H

#include <hpcprof/base/error.h>

#include <stddef.h>

/* `values` has `width` numbers for each of `count` intervals, row by row, all finite. `scale`: what
 * they add up to, about; deviations that are small beside it do not matter. Writes the ends of the
 * phases, of which the last is `count`, to `ends` (malloc'ed). */
struct hp_error *hp_phases_find(const double *values, size_t count, size_t width, double scale,
				size_t **ends, size_t *phase_count);

#endif
