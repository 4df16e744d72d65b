/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ratios of sums over groups of windows, and their errors.
 *
 * The residuals of the groups, over - ratio * under, have mean 0. The variance of the sum is the
 * sum of their squares, corrected for the degree of freedom that the ratio takes. Groups are
 * weighted by what they cover, so that groups of many windows and of few may be mixed.
 */
#include "tuning.h"

#include <hpcprof/model/evidence.h>

#include <math.h>

double hp_grouped_sum(const struct hp_grouped *grouped)
{
	double sum = 0;

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		sum += grouped->counts[i];
	return sum;
}

struct hp_grouped hp_grouped_by_windows(const uint64_t counts[HP_EVIDENCE_GROUPS], double scale)
{
	struct hp_grouped grouped = { 0 };

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		grouped.counts[i / HP_WINDOW_PARTS] += scale * (double)counts[i];
	return grouped;
}

double hp_student_widening(double freedom)
{
	/* 95 % quantiles of Student's distribution, by degrees of freedom. */
	static const double few[] = { 6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432 };
	enum { FEW = sizeof(few) / sizeof(few[0]) };
	const double z = HP_NORMAL_90;
	double quantile;

	if (!(freedom > 1))
		return few[0] / z;
	if (freedom < FEW) {
		size_t below = (size_t)freedom - 1;
		double part = freedom - floor(freedom);

		/* Interpolates in 1 / freedom, which is nearly linear. */
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

/* What is assumed of groups in advance: the variance of one relative to its squared value, its
 * weight in degrees of freedom, and its lower limit. */
struct prior {
	double variance;
	double freedom;
	double least;
};

/* By how much the logarithm of a variance with this many degrees of freedom is too low on average
 * (Abramowitz and Stegun 6.3.18, an asymptotic expansion, which is meaningless much below one). */
static double log_bias(double freedom)
{
	double n = fmax(freedom, least_pace_freedom);

	return -1 / n - 1 / (3 * n * n);
}

/* Windows of some programs differ by a hundredth, of others by half, so only the order of magnitude
 * is known. Logarithms are pooled: with the variances themselves, steady programs would never be
 * recognized. */
static double pooled_variance(double own, double freedom, double known, const struct prior *prior)
{
	if (!(known > 0))
		return own;
	own = fmax(own, known * prior->least / prior->variance);
	return exp((freedom * (log(own) - log_bias(freedom)) + prior->freedom * log(known)) /
		   (freedom + prior->freedom));
}

/* How the groups of a ratio vary. */
struct groups {
	double whole;	/* of `under` */
	double squares; /* sum of squared residuals */
	double shares;	/* sum of the groups' squared shares in `under`: one over their number */
	double freedom; /* degrees of freedom */
};

static struct groups groups_of(const struct hp_grouped *over, const struct hp_grouped *under,
			       double ratio)
{
	struct groups groups = { .whole = hp_grouped_sum(under) };

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		double residual = over->counts[i] - ratio * under->counts[i];
		double share = under->counts[i] / groups.whole;

		groups.squares += residual * residual;
		groups.shares += share * share;
	}
	groups.freedom = 1 / groups.shares - 1;
	return groups;
}

/* The variance of the ratio by the groups alone: squares / (1 - shares), weighted by `freedom`. */
static double variance_of(const struct groups *groups)
{
	return groups->freedom > 0
		       ? groups->squares / (groups->shares * groups->whole * groups->whole) /
				 groups->freedom
		       : 0;
}

static struct hp_grouped_ratio ratio_of(const struct hp_grouped *over,
					const struct hp_grouped *under, const struct prior *prior)
{
	double whole = hp_grouped_sum(under);
	struct hp_grouped_ratio ratio = { .value = hp_grouped_sum(over) / whole,
					  .deviation = INFINITY };
	struct groups groups;
	double variance;

	if (!(whole > 0)) {
		ratio.value = NAN;
		return ratio;
	}
	groups = groups_of(over, under, ratio.value);
	ratio.freedom = groups.freedom + prior->freedom;
	if (ratio.freedom < least_freedom)
		return ratio;
	variance = pooled_variance(variance_of(&groups), groups.freedom,
				   prior->variance * groups.shares * ratio.value * ratio.value,
				   prior);
	ratio.deviation = sqrt(variance) * hp_student_widening(ratio.freedom);
	return ratio;
}

struct hp_grouped_ratio hp_grouped_ratio(const struct hp_grouped *over,
					 const struct hp_grouped *under)
{
	return ratio_of(over, under, &(struct prior){ 0 });
}

/* --- pace --------------------------------------------------------------------------------------- */

/* Windows are assigned to groups in turn. What only some groups have was in few windows. */
static double windows_of_group(double windows)
{
	return fmax(windows / HP_EVIDENCE_WINDOWS, 1);
}

struct hp_grouped_ratio hp_grouped_pace(const struct hp_grouped *over,
					const struct hp_grouped *under, double windows,
					const struct hp_pace *known)
{
	double each = windows_of_group(windows);
	const struct prior prior = {
		.variance = known->variance / each,
		.freedom = known->freedom,
		.least = least_pace_deviation * least_pace_deviation / each,
	};

	return ratio_of(over, under, &prior);
}

struct hp_pace hp_pace_of_any(void)
{
	return (struct hp_pace){ pace_deviation * pace_deviation, pace_freedom };
}

void hp_paces_add(struct hp_paces *paces, const struct hp_grouped *over,
		  const struct hp_grouped *under, double windows, double weight)
{
	double ratio = hp_grouped_sum(over) / hp_grouped_sum(under);
	struct groups groups = groups_of(over, under, ratio);
	double variance, log_variance;

	if (!(ratio > 0) || !isfinite(ratio) || groups.freedom < least_pace_freedom)
		return;
	variance =
		variance_of(&groups) / (groups.shares * ratio * ratio) * windows_of_group(windows);
	variance = fmax(variance, least_pace_deviation * least_pace_deviation);
	log_variance = log(variance) - log_bias(groups.freedom);
	paces->logs += weight * log_variance;
	paces->squared_logs += weight * log_variance * log_variance;
	paces->weights += weight;
	paces->squared_weights += weight * weight;
	paces->freedom += weight * groups.freedom;
}

/* The logarithm of an estimated variance has the variance trigamma(freedom / 2), and so have logarithms of
 * variances that are drawn from a prior with as many degrees of freedom (Smyth 2004, section 6.2). By
 * trigamma(x) = 1 / x + 1 / 2x^2, its asymptotic expansion (Abramowitz and Stegun 6.4.12). */
static double trigamma(double x)
{
	return (1 + 0.5 / x) / x;
}

static double inverse_trigamma(double y)
{
	return (1 + sqrt(1 + 2 * y)) / (2 * y);
}

double hp_paces_freedom(const struct hp_paces *paces)
{
	double mean = paces->logs / paces->weights;
	double differ = paces->squared_logs / paces->weights - mean * mean -
			trigamma(paces->freedom / paces->weights / 2);

	return differ > 0 ? 2 * inverse_trigamma(differ) : INFINITY;
}

struct hp_pace hp_pace_of_all(const struct hp_paces *paces)
{
	struct hp_pace any = hp_pace_of_any();
	double own;

	if (!(paces->weights > 0))
		return any;
	/* As many as if all had the same weight, since they share their windows. */
	own = paces->freedom / paces->weights *
	      fmin(paces->weights * paces->weights / paces->squared_weights, most_paces);
	return (struct hp_pace){
		.variance =
			exp((own * paces->logs / paces->weights + any.freedom * log(any.variance)) /
			    (own + any.freedom)),
		.freedom = any.freedom + pace_freedom_of_all * own / (own + any.freedom),
	};
}

bool hp_interval_suffices(double estimate, double low, double high, double hardly)
{
	if (!isfinite(estimate) || !isfinite(low) || !isfinite(high))
		return false;
	return high <= hardly ||
	       (high <= HP_MOST_APART * estimate && estimate <= HP_MOST_APART * low);
}

/* --- shares ----------------------------------------------------------------------------------- */

struct hp_share hp_share_of(double part, double rest, double bias)
{
	double whole = part + rest;
	double share = (part + foreseen_each) / (whole + 2 * foreseen_each);
	struct hp_share found = { .value = NAN, .deviation = INFINITY };
	double variance;

	if (!(whole > 0))
		return found;
	variance = 1 / (whole * share * (1 - share) + 0.5) + bias * bias;
	found.value = fmin(fmax(share, least_share), 1 - least_share);
	found.deviation = sqrt(variance) * found.value * (1 - found.value);
	return found;
}
