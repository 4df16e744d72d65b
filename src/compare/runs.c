/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "distribution.h"
#include "statistics.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdint.h>

/* What is assumed is worth so much beside what runs show, in degrees of freedom. */
static const double assumed_freedom = 2;
enum { ENOUGH_RUNS = 3 };

struct spread {
	double mean;
	double variance; /* of one run; 0 of a single one */
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

double pooled_deviation(const struct run_costs sides[HP_SIDES], const struct trend *trend)
{
	struct spread base = spread_of(&sides[HP_BASE]);
	struct spread candidate = spread_of(&sides[HP_CANDIDATE]);
	double freedom;
	double pooled = pooled_variance(&base, &candidate, &freedom);

	return sqrt(pooled * freedom / (freedom - trend->freedom));
}

/* --- what drifts ----------------------------------------------------------------------------- */

/* With fewer, what a trend takes is worth more than what it gives. */
enum { TREND_RUNS = 3 };

static double mean_time(const double *times, size_t count)
{
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += times[i] / (double)count;
	return mean;
}

struct trend fit_trend(const struct run_costs sides[HP_SIDES], double *const times[HP_SIDES])
{
	double count[HP_SIDES] = { (double)sides[HP_BASE].count,
				   (double)sides[HP_CANDIDATE].count };
	struct trend trend = { .inflation = 1 };
	double mean[HP_SIDES];
	double products = 0;
	double squares = 0;
	double apart;

	if (sides[HP_BASE].count < TREND_RUNS || sides[HP_CANDIDATE].count < TREND_RUNS)
		return trend;
	for (size_t side = 0; side < HP_SIDES; side++) {
		double level = spread_of(&sides[side]).mean;

		mean[side] = mean_time(times[side], sides[side].count);
		for (size_t i = 0; i < sides[side].count; i++) {
			double time = times[side][i] - mean[side];

			products += time * (log(sides[side].costs[i]) - level);
			squares += time * time;
		}
	}
	/* All at one time: nothing can have drifted. */
	if (!(squares > 0))
		return trend;
	apart = mean[HP_CANDIDATE] - mean[HP_BASE];
	trend.slope = products / squares;
	trend.middle = (mean[HP_BASE] * count[HP_BASE] + mean[HP_CANDIDATE] * count[HP_CANDIDATE]) /
		       (count[HP_BASE] + count[HP_CANDIDATE]);
	trend.inflation =
		1 + apart * apart / squares / (1 / count[HP_BASE] + 1 / count[HP_CANDIDATE]);
	trend.freedom = 1;
	return trend;
}

double trend_at(const struct trend *trend, double time)
{
	return exp(trend->slope * (time - trend->middle));
}

/* --- the test of runs ------------------------------------------------------------------------ */

/* Variances of one run on each side, and degrees of freedom of the difference of the means. */
static double one_run(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		      double variances[HP_SIDES])
{
	struct spread base = spread_of(&sides[HP_BASE]);
	struct spread candidate = spread_of(&sides[HP_CANDIDATE]);
	double freedom;
	double pooled = pooled_variance(&base, &candidate, &freedom);
	double left = freedom > 0 ? (freedom - prior->trend.freedom) / freedom : 1;
	double base_part = base.variance / base.count;
	double candidate_part = candidate.variance / candidate.count;
	bool is_learned = isfinite(prior->freedom);
	double worth = is_learned ? prior->freedom : assumed_freedom;

	variances[HP_BASE] = base.variance / left;
	variances[HP_CANDIDATE] = candidate.variance / left;
	if (base.count >= ENOUGH_RUNS && candidate.count >= ENOUGH_RUNS &&
	    base_part + candidate_part > 0)
		return left * (base_part + candidate_part) * (base_part + candidate_part) /
		       (base_part * base_part / (base.count - 1) +
			candidate_part * candidate_part / (candidate.count - 1));
	pooled = (worth * prior->deviation * prior->deviation +
		  (freedom > 0 ? freedom * pooled : 0)) /
		 (worth + freedom);
	variances[HP_BASE] = variances[HP_CANDIDATE] = pooled;
	/* The assumption alone is taken for what it is, not for two runs that showed it. */
	return freedom > 0 || is_learned ? worth + freedom : INFINITY;
}

/* Degrees of freedom of a variance that is known but for a part. */
static double diluted(double part, double whole, double freedom)
{
	return part > 0 ? freedom * (whole / part) * (whole / part) : INFINITY;
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
		      prior->trend.inflation;
	double whole = part + prior->drift * prior->drift;
	double ranks = rank_sum_p(sides);

	ratio.deviation = sqrt(whole);
	ratio.freedom = diluted(part, whole, freedom);
	/* Runs that are equal to the last digit leave nothing to divide by. */
	ratio.p = whole > 0 ? student_beyond(ratio.value / ratio.deviation, ratio.freedom)
			    : (fabs(ratio.value) > 0 ? 0 : 1);
	ratio.p = fmin(1, 2 * fmin(ratio.p, ranks));
	return ratio;
}

/* Of two tests each has half of the alarms; what ranks find that t does not is little. */
double runs_smallest(const struct log_ratio *ratio, double alarms)
{
	return log_ratio_smallest(ratio, alarms / 2);
}

/*
 * How many deviations a change must be away from 0 so that with COMPARE_POWER it exceeds `quantile`
 * of them, when the deviation was estimated, with `freedom`: a quantile of the noncentral t
 * distribution, by its normal approximation (Abramowitz and Stegun 26.7.10).
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

	for (count++; count <= MOST_RUNS; count++) {
		double part = (variances[HP_BASE] + variances[HP_CANDIDATE]) / (double)count;
		double whole = part + prior->drift * prior->drift;
		double freedom = 2 * ((double)count - 1) - prior->trend.freedom;
		double quantile = student_quantile(alarms / 2, diluted(part, whole, freedom));

		if (expm1(distance_needed(quantile, known) * sqrt(whole)) <= least)
			return count;
	}
	return 0;
}

/* --- ranks --------------------------------------------------------------------------------- */

enum { EXACT_RUNS = 20, MOST_RANK_SUM = EXACT_RUNS * (EXACT_RUNS + 1) / 2 };

/* Of base's runs, how many pairs with a candidate's run are cheaper; ties count half. */
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

/* How many ways there are to choose `chosen` of `all` ranks, by their sum. */
static void count_sums(size_t chosen, size_t all, double ways[EXACT_RUNS + 1][MOST_RANK_SUM + 1])
{
	ways[0][0] = 1;
	for (size_t rank = 1; rank <= all; rank++)
		for (size_t taken = chosen < rank ? chosen : rank; taken > 0; taken--)
			for (size_t sum = MOST_RANK_SUM; sum >= rank; sum--)
				ways[taken][sum] += ways[taken - 1][sum - rank];
}

/* NAN when memory is short. */
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
