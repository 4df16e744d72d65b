/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chosen constants of rotation: which group counts next, when an estimate is believed, and how much
 * of the known totals corrects it.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	a text		from which it follows, by its title
 *	[chosen]	nobody has measured it alone; scripts/sensitivity finds it by this mark
 *	[bound]		it limits work where input is hostile or rare
 *
 * All of them were set together while scripts/mux-accuracy ran on the first of its two sets of programs;
 * the second set is what they are judged by. It prints mean squared errors, and how many of the 95 %
 * intervals hold.
 *
 * scripts/sensitivity halved and doubled the chosen ones, judged by made-up traces of 2 s and
 * scripts/mux/traces/arm-guest, which is little: what moves nothing there may matter to real programs.
 * Half a point or more of the typical error, of intervals that hold or of counts without one moved with all
 * but ROUND_PART, KNOWN_MAX, PAST_NEEDED, distinct_rest, recalled_part and SHAPE_MEMORIES. Without that last
 * guess of bursts (PAST_NEEDED, recalled_part) tests/mux/test_bursts fails.
 * Counts without an interval moved most, by up to 22 points: with freedom_needed, slices_needed and
 * useless_width, which are about them. Errors did with how adaptive shares out turns (by up to 18 points of
 * arm-guest, 5 of the others), and of arm-guest with short_slice and HALF_BLOCK.
 *
 * Not here: what the interface promises (HP_MUX_ROC_PATIENCE, HP_MUX_ADAPTIVE_PATIENCE,
 * HP_MUX_CONTRADICTED, the limits of a plan), the three observations of Lim's formula (roc.c), and
 * tolerances for rounding of 1e-9.
 */
#ifndef HPCPROF_SRC_MUX_TUNING_H
#define HPCPROF_SRC_MUX_TUNING_H

#include <stdint.h>

/* --- which group counts next: adaptive.c, ramp.c --------------------------------------------- */

/* A period is drawn from this range around its length, so that it does not synchronise with the
 * program. */
static const double period_jitter = 0.1; /* of the period, up and down [chosen] */
/* An event seen in fewer slices occurred there by chance: it does not show where more slices
 * help. */
static const double slices_behind_needed = 8; /* slices [chosen] */
/* The weight of measured differences between groups, … */
static const double difference_trusted = 0.25; /* share [chosen] */
/* … and the observations of a group at which it is half of that. */
static const double half_trusted_observations = 24; /* observations [chosen] */
/* The least variability of a group: log 0 is no weight. */
static const double least_variability = 1e-4; /* of the largest variance [chosen] */
/* A slice shorter than this is merged with the next one of its group: a moment says little about a
 * rate, and reading the counters takes a moment, too. */
static const double short_slice = 0.25; /* of the average slice [chosen] */

enum {
	/* At the beginning of a run, a round of all groups takes this part of the time so far
	 * (ramp.h). With slices of full length from the start, most events of a short run would
	 * have too few slices for an estimate. */
	ROUND_PART = 3, /* parts of the time so far [chosen] */
};

/* --- when an estimate is believed: estimates.c, metric.c ------------------------------------- */

/* An estimate whose variance has fewer degrees of freedom than this is insufficient: Student's
 * quantile is 3.2 at 3, and 4.3 and 12.7 below. */
static const double freedom_needed = 3; /* degrees of freedom [chosen] */
/* A count from fewer slices is insufficient, too: it says nothing about slices that were not
 * seen. */
static const double slices_needed = 5; /* slices [chosen] */
/* So is a count whose interval is as wide as the count on either side. */
static const double useless_width = 1; /* half width per count [chosen] */
/* A count with so small a variance needs no degrees of freedom: at the widest quantile its interval
 * is within this. */
static const double steady_width = 0.01; /* half width per count [chosen] */

/* --- what corrects an estimate: estimates.c, estimator.c, estimator.h, regress.c -------------- */

enum {
	/* The reference event, and the first of the events that all groups count. */
	KNOWN_MAX = 4, /* events [chosen] */
	/* The regression on known events is tested on other steps than it was fitted to, because
	 * bursts may fit by chance: blocks of this length alternate between the two halves. */
	HALF_BLOCK = 8, /* steps per block [chosen] */
	/* With fewer steps per coefficient a regression fits noise. */
	STEPS_EACH = 8, /* steps per coefficient [chosen] */
	/* In a time series, the past is used from so many observations on. */
	PAST_NEEDED = 16, /* observations [chosen] */
};

/* A known event is used if it leaves less than this share of the variance. */
static const double worth_knowing = 0.9; /* of the variance [chosen] */
/* A known event gets no coefficient if the others explain all but this share of it. */
static const double distinct_rest = 1e-3; /* of its sum of squares [chosen] */
/* The share of a slice in the variance between observations, which are a round apart. */
static const double recalled_part = 0.1; /* of the variance [chosen] */

/* --- the shape of an event's variability: fit.h, fit.c, shape.c, estimator.c ------------------ */

enum {
	/* Distances at which observations are compared (1, 2, 4 and 8: fit_lag), … */
	FIT_LAGS = 4, /* distances; the length of fit_lag */
	/* … and the last of them. */
	FIT_REACH = 8, /* observations; the last of fit_lag */
	/* Lengths of memory that are tried. */
	SHAPE_MEMORIES = 8, /* lengths [chosen] */
};

static const uint32_t fit_lag[FIT_LAGS] = { 1, 2, 4, 8 }; /* observations */

/* The lengths of memory begin with this part of a typical distance of two observations, … */
static const double ladder_start = 0.03125; /* of the distance: 1 / 32 [chosen] */
/* … and grow by this factor. Longer than the last looks like a random walk, shorter than the first
 * like noise without memory. */
static const double ladder_step = 4; /* times [chosen] */
/* The share of fitted memory that is not believed, as otherwise intervals hold too seldom. With 0,
 * this value and 0.5, 90.1, 91.5 and 92.5 % of the intervals of judged simulated programs hold
 * (scripts/mux-accuracy), and 94.9, 97.4 and 98.3 % of those of stacks, whose events are in fewer
 * groups (scripts/stack-accuracy --multiplexed, the same programs). */
static const double memory_doubted = 0.25; /* share [chosen] */

/* --- reconciliation: reconcile.c ------------------------------------------------------------- */

/* A variance below this share of what went into it is rounding. */
static const double rounding_variance = 1e-12; /* share; about 1e4 roundings of a double */
/* An inequality holds when it is exceeded by no more than this share of its terms. */
static const double inequality_tolerance = 1e-11; /* share; ten times rounding_variance */

enum {
	/* Hildreth's method is given up after so many passes over the inequalities. */
	MOST_SWEEPS = 20000, /* passes [bound] */
};

#endif
