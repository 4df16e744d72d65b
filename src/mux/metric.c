/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the interval of a ratio by the method of Fieller 1954. */

#include "tuning.h"

#include <hpcprof/mux/metric.h>

#include <math.h>

/* A bound on the covariance of two events' errors: the known part, and how far off it may be if the
 * two are counted in different slices. */
struct bounded {
	double known, slack;
};

static struct bounded covariance_of(const struct hp_mux_estimates *estimates, size_t a, size_t b)
{
	struct bounded both = { hp_mux_covariance(estimates, a, b), 0 };
	uint32_t count = estimates->group_count;

	if (estimates->groups[a] != estimates->groups[b] && estimates->groups[a] < count &&
	    estimates->groups[b] < count)
		both.slack = sqrt(hp_mux_covariance(estimates, a, a) *
				  hp_mux_covariance(estimates, b, b)) /
			     (count - 1);
	return both;
}

/* A sum of counts. */
struct sum {
	const struct hp_mux_term *terms;
	size_t count;
	double value, variance;
};

double hp_mux_sum_variance(const struct hp_mux_estimates *estimates,
			   const struct hp_mux_term *terms, size_t count)
{
	double variance = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			variance += terms[i].coefficient * terms[j].coefficient *
				    hp_mux_covariance(estimates, terms[i].event, terms[j].event);
	return fmax(variance, 0);
}

static struct bounded between(const struct hp_mux_estimates *estimates, const struct sum *a,
			      const struct sum *b)
{
	struct bounded total = { 0, 0 };

	for (size_t i = 0; i < a->count; i++) {
		for (size_t j = 0; j < b->count; j++) {
			double factor = a->terms[i].coefficient * b->terms[j].coefficient;
			struct bounded one =
				covariance_of(estimates, a->terms[i].event, b->terms[j].event);

			total.known += factor * one.known;
			total.slack += fabs(factor) * one.slack;
		}
	}
	return total;
}

static struct sum sum_of(const struct hp_mux_estimates *estimates, const struct hp_mux_term *terms,
			 size_t count, struct hp_mux_ratio *ratio, double *freedom)
{
	struct sum sum = { terms, count, 0, 0 };
	struct bounded own = between(estimates, &sum, &sum);

	for (size_t i = 0; i < count; i++) {
		const struct hp_mux_estimate *event = &estimates->events[terms[i].event];

		sum.value += terms[i].coefficient * event->count;
		*freedom = fmin(*freedom, event->freedom);
		if (event->verdict > ratio->verdict)
			ratio->verdict = event->verdict;
	}
	sum.variance = fmax(own.known + own.slack, 0);
	return sum;
}

/* All R with (N - R D)^2 <= t^2 Var(N - R D). False if they are unbounded. */
static bool fieller(const struct sum *n, const struct sum *d, double covariance, double t,
		    struct hp_mux_ratio *ratio)
{
	double a = d->value * d->value - t * t * d->variance;
	double b = n->value * d->value - t * t * covariance;
	double c = n->value * n->value - t * t * n->variance;
	double root = b * b - a * c;

	if (!(a > 0))
		return false;
	root = sqrt(fmax(root, 0));
	ratio->low = (b - root) / a;
	ratio->high = (b + root) / a;
	return true;
}

/* If the divisor is known, the interval is that of the counts, a factor in both directions. */
static bool by_known(const struct sum *n, const struct sum *d, double t, struct hp_mux_ratio *ratio)
{
	double factor = n->variance > 0 ? exp(t * sqrt(n->variance) / n->value) : 1;

	ratio->low = n->value / d->value / factor;
	ratio->high = n->value / d->value * factor;
	return t * sqrt(n->variance) <= useless_width * n->value;
}

static bool interval_of(const struct sum *n, const struct sum *d, double covariance, double t,
			struct hp_mux_ratio *ratio)
{
	if (d->variance <= 0)
		return by_known(n, d, t, ratio);
	return fieller(n, d, covariance, t, ratio) &&
	       ratio->high - ratio->low <= 2 * useless_width * n->value / d->value;
}

struct hp_mux_ratio hp_mux_ratio_of(const struct hp_mux_estimates *estimates,
				    const struct hp_mux_term *numerator, size_t numerator_count,
				    const struct hp_mux_term *denominator, size_t denominator_count,
				    double divisor, double scale)
{
	struct hp_mux_ratio ratio = { NAN, NAN, NAN, HP_MUX_EXACT };
	double freedom = INFINITY, covariance = 0;
	struct sum n = sum_of(estimates, numerator, numerator_count, &ratio, &freedom);
	struct sum d = { NULL, 0, divisor, 0 };
	struct bounded both;

	if (denominator_count > 0) {
		d = sum_of(estimates, denominator, denominator_count, &ratio, &freedom);
		both = between(estimates, &n, &d);
		covariance = both.known - both.slack;
	}
	if (ratio.verdict == HP_MUX_NOT_COUNTED)
		return ratio;
	if (!(d.value > 0)) {
		ratio.verdict = HP_MUX_INSUFFICIENT;
		return ratio;
	}
	ratio.value = scale * n.value / d.value;
	if (ratio.verdict == HP_MUX_INSUFFICIENT)
		return ratio;
	if (!interval_of(&n, &d, covariance, hp_mux_quantile(freedom), &ratio)) {
		ratio.low = ratio.high = NAN;
		ratio.verdict = HP_MUX_INSUFFICIENT;
		return ratio;
	}
	ratio.low = fmax(scale * ratio.low, 0);
	ratio.high *= scale;
	return ratio;
}
