/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The range of a sum, of parts with ranges of their own, such as what a cause took in each procedure.
 *
 * Models are wrong in each procedure in another way, so the ends of all ranges do not happen at once: of the
 * variance of their errors, procedures have a part in common (shared_error in analyze/tuning.h), and the
 * rest is independent. What is not known at all, since no window saw it, is alike in all of them.
 */
#ifndef HPCPROF_ANALYZE_RANGE_SUM_H
#define HPCPROF_ANALYZE_RANGE_SUM_H

struct hp_range {
	double low;
	double high;
};

/* All 0: the sum of nothing. */
struct hp_range_sum {
	double likely; /* each within its range; how far the ends are below and above: */
	struct hp_side_sum {
		double unknown; /* alike in all parts */
		double all, squares;
	} below, above;
};

/* `unknown`: as much of the range, on either side, is alike in all parts. A likely value out of the range
 * counts as its nearer end. */
void hp_range_sum_add(struct hp_range_sum *sum, const struct hp_range *range, double likely,
		      double unknown);
struct hp_range hp_range_sum_get(const struct hp_range_sum *sum);

#endif
