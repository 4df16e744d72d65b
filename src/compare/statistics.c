/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "statistics.h"

#include "distribution.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <math.h>

struct hp_measured log_ratio_change(const struct log_ratio *ratio)
{
	double away = student_quantile(interval_misses, ratio->freedom) * ratio->deviation;

	return (struct hp_measured){
		.value = expm1(ratio->value),
		.low = expm1(ratio->value - away),
		.high = expm1(ratio->value + away),
	};
}

double log_ratio_smallest(const struct log_ratio *ratio, double alarms)
{
	/* The one-sided quantile, from the probability of both sides. */
	double power = student_quantile(2 * (1 - COMPARE_POWER), ratio->freedom);

	return expm1((student_quantile(alarms, ratio->freedom) + power) * ratio->deviation);
}

double freedom_of_sum(double one, double one_freedom, double other, double other_freedom)
{
	double doubt = (one > 0 ? one / one_freedom : 0) + (other > 0 ? other / other_freedom : 0);

	return doubt > 0 ? (one + other) / doubt : INFINITY;
}

struct ranked {
	double p;
	size_t index;
};

HP_ORDER_BY(compare_p, struct ranked, p);

struct hp_error *discovery_rates(const double *p, size_t count, double *q)
{
	_cleanup_free_ struct ranked *ranked = calloc(count + 1, sizeof(*ranked));
	size_t tested = 0;
	double least = 1;

	if (!ranked)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		q[i] = NAN;
		if (!isnan(p[i]))
			ranked[tested++] = (struct ranked){ p[i], i };
	}
	qsort(ranked, tested, sizeof(*ranked), compare_p);
	for (size_t i = tested; i-- > 0;) {
		least = fmin(least, ranked[i].p * (double)tested / (double)(i + 1));
		q[ranked[i].index] = least;
	}
	return NULL;
}
