/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes how much of an event the known events (estimator.h) explain: the least squares
 * regression of its steps on theirs, by elimination in a matrix of at most KNOWN_MAX rows. A known
 * event gets no coefficient if the others explain all of it but a thousandth (such as the reference
 * event where it is time).
 */
#include "estimator.h"
#include "tuning.h"

/* The sums of products of a variable's steps with those of a known variable (KNOWN_MAX: with
 * themselves). */
static double steps_of(const struct variable *variable, size_t known, int half)
{
	double sum = 0;

	for (int i = 0; i < HALVES; i++) {
		const struct half *one = &variable->halves[i];

		if (half == HALVES || half == i)
			sum += known < KNOWN_MAX ? one->with[known].steps : one->own.steps;
	}
	return sum;
}

void hp_mux_regress(const struct track *track, const struct variable *variable, size_t count,
		    int half, double slope[KNOWN_MAX])
{
	double left[KNOWN_MAX][KNOWN_MAX], right[KNOWN_MAX];
	bool used[KNOWN_MAX] = { false };

	for (size_t i = 0; i < KNOWN_MAX; i++)
		slope[i] = 0;
	if (track->pairs.count[0] < (double)(STEPS_EACH * count))
		return;
	for (size_t i = 0; i < count; i++) {
		right[i] = steps_of(variable, i, half);
		for (size_t j = 0; j < count; j++)
			left[i][j] = steps_of(&track->known[i], j, half);
	}
	for (size_t i = 0; i < count; i++) {
		used[i] = left[i][i] > distinct_rest * steps_of(&track->known[i], KNOWN_MAX, half);
		for (size_t row = i + 1; used[i] && row < count; row++) {
			double factor = left[row][i] / left[i][i];

			for (size_t j = i; j < count; j++)
				left[row][j] -= factor * left[i][j];
			right[row] -= factor * right[i];
		}
	}
	for (size_t i = count; i-- > 0;) {
		double sum = right[i];

		if (!used[i])
			continue;
		for (size_t j = i + 1; j < count; j++)
			sum -= left[i][j] * slope[j];
		slope[i] = sum / left[i][i];
	}
}
