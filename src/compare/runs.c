/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "distribution.h"
#include "statistics.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <math.h>

struct spread {
	double mean;
	double variance; /* of one run; 0 for a single one */
	double count;
};

static struct spread spread_of(const struct run_costs *side)
{
	struct spread spread = { .count = (double)side->count };

	for (size_t i = 0; i < side->count; i++)
		spread.mean += log(side->costs[i]) / spread.count;
	for (size_t i = 0; i < side->count; i++) {
		double distance = log(side->costs[i]) - spread.mean;

		if (side->count > 1)
			spread.variance += distance * distance / (spread.count - 1);
	}
	return spread;
}

static double pooled_variance(const struct spread *base, const struct spread *candidate,
			      double *freedom)
{
	*freedom = base->count + candidate->count - 2;
	if (!(*freedom > 0))
		return NAN;
	return (base->variance * (base->count - 1) + candidate->variance * (candidate->count - 1)) /
	       *freedom;
}

double pooled_deviation(const struct run_costs sides[HP_SIDES], const struct pace *pace)
{
	struct spread base = spread_of(&sides[HP_BASE]);
	struct spread candidate = spread_of(&sides[HP_CANDIDATE]);
	double freedom;
	double pooled = pooled_variance(&base, &candidate, &freedom);

	return sqrt(pooled * freedom / (freedom - pace->freedom));
}

/* --- the test of runs ------------------------------------------------------------------------ */

/* The variance of one run on each side, and the degrees of freedom of the means' difference. */
static double one_run(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		      double variances[HP_SIDES])
{
	struct spread base = spread_of(&sides[HP_BASE]);
	struct spread candidate = spread_of(&sides[HP_CANDIDATE]);
	double freedom;
	double pooled = pooled_variance(&base, &candidate, &freedom);
	double known = freedom - prior->pace.freedom;
	double left = freedom > 0 ? known / freedom : 1;
	double base_part = base.variance / base.count;
	double candidate_part = candidate.variance / candidate.count;
	bool is_learned = isfinite(prior->freedom);
	double worth = is_learned ? prior->freedom : assumed_run_freedom;

	variances[HP_BASE] = base.variance / left;
	variances[HP_CANDIDATE] = candidate.variance / left;
	if (base.count >= ENOUGH_RUNS && candidate.count >= ENOUGH_RUNS &&
	    base_part + candidate_part > 0)
		return left * (base_part + candidate_part) * (base_part + candidate_part) /
		       (base_part * base_part / (base.count - 1) +
			candidate_part * candidate_part / (candidate.count - 1));
	pooled = (worth * prior->deviation * prior->deviation +
		  (freedom > 0 ? freedom * pooled : 0)) /
		 (worth + known);
	variances[HP_BASE] = variances[HP_CANDIDATE] = pooled;
	/* An assumption alone has no degrees of freedom, unlike runs that showed it. */
	return known > 0 || is_learned ? worth + known : INFINITY;
}

static double tests_of(const struct run_prior *prior, size_t runs)
{
	if (prior->drift > 0)
		return 1;
	return prior->pace.partners && runs < SIGNED_RUNS ? 1 : 2;
}

static double ranks_p(const struct run_costs sides[HP_SIDES], const struct run_prior *prior)
{
	return prior->pace.partners ? signed_rank_p(sides, prior->pace.partners)
				    : rank_sum_p(sides);
}

struct log_ratio compare_runs(const struct run_costs sides[HP_SIDES], const struct run_prior *prior)
{
	struct log_ratio ratio = {
		.value = spread_of(&sides[HP_CANDIDATE]).mean - spread_of(&sides[HP_BASE]).mean,
	};
	double variances[HP_SIDES];
	double freedom = one_run(sides, prior, variances);
	double part = (variances[HP_BASE] / (double)sides[HP_BASE].count +
		       variances[HP_CANDIDATE] / (double)sides[HP_CANDIDATE].count) *
		      prior->pace.inflation;
	double drift = prior->drift * prior->drift;
	double whole = part + drift;

