/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many instructions the procedures of a program execute in the same time.
 *
 * Windows count the instructions of a procedure, and its samples within windows (ticks) tell how long
 * they took. The ticks of a procedure that executed c instructions are Poisson distributed around
 * c / r, and the logarithm of r is normal over the procedures of a program. Its mean and its variance
 * are those at which the ticks of all procedures are likeliest (empirical Bayes, by the EM algorithm:
 * Dempster, Laird and Rubin, Journal of the Royal Statistical Society B 39, 1977).
 *
 * So the time of a procedure tells how many instructions it executed, to within that variance, also
 * where no window saw it. Where windows saw it, both estimates are pooled by the inverse of their
 * variances.
 */
#ifndef INFER_THROUGHPUT_H
#define INFER_THROUGHPUT_H

#include <hpcprof/infer/inference.h>

/* What windows saw of a procedure. */
struct paced {
	double instructions; /* estimated from its counts */
	double seen;	     /* number of its ticks */
	double share;	     /* of all ticks, weighted as its counts are; 0 without ticks */
};

/* Estimates the distribution. `ticks`: the number of ticks of all procedures. */
struct hp_throughput throughput_of(const struct paced *procedures, size_t count, double ticks);

struct estimate {
	double log;	  /* logarithm of the estimated number */
	double deviation; /* of that logarithm */
};
/* The throughput of one procedure: the instructions that it would execute if it ran for the whole
 * time. `seen`: what windows saw of it; all 0 if they saw nothing. `moved`: the x of moved.h. The
 * larger it is, the more of the procedure's time windows missed; what it executed then is unknown,
 * so the deviation is larger. */
struct estimate throughput_of_procedure(const struct hp_throughput *throughput,
					const struct paced *seen, double moved);
/* The instructions of a procedure with this throughput and this share of all samples; `samples`:
 * the number of its samples. */
struct estimate estimate_by_time(const struct estimate *throughput, double share, double samples);
/* Pools the estimate by counts with the one by time; their errors are independent. For a few
 * procedures, counts are wrong, because they ran mostly outside of windows: a contaminated
 * distribution (Box and Tiao, Biometrika 55, 1968). So the more the two estimates differ, the less
 * weight the counts have. */
struct estimate pooled_estimate(struct estimate counted, const struct estimate *throughput,
				double share, double samples);

#endif
