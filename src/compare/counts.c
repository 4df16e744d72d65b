/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "distribution.h"
#include "statistics.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>

/* --- one procedure ------------------------------------------------------------------------- */

struct side_sum {
	double counts;
	double exposure;
};

static size_t first_of(const struct counts *counts, size_t side)
{
	return side == HP_BASE ? 0 : counts->replicates[HP_BASE];
}

static struct side_sum sum_of(const struct counts *counts, size_t side)
{
	struct side_sum sum = { 0 };

	for (size_t i = 0; i < counts->replicates[side]; i++) {
		sum.counts += counts->counts[first_of(counts, side) + i];
		sum.exposure += counts->exposures[first_of(counts, side) + i];
	}
	return sum;
}

static double mean_count(const struct counts *counts)
{
	double sum = 0;

	for (size_t side = 0; side < HP_SIDES; side++)
		sum += sum_of(counts, side).counts;
	return sum / (double)(counts->replicates[HP_BASE] + counts->replicates[HP_CANDIDATE]);
}

/* The variance, over that of chance, of the candidate's share of the samples of a pair, which would
 * be binomial. */
static double pairs_dispersion(const struct counts *counts, double *freedom)
{
	struct side_sum base = sum_of(counts, HP_BASE);
	struct side_sum candidate = sum_of(counts, HP_CANDIDATE);
	double squares = 0;
	double pairs = 0;

	for (size_t i = 0; i < counts->replicates[HP_BASE]; i++) {
		size_t at = first_of(counts, HP_CANDIDATE) + counts->partners[i];
		double of_base = base.counts / base.exposure * counts->exposures[i];
		double of_candidate = candidate.counts / candidate.exposure * counts->exposures[at];
		double part = of_candidate / (of_base + of_candidate);
		double both = counts->counts[i] + counts->counts[at];
		double distance = counts->counts[at] - both * part;

		if (!(both > 0) || !(part > 0) || !(part < 1))
			continue;
		squares += distance * distance / (both * part * (1 - part));
		pairs++;
	}
	*freedom = fmax(0, pairs - 1);
	return *freedom > 0 ? squares / *freedom : NAN;
}

double own_dispersion(const struct counts *counts, double *freedom)
{
	double squares = 0;

	if (counts->partners)
		return pairs_dispersion(counts, freedom);
	*freedom = 0;
	for (size_t side = 0; side < HP_SIDES; side++) {
		struct side_sum sum = sum_of(counts, side);

		if (counts->replicates[side] < 2 || !(sum.counts > 0))
			continue;
		*freedom += (double)counts->replicates[side] - 1;
		for (size_t i = 0; i < counts->replicates[side]; i++) {
			size_t at = first_of(counts, side) + i;
			double mean = sum.counts * counts->exposures[at] / sum.exposure;

			squares += (counts->counts[at] - mean) * (counts->counts[at] - mean) / mean;
		}
	}
	return *freedom > 0 ? squares / *freedom : NAN;
}

/* The dispersion to be expected of a procedure. A share of a fixed number of samples varies less
 * than chance. */
static double expected_dispersion(const struct dispersion *dispersion, double mean, double share)
{
	return dispersion->even * (1 - share) +
	       dispersion->deviation * dispersion->deviation * mean;
}

/* --- all of them --------------------------------------------------------------------------- */

struct observed {
	double own;
	double freedom;
	double mean;
	double share;
};

static size_t observe(const struct counts *procedures, size_t count, struct observed *observed)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct observed *one = &observed[found];

		one->own = own_dispersion(&procedures[i], &one->freedom);
		one->mean = mean_count(&procedures[i]);
		one->share = procedures[i].share;
		found += one->freedom > 0 && one->mean >= enough_mean_samples;
	}
	return found;
}

/* Fits own = even * (1 - share) + square * mean with non-negative terms; each procedure weighs by
 * its expected variance. */
static void fit_line(const struct observed *observed, size_t count, struct dispersion *line)
{
	double aa = 0;
	double ab = 0;
	double bb = 0;
	double ay = 0;
	double by = 0;
	double determinant;
	double square;

	for (size_t i = 0; i < count; i++) {
		double expected = expected_dispersion(line, observed[i].mean, observed[i].share);
		double weight = observed[i].freedom / (expected * expected);
		double a = 1 - observed[i].share;
		double b = observed[i].mean;

		aa += weight * a * a;
		ab += weight * a * b;
		bb += weight * b * b;
		ay += weight * a * observed[i].own;
		by += weight * b * observed[i].own;
	}
	determinant = aa * bb - ab * ab;
	line->even = determinant > 1e-9 * aa * bb ? (ay * bb - by * ab) / determinant : ay / aa;
	square = bb > 0 ? (by - line->even * ab) / bb : 0;
	if (line->even < 1) {
		/* a variance below that of chance is luck */
		line->even = 1;
		square = bb > 0 ? (by - ab) / bb : 0;
	} else if (square < 0) {
		line->even = fmax(1, ay / aa);
	}
	line->deviation = sqrt(fmax(0, square));
}

/* Estimates how similar procedures are, as degrees of freedom: by the variance of their
 * dispersions' logarithms beyond that which follows from few replicates. Also moves the line to
 * their middle. */
