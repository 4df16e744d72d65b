/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shape.h"
#include "tuning.h"

#include <math.h>

/* Computes x - 1 + e^-x without the cancellation that occurs for small x. */
static double beyond_linear(double x)
{
	if (x < 1e-2)
		return x * x * (0.5 - x * (1.0 / 6 - x * (1.0 / 24 - x / 120)));
	return x + expm1(-x);
}

/* The variance of the integral over a length, in units of l^2. */
static double own(double length)
{
	return 2 * beyond_linear(length);
}

/* 1 - e^-x: two adjacent lengths have the covariance l^2 times this of one times this of the
 * other. */
static double near(double length)
{
	return -expm1(-length);
}

void hp_mux_shape_difference(double distance, double first, double between, double second,
			     double expected[SHAPE_COUNT])
{
	double l = distance * ladder_start;

	expected[SHAPE_WHITE] = 1 / first + 1 / second;
	expected[SHAPE_WALK] = between + (first + second) / 3;
	for (int i = 0; i < SHAPE_MEMORIES; i++, l *= ladder_step) {
		double a = first / l, b = second / l;

		expected[SHAPE_MEMORY + i] = own(a) / (a * a) + own(b) / (b * b) -
					     2 * exp(-between / l) * near(a) * near(b) / (a * b);
	}
}

void hp_mux_shape_cell(double distance, double left, double observed, double right,
		       double variance[SHAPE_COUNT])
{
	double unobserved = left + right, ratio = unobserved / observed;
	double l = distance * ladder_start;

	variance[SHAPE_WHITE] = unobserved * (1 + ratio);
	variance[SHAPE_WALK] = (left * left * (left + observed) +
				right * right * (right + observed) - left * right * observed) /
			       3;
	for (int i = 0; i < SHAPE_MEMORIES; i++, l *= ladder_step) {
		double o = observed / l, a = left / l, b = right / l;
		double sum = own(a) + own(b) + ratio * ratio * own(o) +
			     2 * near(a) * near(b) * exp(-o) -
			     2 * ratio * near(o) * (near(a) + near(b));

		variance[SHAPE_MEMORY + i] = fmax(sum, 0) * l * l;
	}
}