	ratio.deviation = sqrt(whole);
	ratio.freedom = freedom_of_sum(part, freedom, drift, prior->drift_freedom);
	/* If all runs are equal to the last digit, the deviation is 0. */
	ratio.p = whole > 0 ? student_beyond(ratio.value / ratio.deviation, ratio.freedom)
			    : (fabs(ratio.value) > 0 ? 0 : 1);
	if (tests_of(prior, sides[HP_BASE].count) > 1)
		ratio.p = fmin(1, 2 * fmin(ratio.p, ranks_p(sides, prior)));
	return ratio;
}

/* Each of the two tests may have half of the false alarms. Changes that only ranks find do not
 * matter much. */
double runs_smallest(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		     const struct log_ratio *ratio, double alarms)
{
	return log_ratio_smallest(ratio, alarms / tests_of(prior, sides[HP_BASE].count));
}

/*
 * How many deviations a change must differ from 0 to exceed `quantile` of them with probability
 * COMPARE_POWER, when the deviation was estimated with `freedom`: a quantile of the noncentral t
 * distribution by its normal approximation (Abramowitz and Stegun 26.7.10).
 */
static double distance_needed(double quantile, double freedom)
{
	double power = student_quantile(2 * (1 - COMPARE_POWER), INFINITY);
	double bias = 1 - 1 / (4 * freedom);
	double square = bias * bias - power * power / (2 * freedom);

	return (bias * quantile + power * sqrt(square + quantile * quantile / (2 * freedom))) /
	       square;
}

size_t runs_needed(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		   double least, double alarms)
{
	enum { MOST_RUNS = 10000 };
	size_t count = sides[HP_BASE].count > sides[HP_CANDIDATE].count ? sides[HP_BASE].count
									: sides[HP_CANDIDATE].count;
	double variances[HP_SIDES];
	double known = one_run(sides, prior, variances);

	/* For large numbers, steps of about 1.5 % are fine enough. */
	for (count++; count <= MOST_RUNS; count += 1 + count / 64) {
		double part = (variances[HP_BASE] + variances[HP_CANDIDATE]) / (double)count;
		double drift = prior->drift * prior->drift;
		double freedom = 2 * ((double)count - 1) - pace_freedom(&prior->pace, count);
		double quantile = student_quantile(
			alarms / tests_of(prior, count),
			freedom_of_sum(part, freedom, drift, prior->drift_freedom));
		double whole = part + drift;

		if (expm1(distance_needed(quantile, known) * sqrt(whole)) <= least)
			return count;
	}
	return 0;
}

/* --- ranks --------------------------------------------------------------------------------- */

enum { MOST_RANK_SUM = EXACT_RUNS * (EXACT_RUNS + 1) / 2 };

/* The number of pairs in which the base's run is cheaper than the candidate's; ties count half. */
static double cheaper_pairs(const struct run_costs sides[HP_SIDES], bool *tied)
{
	double pairs = 0;

	for (size_t i = 0; i < sides[HP_BASE].count; i++)
		for (size_t j = 0; j < sides[HP_CANDIDATE].count; j++) {
			double base = sides[HP_BASE].costs[i];
			double candidate = sides[HP_CANDIDATE].costs[j];

			pairs += base < candidate ? 1 : base > candidate ? 0 : 0.5;
			*tied = *tied || !(base < candidate || base > candidate);
		}
	return pairs;
}

/* The number of ways to choose `chosen` of `all` ranks, by their sum. */
static void count_sums(size_t chosen, size_t all, double ways[EXACT_RUNS + 1][MOST_RANK_SUM + 1])
{
	ways[0][0] = 1;
	for (size_t rank = 1; rank <= all; rank++)
		for (size_t taken = chosen < rank ? chosen : rank; taken > 0; taken--)
			for (size_t sum = MOST_RANK_SUM; sum >= rank; sum--)
				ways[taken][sum] += ways[taken - 1][sum - rank];
}

