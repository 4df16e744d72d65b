/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ratios of sums over groups of windows, and how certain they are.
 *
 * The residuals of the groups, over - ratio * under, have mean nothing; their squares add up to the
 * variance of the sum, less the share that fitting the ratio took. Groups of many windows and of
 * few each count as much as they cover.
 */
#include <hpcprof/model/evidence.h>

#include <math.h>

double hp_grouped_sum(const struct hp_grouped *grouped)
{
	double sum = 0;

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		sum += grouped->counts[i];
	return sum;
}

double hp_student_widening(double freedom)
{
	/* Of Student's distribution what 95 % are below, by degrees of freedom: known exactly. */
	static const double few[] = { 6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432 };
	enum { FEW = sizeof(few) / sizeof(few[0]) };
	const double z = 1.6449;
	double quantile;

	if (!(freedom > 1))
		return few[0] / z;
	if (freedom < FEW) {
		size_t below = (size_t)freedom - 1;
		double part = freedom - floor(freedom);

		/* Between the two, in 1 / freedom nearly a straight line. */
		part = part * floor(freedom + 1) / freedom;
		quantile = few[below] + part * (few[below + 1] - few[below]);
	} else {
		/* Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5). */
		quantile = z + (z * z * z + z) / (4 * freedom) +
			   (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * freedom * freedom) +
			   (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) /
				   (384 * pow(freedom, 3));
	}
	return quantile / z;
}

struct hp_grouped_ratio hp_grouped_ratio(const struct hp_grouped *over,
					 const struct hp_grouped *under)
{
	double whole = hp_grouped_sum(under);
	struct hp_grouped_ratio ratio = { .value = hp_grouped_sum(over) / whole,
					  .deviation = INFINITY };
	double squares = 0;
	double shares = 0;

	if (!(whole > 0)) {
		ratio.value = NAN;
		return ratio;
	}
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		double residual = over->counts[i] - ratio.value * under->counts[i];
		double share = under->counts[i] / whole;

		squares += residual * residual;
		shares += share * share;
	}
	ratio.freedom = 1 / shares - 1;
	if (ratio.freedom < 1e-3)
		return ratio;
	ratio.deviation = sqrt(squares / (1 - shares)) / whole * hp_student_widening(ratio.freedom);
	return ratio;
}
