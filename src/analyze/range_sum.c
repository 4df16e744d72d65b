/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/analyze/range_sum.h>

#include "tuning.h"

#include <math.h>

static void add(struct hp_side_sum *side, double off, double unknown)
{
	double alike = fmin(off, unknown);

	side->unknown += alike;
	side->all += off - alike;
	side->squares += (off - alike) * (off - alike);
}

void hp_range_sum_add(struct hp_range_sum *sum, const struct hp_range *range, double likely,
		      double unknown)
{
	double middle = fmax(range->low, fmin(range->high, likely));

	sum->likely += middle;
	add(&sum->below, middle - range->low, unknown);
	add(&sum->above, range->high - middle, unknown);
}

static double off(const struct hp_side_sum *side)
{
	return side->unknown +
	       sqrt(shared_error * side->all * side->all + (1 - shared_error) * side->squares);
}

struct hp_range hp_range_sum_get(const struct hp_range_sum *sum)
{
	return (struct hp_range){ sum->likely - off(&sum->below), sum->likely + off(&sum->above) };
}
