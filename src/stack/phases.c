/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/search.h>
#include <hpcprof/stack/phases.h>

#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Sums over all intervals before each, in units of the noise, so that the cost of a stretch takes
 * constant time. */
struct series {
	size_t count, width;
	double *sums;	 /* [interval][number] */
	double *squares; /* [interval], of all numbers */
	double *noise;	 /* of each number, a variance */
	double penalty;
};

/* --- noise ------------------------------------------------------------------------------------ */

HP_ORDER_VALUES(by_value, double);

/* The variance of differences at this distance, from their median size. */
static double difference_variance(const double *values, size_t count, size_t width, size_t number,
				  size_t distance, double *scratch)
{
	/* The median absolute value of a standard normal variable. */
	const double median_of_normal = 0.6745;
	size_t differences = 0;
	double deviation;

	for (size_t i = distance; i < count; i++)
		scratch[differences++] =
			fabs(values[i * width + number] - values[(i - distance) * width + number]);
	if (!differences)
		return 0;
	qsort(scratch, differences, sizeof(*scratch), by_value);
	deviation = scratch[differences / 2] / median_of_normal;
	return deviation * deviation;
}

/* The variance of the mean of a long stretch times its length. With memory of one interval (an
 * autoregression), it exceeds the variance. */
static double noise_of(const double *values, size_t count, size_t width, size_t number,
		       double floor, double *scratch)
{
	double near = difference_variance(values, count, width, number, 1, scratch);
	double far = difference_variance(values, count, width, number, 2, scratch);
	double memory = near > 0 ? fmax(0, fmin(most_memory, far / near - 1)) : 0;
	double variance = near / 2 / (1 - memory);

	return fmax(variance * (1 + memory) / (1 - memory), floor * floor);
}

/* --- costs ------------------------------------------------------------------------------------ */

static void series_clear(struct series *series)
{
	free(series->sums);
	free(series->squares);
	free(series->noise);
}

static struct hp_error *series_make(const double *values, size_t count, size_t width, double floor,
				    struct series *series)
{
	_cleanup_free_ double *scratch = calloc(count + 1, sizeof(*scratch));

	*series = (struct series){
		.count = count,
		.width = width,
		.sums = calloc((count + 1) * width + 1, sizeof(double)),
		.squares = calloc(count + 1, sizeof(double)),
		.noise = calloc(width + 1, sizeof(double)),
		.penalty = 2 * (double)width * log((double)count + 1),
	};
	if (!scratch || !series->sums || !series->squares || !series->noise)
		return hp_error_create_no_memory();
	for (size_t j = 0; j < width; j++)
		series->noise[j] = noise_of(values, count, width, j, floor, scratch);
	for (size_t i = 0; i < count; i++) {
		series->squares[i + 1] = series->squares[i];
		for (size_t j = 0; j < width; j++) {
			/* Relative to the first value, which loses less to rounding. */
			double value = (values[i * width + j] - values[j]) / sqrt(series->noise[j]);

			series->sums[(i + 1) * width + j] = series->sums[i * width + j] + value;
			series->squares[i + 1] += value * value;
		}
	}
	return NULL;
}

/* The sum of squared distances from the mean over the intervals [begin, end). */
static double cost_of(const struct series *series, size_t begin, size_t end)
{
	double cost = series->squares[end] - series->squares[begin];

	for (size_t j = 0; j < series->width; j++) {
		double sum = series->sums[end * series->width + j] -
			     series->sums[begin * series->width + j];

		cost -= sum * sum / (double)(end - begin);
	}
	return cost;
}

/* --- the search ------------------------------------------------------------------------------- */

/* `best[t]`: of the intervals before t; `last[t]`: where its last stretch begins. A beginning that
 * is worse than the best by the penalty will never be it again, and is dropped. */
static void search(const struct series *series, double *best, size_t *last, size_t *open,
		   double *costs)
{
	size_t open_count = 0;

	best[0] = -series->penalty;
	for (size_t end = SHORTEST_PHASE; end <= series->count; end++) {
		size_t begin = end - SHORTEST_PHASE;
		size_t kept = 0;

		best[end] = INFINITY;
		if (begin == 0 || begin >= SHORTEST_PHASE)
			open[open_count++] = begin;
		for (size_t i = 0; i < open_count; i++) {
			costs[i] = best[open[i]] + cost_of(series, open[i], end);
			if (costs[i] + series->penalty >= best[end])
				continue;
			best[end] = costs[i] + series->penalty;
			last[end] = open[i];
		}
		for (size_t i = 0; i < open_count; i++)
			if (costs[i] < best[end])
				open[kept++] = open[i];
		open_count = kept;
	}
}

static struct hp_error *trace_back(const size_t *last, size_t count, size_t **ends,
				   size_t *phase_count)
{
	size_t at = 0;

	*phase_count = 0;
	for (size_t end = count; end; end = last[end])
		++*phase_count;
	*ends = calloc(*phase_count + 1, sizeof(**ends));
	if (!*ends)
		return hp_error_create_no_memory();
	at = *phase_count;
	for (size_t end = count; end; end = last[end])
		(*ends)[--at] = end;
	return NULL;
}

struct hp_error *hp_phases_find(const double *values, size_t count, size_t width, double scale,
				size_t **ends, size_t *phase_count)
{
	_cleanup_free_ double *best = calloc(count + 1, sizeof(*best));
	_cleanup_free_ size_t *last = calloc(count + 1, sizeof(*last));
	_cleanup_free_ size_t *open = calloc(count + 1, sizeof(*open));
	_cleanup_free_ double *costs = calloc(count + 1, sizeof(*costs));
	_cleanup_(series_clear) struct series series = { 0 };
	struct hp_error *error;

	if (!best || !last || !open || !costs)
		return hp_error_create_no_memory();
	if (count < 2 * SHORTEST_PHASE)
		return trace_back(last, count, ends, phase_count);
	error = series_make(values, count, width, least_change * scale, &series);
	if (error)
		return error;
	search(&series, best, last, open, costs);
	return trace_back(last, count, ends, phase_count);
}
