/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statistical tests; they know numbers only.
 *
 * A ratio is candidate / base, kept as its natural logarithm.
 */
#ifndef COMPARE_STATISTICS_H
#define COMPARE_STATISTICS_H

#include "pace.h"
#include "tuning.h"

#include <hpcprof/base/error.h>
#include <hpcprof/compare/comparison.h>

#include <stdbool.h>
#include <stddef.h>

/* A logarithm of a ratio. */
struct log_ratio {
	double value;
	double deviation; /* of `value` */
	double freedom;	  /* of Student's t */
	double p;	  /* of no change, two-sided */
};

/* The ratio as a relative change, with its 95 % interval. */
struct hp_measured log_ratio_change(const struct log_ratio *ratio);
/* The relative change that is told from none, at `alarms`, with COMPARE_POWER. */
double log_ratio_smallest(const struct log_ratio *ratio, double alarms);

/* Degrees of freedom of a variance that is the sum of two: their harmonic mean, each by its part.
 * That is fewer than Welch and Satterthwaite's, by which the tails of the one that is hardly known
 * would count less than half where it has half of the variance. */
double freedom_of_sum(double one, double one_freedom, double other, double other_freedom);

/* --- whole programs -------------------------------------------------------------------------- */

/* What is known beforehand of how runs differ. */
struct run_prior {
	double deviation;     /* relative */
	double freedom;	      /* degrees that it was learned from; INFINITY: it is assumed */
	double drift;	      /* of one whole side from the other, relative; 0: interleaved */
	double drift_freedom; /* degrees that it is known by; of no drift it is not looked at */
	struct pace pace;     /* that was taken from the costs that are compared */
};

/*
 * Costs of runs. Welch's t on their logarithms and, against runs that are out of line, the rank sum
 * test: twice the smaller p. Of pairs (see pace.h) Student's t and, once there are enough for it to
 * find anything, the signed rank test; of sides that may have drifted apart ranks say nothing. With
 * fewer than three runs on a side the variance is a pooled
 * one, to which the prior adds what it was learned from, or what two runs would.
 */
struct log_ratio compare_runs(const struct run_costs sides[HP_SIDES],
			      const struct run_prior *prior);

/* The relative change that compare_runs, which found `ratio`, tells from none, at `alarms`, with
 * COMPARE_POWER. */
double runs_smallest(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		     const struct log_ratio *ratio, double alarms);

/* Runs that each side needs, more than there are, so that a change by `least` is told from none, at
 * `alarms`, with COMPARE_POWER, given that how much runs differ is known from the runs there are
 * alone (Stein 1945); 0 if no number does. */
size_t runs_needed(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		   double least, double alarms);

/* Two-sided p of the rank sum test, and of the signed rank test of pairs (Wilcoxon 1945): exact for
 * up to 20 runs without ties, else by the normal distribution. */
double rank_sum_p(const struct run_costs sides[HP_SIDES]);
double signed_rank_p(const struct run_costs sides[HP_SIDES], const size_t *partners);

/* Relative deviation of one run's cost, pooled over the sides; NAN when none has two. */
double pooled_deviation(const struct run_costs sides[HP_SIDES], const struct pace *pace);

/* --- counts ---------------------------------------------------------------------------------- */

/* Samples of one procedure in all replicates. */
struct counts {
	const double *counts;	 /* [replicate]: base's, then the candidate's */
	const double *exposures; /* > 0: a count's mean is in proportion */
	size_t replicates[HP_SIDES];
	double share; /* of all samples: a share of a fixed number varies less */
	double taken; /* degrees of freedom that exposures took from what runs have in common */
	/* [base's replicate]: the candidate's that is compared with it alone, as whatever made one
	 * dearer did so for both; NULL: all are compared with all. */
	const size_t *partners;
};

/*
 * Variance over mean of counts, as a function of the mean m of one count: even + deviation^2 * m.
 * The second term is what runs have in common: it outgrows chance where there are many samples.
 */
struct dispersion {
	double even;
	double deviation;
	double freedom; /* what it is worth beside a procedure's own; INFINITY: use it alone */
	double drift;	/* of one whole side from the other, relative, beside all that */
	double common;	/* degrees of freedom of `deviation`; INFINITY: where it was not learned */
	double drift_freedom; /* of `drift` */
};

/* Variance over mean as the replicates of a procedure show it; NAN and 0 degrees of freedom when
 * no side has two. */
double own_dispersion(const struct counts *counts, double *freedom);

/*
 * Learned from all procedures together: the line by iterated weighted least squares, its weight by
 * how much procedures differ from it (Smyth 2004, section 6.2). With too few that say anything,
 * `fallback`.
 */
struct hp_error *learn_dispersion(const struct counts *procedures, size_t count,
				  const struct dispersion *fallback, struct dispersion *learned);

/* Variance over mean, beyond what runs have in common by `deviation`, of all procedures together.
 * NAN and 0 degrees of freedom when none has replicates, or samples. */
double pooled_dispersion(const struct counts *procedures, size_t count, double deviation,
			 double *freedom);

/* The test of one procedure: quasi-likelihood, its dispersion drawn towards what all have. */
struct log_ratio compare_counts(const struct counts *counts, const struct dispersion *dispersion);

/* --- many tests ------------------------------------------------------------------------------ */

/* False discovery rates (Benjamini and Hochberg 1995) of `p`; NANs stay so and do not count. */
struct hp_error *discovery_rates(const double *p, size_t count, double *q);

#endif
