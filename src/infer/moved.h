/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how far the counts of windows deviate from the whole recording, for each place (a
 * procedure or a loop). The ticks of a place are its samples within windows. Its samples in the
 * whole recording give the expected number of ticks.
 *
 * The number of ticks k is Poisson distributed with mean e exp(-x): e is the expected number, and
 * exp(x) is the ratio of the real executions to those that windows suggest. x is normally
 * distributed around 0. Its variance is a property of the program and is estimated from all places
 * of all images together (empirical Bayes), because what windows missed is missing in each image
 * that ran then.
 *
 * A program that always does the same has a variance near 0; a program with phases and few windows
 * has a large one. So a place with few ticks, or none, is corrected by no more than is likely in
 * this program, and x keeps its uncertainty.
 */
#ifndef HPCPROF_INFER_MOVED_H
#define HPCPROF_INFER_MOVED_H

#include <stdbool.h>
#include <stddef.h>

struct place_ticks {
	double expected; /* ticks: e above */
	double seen;	 /* ticks: k above */
	double samples;	 /* from which `expected` was computed; 0: nothing is known of this place */
};

/* `seen` of `all_seen` ticks are at the place. The certainty of `seen` is that of a share of all
 * ticks. `share_of_ticks` is weighted, and 0 if there are no ticks. */
struct place_ticks place_ticks_of(double seen, double all_seen, double share_of_ticks,
				  double share_of_samples, double samples);

struct moved {
	double log;	  /* x, with the highest likelihood */
	double deviation; /* of x */
};
/* The share of the place's time that is surely in other moments than windows saw: at the lower end of
 * a 90 % interval of x. 0 where windows saw enough of it, or may have. */
double moved_apart(const struct moved *moved);

/* `variance`: of x over the places of the program. */
struct moved moved_of(const struct place_ticks *place, double variance);

/* The logarithm of the likelihood of the place's ticks, without a constant, by Laplace's method. */
double moved_likelihood(const struct place_ticks *place, double variance);

/* The variance of x with the highest likelihood, given the places of the program and a prior, which
 * weighs as much as a few places with the usual x. */
double moved_variance_of(const struct place_ticks *places, size_t count);

#endif
