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

/* A procedure in windows. */
struct paced {
	double instructions; /* that its counts stand for */
	double seen;	     /* ticks */
	double share;	     /* of all ticks, weighted as its counts are; 0 if it has none */
};

/* `ticks`: of all procedures. */
struct hp_throughput throughput_of(const struct paced *procedures, size_t count, double ticks);

struct estimate {
	double log;
	double deviation;
};
/* That of one procedure, had it all of the time. What windows saw of it tells its own; all zero: they
 * saw nothing. `moved` is the x of moved.h: of the time that windows missed nothing tells how it
 * executed then. */
struct estimate throughput_of_procedure(const struct hp_throughput *throughput,
					const struct paced *seen, double moved);
/* Of the instructions of a procedure with that throughput and that share of all samples. */
struct estimate estimate_by_time(const struct estimate *throughput, double share, double samples);
/* The same by counts and by time, which tell nothing of each other. Few procedures ran at other times than
 * windows did, and counts tell nothing of them: they are contaminated (Box and Tiao, Biometrika 55, 1968).
 * So the further both are apart, the more time is believed. */
struct estimate pooled_estimate(struct estimate counted, const struct estimate *throughput,
				double share, double samples);

#endif
