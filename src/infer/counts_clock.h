/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a procedure: the time within windows that its counts are divided by.
 *
 * There are few windows. If a program does one thing after another, some procedures get more
 * windows than their share of the time, others fewer. Samples of time show by how much, as in
 * balance.h, but for each procedure: its counts are scaled to its own share of all samples, as far
 * as that is likely in this program. This is post-stratification with shrinkage (Cochran, Sampling
 * Techniques, 1977, 5A.9; Efron and Morris, Journal of the American Statistical Association 68,
 * 1973).
 *
 *	t	time within windows, by window, as a share of all
 *	s	the procedure's samples within windows, by window, as a share of all
 *	S	the procedure's share of all samples
 *
 * Counts are multiplied by exp(x), with x of moved.h, and the deviation of x is added to theirs.
 * The variance of x in this program is estimated with the weights that were computed without the
 * procedure (balance.h), because weights that include it make its ticks fit its samples even if no
 * window saw the code that ran. The clock is (1 - w) t + w s, where w is the part of x that the
 * procedure's own ticks determine. Counts with a large correction come from few moments: the code
 * that windows missed may execute fewer instructions per time than the code that they saw, or other
 * instructions. So x itself is added to the deviation, too.
 *
 * This estimate is pooled with the one that throughput.h derives from the procedure's time.
 *
 * Samples in code that no window saw (`missed`) are time in which nothing was counted. If they are
 * the share m of the procedure's samples, its counts may be too low by log(1 - m); that is added to
 * the deviation as well.
 */
#ifndef INFER_COUNTS_CLOCK_H
#define INFER_COUNTS_CLOCK_H

#include "moved.h"
#include "throughput.h"
#include <hpcprof/infer/counts.h>

struct counts_clock {
	uint64_t address;   /* of the procedure that owns the parts */
	double samples;	    /* in the whole time, in code that windows saw */
	double missed;	    /* in the whole time, in code that no window saw */
	double ticks;	    /* number of its samples in windows */
	double apart;	    /* share of all ticks, by weights computed without them (balance.h) */
	double ticks_share; /* share of all ticks, weighted */
	double share;	    /* its samples as a share of all samples */
	double covered;	    /* share of its samples in commands with windows */
	struct hp_grouped scaled; /* ticks, multiplied by what they stand for; later the clock */
	struct place_ticks place; /* by ticks_share */
	struct place_ticks place_apart; /* by `apart` */
	double factor;			/* to multiply counts by next */
	double applied;			/* product of all factors so far */
	double deviation;		/* of the factor's logarithm, without variation of groups */
	double pooled; /* deviation of its instructions, with that variation; 0: not pooled */
};

/* Lists the samples in windows of an image. `image`: its index in the windows' images. */
struct hp_error *counts_ticks_make(const struct hp_inference *inference, uint32_t image,
				   struct hp_image_counts *counted);
/* Lists all procedures of the part's image that windows saw, and their places. `image`: its index
 * in the windows' images. `covered`: the share of its samples that windows stand for. requires:
 * blocks. */
struct hp_error *counts_clocks_list(const struct hp_inference *inference,
				    const struct hp_loaded_part *part, uint32_t image,
				    double covered, struct hp_image_counts *counted);
/* Computes their clocks, with the variance of moved.h, and multiplies the image's counts by the
 * factors. requires: blocks and edges. */
void counts_clocks_set(const struct hp_inference *inference, struct hp_image_counts *counted);
/* Lists what windows saw of the image's procedures, to estimate the throughput. requires: clocks
 * and procedures. False: no memory. */
typedef HP_VECTOR(struct paced) paced_vector;
bool counts_clocks_paced(const struct hp_image_counts *counted, paced_vector *procedures);
/* Pools the image's counts with the estimates by time (throughput.h). */
void counts_clocks_pool(const struct hp_inference *inference, struct hp_image_counts *counted);
/* Sums over all images: samples in windows, and samples in the time that windows stand for. */
double counts_all_ticks(const struct hp_inference *inference);
double counts_all_samples(const struct hp_inference *inference);
/* Clock of the procedure at the address: ns by windows. If it has none, the windows' time. */
const struct hp_grouped *counts_time(const struct hp_inference *inference,
				     const struct hp_image_counts *counted, uint64_t address);
/* The number of samples of the procedure at the address, in code that windows saw. */
double counts_samples(const struct hp_image_counts *counted, uint64_t address);
/* The deviation of the logarithm of the counts at the address, without the variation between
 * windows. All counts of the procedure share this error. */
double counts_clock_deviation(const struct hp_image_counts *counted, uint64_t address);
/* What counts at the address were multiplied by. */
double counts_factor(const struct hp_image_counts *counted, uint64_t address);
/* The deviation of the logarithm of the procedure's instructions after pooling; 0: not pooled. */
double counts_pooled_deviation(const struct hp_image_counts *counted, uint64_t address);
/* The share of the time of the procedure at the address that is surely in other moments than windows
 * saw: its share of the time is higher than of theirs by that, at the lower end of a 90 % interval. */
double counts_apart_share(const struct hp_image_counts *counted, uint64_t address);
/* The part of these deviations that is due to `missed`. */
double counts_missed_deviation(const struct hp_image_counts *counted, uint64_t address);

#endif
