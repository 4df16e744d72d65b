/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of variability: what kind of process a rate may be, and what that makes of an estimate.
 *
 *	white	without memory: what a length o counts varies by s o; s = 1 here
 *	memory	Cov(r(x), r(x + h)) = e^(-h / l), of variance 1, for a ladder of lengths l
 *	walk	Var(r(x + h) - r(x)) = h: a random walk; on the average also rare jumps
 *
 * Two questions, answered for each shape in closed form (both follow from integrating the
 * covariance over the lengths): what squared difference do two observations have, and what is the
 * error of a cell, an observed length o with unobserved ones of `left` and `right` beside it that
 * are said to have the observed rate. Theory of extension variances; Matheron's, of ore bodies.
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

/* E (r1 - r2)^2 of two observed lengths that lie `between` apart; `distance`: a typical one of
 * two observations' middles, which the ladder of memories is over. */
void hp_mux_shape_difference(double distance, double first, double between, double second,
			     double expected[SHAPE_COUNT]);

/* E (what the cell counts - (left + observed + right) * observed rate)^2. */
void hp_mux_shape_cell(double distance, double left, double observed, double right,
		       double variance[SHAPE_COUNT]);

#endif
