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
	double *of[HP_SIDES];	/* [run]: what its cost is a multiple of; NULL: nothing is known */
	double inflation;	/* of the variance of what the sides differ by; 1: none */
	double freedom;		/* that it took from the runs */
	const size_t *partners; /* [base's run]: the candidate's beside it; NULL: no pairs */
};

/* Nothing in common. */
struct pace pace_none(void);
/* Fills `pace`, whose lists have room for all runs, with an even drift over `times` of runs: none
 * is fitted to fewer than three a side. */
void pace_fit_trend(const struct run_costs sides[HP_SIDES], double *const times[HP_SIDES],
		    struct pace *pace);
/* Of as many runs on both sides: pairs in place of the trend that was fitted, where they are more
 * alike beyond that; else returns false. `partners` is kept. */
bool pace_fit_pairs(const struct run_costs sides[HP_SIDES], const size_t *partners,
		    struct pace *pace);
/* The same of runs that each ran at the same time as its partner: they are pairs by how they were
 * recorded, whatever the costs say. */
void pace_take_pairs(const struct run_costs sides[HP_SIDES], const size_t *partners,
		     struct pace *pace);
/* Degrees of freedom that it would take from so many runs a side. */
double pace_freedom(const struct pace *pace, size_t runs);

#endif
