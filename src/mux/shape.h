/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of variability: the kinds of process that an event's rate may be, and the errors that
 * follow.
 *
 *	white	without memory: the count of a length o has the variance s o; s = 1 here
 *	memory	Cov(r(x), r(x + h)) = e^(-h / l), of variance 1, for several lengths l
 *	walk	Var(r(x + h) - r(x)) = h: a random walk; on average also rare jumps
 *
 * For each shape there are two closed forms, by integrating the covariance over the lengths: the
 * expected squared difference of two observations, and the expected squared error of a cell, which
 * is an observed length with unobserved lengths of `left` and `right` beside it, to which its rate
 * is applied. The latter are extension variances (Matheron, geostatistics).
 *
 * Pure. Lengths are in reference event units.
 */
#ifndef HPCPROF_SRC_MUX_SHAPE_H
#define HPCPROF_SRC_MUX_SHAPE_H

#include "tuning.h"

enum {
	SHAPE_WHITE = 0,
	SHAPE_MEMORY = 1,
	SHAPE_WALK = SHAPE_MEMORY + SHAPE_MEMORIES,
	SHAPE_COUNT,
};

/* E (r1 - r2)^2 for two observed lengths with `between` between them. `distance`: typical distance
 * between the middles of two observations, from which the ladder of memories is made. */
void hp_mux_shape_difference(double distance, double first, double between, double second,
			     double expected[SHAPE_COUNT]);

/* E (count in the cell - (left + observed + right) * observed rate)^2. */
void hp_mux_shape_cell(double distance, double left, double observed, double right,
		       double variance[SHAPE_COUNT]);

#endif
