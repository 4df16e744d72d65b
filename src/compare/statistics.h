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

/* The logarithm of a ratio, and its test. */
struct log_ratio {
	double value;
	double deviation; /* of `value` */
	double freedom;	  /* of Student's t */
	double p;	  /* two-sided, for no change */
};

/* The ratio as a relative change with its 95 % interval. */
struct hp_measured log_ratio_change(const struct log_ratio *ratio);
/* The smallest relative change that is detected with COMPARE_POWER, at `alarms`. */
double log_ratio_smallest(const struct log_ratio *ratio, double alarms);

/* Degrees of freedom of the sum of two variances: their harmonic mean, weighted by the variances.
 * They are fewer than Welch and Satterthwaite's, with which the tails of a poorly known variance
 * would count less than half even if it has half of the sum. */
double freedom_of_sum(double one, double one_freedom, double other, double other_freedom);

/* --- whole programs -------------------------------------------------------------------------- */

/* What is known in advance of how runs differ. */
struct run_prior {
	double deviation; /* relative */
	double freedom;	  /* degrees of freedom of what was learned; INFINITY: it is assumed */
	/* deviation of one side relative to the other; 0: they are interleaved */
	double drift;
	double drift_freedom; /* degrees of freedom of `drift`; unused without drift */
	struct pace pace;     /* what was removed from the compared costs */
};

/*
 * Compares costs of runs: by Welch's t test on their logarithms and, against outliers, the rank sum
 * test; p is twice the smaller one. For pairs (see pace.h), by Student's t and, if there are enough
 * of them, the signed rank test. If sides may have drifted apart, ranks are not used. With fewer
 * than three runs on a side, the variance is pooled, and the prior adds the runs that it was
 * learned from, or two.
 */
struct log_ratio compare_runs(const struct run_costs sides[HP_SIDES],
			      const struct run_prior *prior);

/* The smallest relative change that compare_runs, which found `ratio`, detects with COMPARE_POWER,
 * at `alarms`. */
double runs_smallest(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		     const struct log_ratio *ratio, double alarms);

/* The number of runs per side, above the present one, with which a change by `least` is detected
 * with COMPARE_POWER, at `alarms`, if the present runs tell how much runs differ (Stein 1945); 0:
 * no number suffices. */
size_t runs_needed(const struct run_costs sides[HP_SIDES], const struct run_prior *prior,
		   double least, double alarms);

/* Two-sided p of the rank sum test, and of the signed rank test for pairs (Wilcoxon 1945): exact
 * for up to 20 runs without ties, otherwise by the normal distribution. */
double rank_sum_p(const struct run_costs sides[HP_SIDES]);
double signed_rank_p(const struct run_costs sides[HP_SIDES], const size_t *partners);

/* The relative deviation of one run's cost, pooled over the sides; NAN: no side has two runs. */
double pooled_deviation(const struct run_costs sides[HP_SIDES], const struct pace *pace);

/* --- counts ---------------------------------------------------------------------------------- */

/* The samples of one procedure in all replicates. */
struct counts {
	const double *counts;	 /* by replicate: first the base's, then the candidate's */
	const double *exposures; /* above 0: the mean of each count is proportional to it */
	size_t replicates[HP_SIDES];
	/* of all samples: a share of a fixed number of samples varies less than chance */
	double share;
	double taken; /* degrees of freedom that fitting the exposures has taken */
	/* by replicate of the base: the candidate's that it is compared with, since whatever slowed
	 * one also slowed the other; NULL: all are compared with all */
	const size_t *partners;
};

/*
 * Variance over mean, as a function of the mean m of a count: even + deviation^2 * m. The second
 * term is what runs have in common; with many samples it exceeds chance.
 */
struct dispersion {
	double even;
	double deviation;
	/* its weight against a procedure's own dispersion; INFINITY: only this one counts */
	double freedom;
	double drift;	      /* additional deviation of one side relative to the other */
	double common;	      /* degrees of freedom of `deviation`; INFINITY: it was not learned */
	double drift_freedom; /* degrees of freedom of `drift` */
};

/* Variance over mean, from the replicates of one procedure; NAN and 0 degrees of freedom if no side
 * has two. */
double own_dispersion(const struct counts *counts, double *freedom);

/*
 * Learns from all procedures together: the line by iteratively weighted least squares, its weight
 * from how much procedures differ from it (Smyth 2004, section 6.2). `fallback`: the result if too
 * few procedures have enough samples.
 */
struct hp_error *learn_dispersion(const struct counts *procedures, size_t count,
				  const struct dispersion *fallback, struct dispersion *learned);

/* Variance over mean, beyond `deviation`, which runs have in common, pooled over all procedures.
 * NAN and 0 degrees of freedom if none has replicates or samples. */
double pooled_dispersion(const struct counts *procedures, size_t count, double deviation,
			 double *freedom);

/* Tests one procedure: quasi-likelihood, with its dispersion shrunk towards that of all. */
struct log_ratio compare_counts(const struct counts *counts, const struct dispersion *dispersion);

/* --- many tests ------------------------------------------------------------------------------ */

/* False discovery rates (Benjamini and Hochberg 1995) of `p`. NANs stay, and do not count. */
struct hp_error *discovery_rates(const double *p, size_t count, double *q);

#endif