/* NAN: out of memory. */
static double exact_p(size_t chosen, size_t all, double pairs)
{
	double(*ways)[MOST_RANK_SUM + 1] = calloc(EXACT_RUNS + 1, sizeof(*ways));
	double least = (double)(chosen * (chosen + 1)) / 2;
	double total = 0;
	double below = 0;

	if (!ways)
		return NAN;
	count_sums(chosen, all, ways);
	for (size_t sum = 0; sum <= MOST_RANK_SUM; sum++) {
		total += ways[chosen][sum];
		if ((double)sum - least <= pairs)
			below += ways[chosen][sum];
	}
	free(ways);
	return fmin(1, 2 * below / total);
}

double rank_sum_p(const struct run_costs sides[HP_SIDES])
{
	size_t base = sides[HP_BASE].count;
	size_t candidate = sides[HP_CANDIDATE].count;
	bool tied = false;
	double pairs = cheaper_pairs(sides, &tied);
	double all = (double)base * (double)candidate;
	double deviation = sqrt(all * (double)(base + candidate + 1) / 12);
	double p = NAN;

	pairs = fmin(pairs, all - pairs);
	if (!tied && base + candidate <= EXACT_RUNS)
		p = exact_p(base, base + candidate, pairs);
	if (!isnan(p))
		return p;
	return fmin(1, student_beyond(fmax(0, all / 2 - pairs - 0.5) / deviation, INFINITY));
}

/* --- signed ranks ---------------------------------------------------------------------------- */

struct difference {
	double size;
	bool is_costlier;
};

HP_ORDER_BY(compare_sizes, struct difference, size);

/* The sum of ranks of pairs in which the candidate costs more. Differences of equal size, and of 0,
 * are ties. */
static double costlier_ranks(struct difference *pairs, size_t count, bool *tied)
{
	double sum = 0;
	size_t end;

	qsort(pairs, count, sizeof(*pairs), compare_sizes);
	*tied = !(pairs[0].size > 0);
	for (size_t first = 0; first < count; first = end) {
		for (end = first + 1; end < count && !(pairs[end].size > pairs[first].size); end++)
			*tied = true;
		for (size_t i = first; i < end; i++)
			sum += pairs[i].is_costlier ? (double)(first + 1 + end) / 2 : 0;
	}
	return sum;
}

/* The share of all ways to assign signs to `count` ranks whose sum is at most that. */
static double share_of_signs(size_t count, double most)
{
	double ways[MOST_RANK_SUM + 1] = { 1 };
	double share = 0;

	for (size_t rank = 1; rank <= count; rank++)
		for (size_t sum = MOST_RANK_SUM; sum >= rank; sum--)
			ways[sum] += ways[sum - rank];
	for (size_t sum = 0; sum <= MOST_RANK_SUM && (double)sum <= most; sum++)
		share += ldexp(ways[sum], -(int)count);
	return share;
}

double signed_rank_p(const struct run_costs sides[HP_SIDES], const size_t *partners)
{
	size_t count = sides[HP_BASE].count;
	_cleanup_free_ struct difference *pairs = calloc(count, sizeof(*pairs));
	double all = (double)count * (double)(count + 1) / 2;
	double deviation = sqrt(all * (double)(2 * count + 1) / 12);
	bool tied;
	double sum;

	if (!pairs)
		return NAN;
	for (size_t i = 0; i < count; i++) {
		double ratio =
			log(sides[HP_CANDIDATE].costs[partners[i]] / sides[HP_BASE].costs[i]);

		pairs[i] = (struct difference){ fabs(ratio), ratio > 0 };
	}
	sum = costlier_ranks(pairs, count, &tied);
	sum = fmin(sum, all - sum);
	if (!tied && count <= EXACT_RUNS)
		return fmin(1, 2 * share_of_signs(count, sum));
	return fmin(1, student_beyond(fmax(0, all / 2 - sum - 0.5) / deviation, INFINITY));
}
