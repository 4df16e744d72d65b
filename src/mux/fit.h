/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits the shapes of shape.h to an event: compares the squared differences of observations that are
 * 1, 2, 4 and 8 apart with those that each shape predicts. The result is white noise and one other
 * shape, neither negative: the pair with the least squared error. Pure.
 */
#ifndef HPCPROF_SRC_MUX_FIT_H
#define HPCPROF_SRC_MUX_FIT_H

#include "shape.h"
#include "tuning.h"

/* Sums over the pairs at each lag. */
struct fit_pairs {
	double count[FIT_LAGS];
	double expected[FIT_LAGS][SHAPE_COUNT];
};

struct fit {
	double part[SHAPE_COUNT]; /* share of the squared differences at lag 1; all add up to 1 */
};

/* `squares`: sums of the squared differences of these pairs. */
struct fit hp_mux_fit(const struct fit_pairs *pairs, const double squares[FIT_LAGS]);
/* The worst case that is compatible with successive differences, when differences at longer
 * distances mean something else. */
struct fit hp_mux_fit_without_memory(void);

#endif
