/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pace.h"
#include "tuning.h"

#include <math.h>

struct pace pace_none(void)
{
	return (struct pace){ .inflation = 1 };
}

double pace_freedom(const struct pace *pace, size_t runs)
{
	return pace->partners ? (double)runs - 1 : pace->freedom;
}

/* --- an even drift --------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t count)
{
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += values[i] / (double)count;
	return mean;
}

static double mean_log(const struct run_costs *side)
{
	double mean = 0;

	for (size_t i = 0; i < side->count; i++)
		mean += log(side->costs[i]) / (double)side->count;
	return mean;
}

static void follow(const struct run_costs sides[HP_SIDES], double *const times[HP_SIDES],
		   double slope, double middle, struct pace *pace)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides[side].count; i++)
			pace->of[side][i] = exp(slope * (times[side][i] - middle));
}

void pace_fit_trend(const struct run_costs sides[HP_SIDES], double *const times[HP_SIDES],
		    struct pace *pace)
{
	double count[HP_SIDES] = { (double)sides[HP_BASE].count,
				   (double)sides[HP_CANDIDATE].count };
	double mean[HP_SIDES];
	double products = 0;
	double squares = 0;
	double apart;

	follow(sides, times, 0, 0, pace);
	if (sides[HP_BASE].count < ENOUGH_RUNS || sides[HP_CANDIDATE].count < ENOUGH_RUNS)
		return;
	for (size_t side = 0; side < HP_SIDES; side++) {
		double level = mean_log(&sides[side]);

		mean[side] = mean_of(times[side], sides[side].count);
		for (size_t i = 0; i < sides[side].count; i++) {
			double time = times[side][i] - mean[side];

			products += time * (log(sides[side].costs[i]) - level);
			squares += time * time;
		}
	}
	/* All runs were at the same time, so nothing can have drifted. */
	if (!(squares > 0))
		return;
	apart = mean[HP_CANDIDATE] - mean[HP_BASE];
	pace->inflation =
		1 + apart * apart / squares / (1 / count[HP_BASE] + 1 / count[HP_CANDIDATE]);
	pace->freedom = 1;
	follow(sides, times, products / squares,
	       (mean[HP_BASE] * count[HP_BASE] + mean[HP_CANDIDATE] * count[HP_CANDIDATE]) /
		       (count[HP_BASE] + count[HP_CANDIDATE]),
	       pace);
}

/* --- pairs ----------------------------------------------------------------------------------- */

/* The variance among pairs and that within them, after subtracting the drift in `pace`. */
static bool pairs_share(const struct run_costs sides[HP_SIDES], const size_t *partners,
			const struct pace *pace)
{
	double sum = 0;
	double difference = 0;
	double among = 0;
	double within = 0;
	double count = (double)sides[HP_BASE].count;

	for (size_t i = 0; i < sides[HP_BASE].count; i++) {
		size_t partner = partners[i];
		double base = log(sides[HP_BASE].costs[i] / pace->of[HP_BASE][i]);
		double candidate =
			log(sides[HP_CANDIDATE].costs[partner] / pace->of[HP_CANDIDATE][partner]);

		sum += base + candidate;
		difference += base - candidate;
		among += (base + candidate) * (base + candidate);
		within += (base - candidate) * (base - candidate);
	}
	return among - sum * sum / count >
	       pairs_sharing * (within - difference * difference / count);
}

void pace_take_pairs(const struct run_costs sides[HP_SIDES], const size_t *partners,
		     struct pace *pace)
{
	size_t count = sides[HP_BASE].count;
	double level = (mean_log(&sides[HP_BASE]) + mean_log(&sides[HP_CANDIDATE])) / 2;

	for (size_t i = 0; i < count; i++) {
		double both =
			log(sides[HP_BASE].costs[i]) + log(sides[HP_CANDIDATE].costs[partners[i]]);

		pace->of[HP_BASE][i] = pace->of[HP_CANDIDATE][partners[i]] = exp(both / 2 - level);
	}
	pace->partners = partners;
	pace->freedom = pace_freedom(pace, count);
	pace->inflation = 1;
}

bool pace_fit_pairs(const struct run_costs sides[HP_SIDES], const size_t *partners,
		    struct pace *pace)
{
	if (sides[HP_BASE].count < PACE_PAIRS || !pairs_share(sides, partners, pace))
		return false;
	pace_take_pairs(sides, partners, pace);
	return true;
}