static void weigh_line(const struct observed *observed, size_t count, struct dispersion *line)
{
	double mean = 0;
	double chance = 0;
	double square = 0;
	double beyond;

	for (size_t i = 0; i < count; i++) {
		double half = observed[i].freedom / 2;
		double expected = expected_dispersion(line, observed[i].mean, observed[i].share);
		double distance =
			log(fmax(observed[i].own, least_dispersion * expected) / expected) -
			digamma(half) + log(half);

		mean += distance / (double)count;
		square += distance * distance / (double)count;
		chance += trigamma(half) / (double)count;
	}
	beyond = (square - mean * mean) * (double)count / ((double)count - 1) - chance;
	line->freedom = beyond > 1e-4 ? 2 * trigamma_inverse(beyond) : INFINITY;
}

/* Exposures were fitted to what runs have in common, so residuals show less of it. Returns the
 * factor that corrects this. */
static double taken_from(const struct counts *counts, double freedom)
{
	return freedom > counts->taken ? freedom / (freedom - counts->taken) : 1;
}

struct hp_error *learn_dispersion(const struct counts *procedures, size_t count,
				  const struct dispersion *fallback, struct dispersion *learned)
{
	_cleanup_free_ struct observed *observed = calloc(count + 1, sizeof(*observed));
	size_t found;

	if (!observed)
		return hp_error_create_no_memory();
	*learned = *fallback;
	found = observe(procedures, count, observed);
	if (found < FEWEST_PROCEDURES)
		return NULL;
	for (int i = 0; i < 10; i++)
		fit_line(observed, found, learned);
	weigh_line(observed, found, learned);
	learned->deviation *= sqrt(taken_from(procedures, observed[0].freedom));
	return NULL;
}

double pooled_dispersion(const struct counts *procedures, size_t count, double deviation,
			 double *freedom)
{
	double sum = 0;

	*freedom = 0;
	for (size_t i = 0; i < count; i++) {
		double mean = mean_count(&procedures[i]);
		double own_freedom;
		double own = own_dispersion(&procedures[i], &own_freedom);

		if (!(own_freedom > 0) || mean < enough_mean_samples || procedures[i].share >= 1)
			continue;
		sum += own_freedom * (own - deviation * deviation * mean) /
		       (1 - procedures[i].share);
		*freedom += own_freedom;
	}
	return *freedom > 0 ? fmax(1, sum / *freedom) : NAN;
}

/* --- the test ------------------------------------------------------------------------------ */

static double common_of(const struct counts *counts, const struct dispersion *dispersion)
{
	return dispersion->deviation * dispersion->deviation * mean_count(counts);
}

/* What runs have in common is the same in all procedures, so the number of runs determines its
 * degrees of freedom. */
static double common_freedom(const struct counts *counts, const struct dispersion *dispersion,
			     double expected, double freedom)
{
	double common = common_of(counts, dispersion);

	return common > 0 ? freedom * (expected / common) * (expected / common) : INFINITY;
}

/* Combines the procedure's own dispersion with that of all, by their degrees of freedom. Never
 * below that of chance. */
static double shrunken(const struct counts *counts, const struct dispersion *dispersion,
		       double *freedom)
{
	double expected = expected_dispersion(dispersion, mean_count(counts), counts->share);
	double own_freedom;
	double own = own_dispersion(counts, &own_freedom);
	double value = expected;

	*freedom = dispersion->freedom;
	if (own_freedom > 0 && isfinite(dispersion->freedom)) {
		*freedom += own_freedom;
		own += (1 - 1 / taken_from(counts, own_freedom)) * common_of(counts, dispersion);
		value = (own * own_freedom + expected * dispersion->freedom) / *freedom;
	}
	if (own_freedom > counts->taken)
		*freedom = fmin(*freedom, common_freedom(counts, dispersion, expected,
							 own_freedom - counts->taken));
	else
		*freedom = fmin(*freedom,
				common_freedom(counts, dispersion, expected, dispersion->common));
	return fmax(value, 1 - counts->share);
}

struct log_ratio compare_counts(const struct counts *counts, const struct dispersion *dispersion)
{
	struct side_sum base = sum_of(counts, HP_BASE);
	struct side_sum candidate = sum_of(counts, HP_CANDIDATE);
	double all = base.counts + candidate.counts;
	struct log_ratio ratio = { .value = NAN, .deviation = INFINITY, .p = NAN };
	double variance = shrunken(counts, dispersion, &ratio.freedom);
	double expected = all * candidate.exposure / (base.exposure + candidate.exposure);
	double drift = dispersion->drift * dispersion->drift;
	double score;

	if (!(all > 0))
		return ratio;
	/* Half a sample more on each side keeps the ratio finite and its bias small. */
	ratio.value = log((candidate.counts + 0.5) / candidate.exposure) -
		      log((base.counts + 0.5) / base.exposure);
	ratio.deviation = sqrt(variance * (1 / (base.counts + 0.5) + 1 / (candidate.counts + 0.5)));
	/* The distance of the candidate's count from its share of all samples without a change. */
	score = (candidate.counts - expected) /
		sqrt(variance * expected * base.exposure / (base.exposure + candidate.exposure));
	score *= ratio.deviation / sqrt(ratio.deviation * ratio.deviation + drift);
	ratio.freedom = freedom_of_sum(ratio.deviation * ratio.deviation, ratio.freedom, drift,
				       dispersion->drift_freedom);
	ratio.p = student_beyond(score, ratio.freedom);
	ratio.deviation = sqrt(ratio.deviation * ratio.deviation + drift);
	return ratio;
}
