/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "moved.h"

#include "tuning.h"

#include <hpcprof/model/evidence.h>

#include <math.h>

struct place_ticks place_ticks_of(double seen, double all_seen, double share_of_ticks,
				  double share_of_samples, double samples)
{
	/* The number of all ticks is given, so the ticks of a place are binomially distributed. If
	 * the place has most of them, their variance is less than Poisson's. */
	double rest = 1 - fmin(fmax(share_of_ticks, share_of_samples), most_share);
	struct place_ticks place = { .seen = seen / rest, .samples = samples };

	place.expected = share_of_ticks > 0 ? place.seen * share_of_samples / share_of_ticks
					    : all_seen * share_of_samples / rest;
	return place;
}

/* The x that minimizes e exp(-x) + k x + x^2 / 2v, by Newton's method. The derivative is concave,
 * so steps from below never overshoot. */
static double likeliest(const struct place_ticks *place, double variance)
{
	double x = place->seen > place->expected ? log(place->expected / place->seen) : 0;

	for (int i = 0; i < NEWTON_STEPS; i++) {
		double rate = place->expected * exp(-x);
		double step = (rate - place->seen - x / variance) / (rate + 1 / variance);

		x += step;
		if (fabs(step) < 1e-9)
			break;
	}
	return x;
}

struct moved moved_of(const struct place_ticks *place, double variance)
{
	/* More samples make the expected number more certain. */
	double chance = 1 / place->samples;
	double both = variance + chance;
	double x = likeliest(place, both);
	double left = 1 / (place->expected * exp(-x) + 1 / both);
	double part = variance / both;

	return (struct moved){ part * x, sqrt(part * part * left + part * chance) };
}

double moved_apart(const struct moved *moved)
{
	return fmax(0, 1 - exp(HP_NORMAL_90 * moved->deviation - moved->log));
}

double moved_likelihood(const struct place_ticks *place, double variance)
{
	double both = variance + 1 / place->samples;
	double x = likeliest(place, both);
	double rate = place->expected * exp(-x);

	return -(rate + place->seen * x + x * x / (2 * both)) - log1p(both * rate) / 2;
}

/* The logarithm of the likelihood of the variance, including the prior. */
static double likelihood_of(const struct place_ticks *places, size_t count, double variance)
{
	double all = -usual_freedom / 2 * (log(variance) + usual_moved * usual_moved / variance);

	for (size_t i = 0; i < count; i++)
		if (places[i].samples > 0)
			all += moved_likelihood(&places[i], variance);
	return all;
}

double moved_variance_of(const struct place_ticks *places, size_t count)
{
	double likeliest = least_variance;
	double most = -INFINITY;

	for (int i = 0; i < VARIANCES; i++) {
		double variance =
			least_variance * pow(most_variance / least_variance, i / (VARIANCES - 1.0));
		double likelihood = likelihood_of(places, count, variance);

		if (likelihood > most) {
			most = likelihood;
			likeliest = variance;
		}
	}
	return likeliest;
}
