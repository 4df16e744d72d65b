/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pace: what influences both sides alike where they took turns (other load, heat, a host that lends
 * its CPUs out). It can be separated from the difference between the sides, and is removed.
 *
 * If adjacent runs are more alike than others, each run is compared with the adjacent run of the
 * other side: Student's t-test of pairs. Otherwise pairs would lose more degrees of freedom than
 * they gain, and a linear trend is removed instead: analysis of covariance with time as the
 * covariate. Runs at the same time (side by side) are always compared as pairs.
 */
#ifndef COMPARE_PACE_H
#define COMPARE_PACE_H

#include <hpcprof/compare/comparison.h>

#include <stdbool.h>
#include <stddef.h>

struct run_costs {
	const double *costs; /* > 0 */
	size_t count;	     /* > 0 */
};

struct pace {
	double *of[HP_SIDES]; /* by run: the factor that its cost contains; NULL: unknown */
	double inflation;     /* factor on the variance of the sides' difference; 1: none */
	double freedom;	      /* degrees of freedom that it took from the runs */
	/* by run of the base: the candidate's run beside it; NULL: there are no pairs */
	const size_t *partners;
};

/* A pace without anything in common. */
struct pace pace_none(void);
/* Fills `pace`, whose lists have room for all runs, with a linear drift over `times`. With fewer
 * than three runs on a side, none is fitted. */
void pace_fit_trend(const struct run_costs sides[HP_SIDES], double *const times[HP_SIDES],
		    struct pace *pace);
/* For equal numbers of runs: uses pairs instead of the fitted trend if pairs are more alike than
 * the trend explains; otherwise returns false. `partners` must stay valid. */
bool pace_fit_pairs(const struct run_costs sides[HP_SIDES], const size_t *partners,
		    struct pace *pace);
/* The same for runs that each ran at the same time as its partner: they are pairs because of how
 * they were recorded, whatever their costs. */
void pace_take_pairs(const struct run_costs sides[HP_SIDES], const size_t *partners,
		     struct pace *pace);
/* Degrees of freedom that it would take from this many runs per side. */
double pace_freedom(const struct pace *pace, size_t runs);

#endif
