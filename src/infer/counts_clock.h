/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What counts of a procedure are a share of.
 *
 * Windows are few, and where a program does one thing after another they come by some procedures
 * too often and by others too seldom. Samples of time tell by how much: those of the whole recording
 * beside those within windows. So counts are a share of the procedure's own time, as far as samples are
 * certain that windows were elsewhere: post-stratification, shrunk (Cochran, Sampling Techniques,
 * 1977, 5A.9; James and Stein 1961).
 *
 * With t the time and s the samples of a procedure in each window, both as shares, the clock is
 * (1 - w) t + w s, and counts are multiplied by (S / s)^w, S being its share of all samples. The
 * weight w is 1 - (2 noise / log(S / s))^2 or 0, the noise of the samples being that of throws of a
 * coin: procedures are many and windows have been hp_balanced (balance.h), so that what is within
 * twice the noise is chance. What was multiplied by much is made of few moments that need not be
 * like those that windows missed: w log(S / s) / 2 is added to its deviation. Of a procedure without
 * any sample in windows s is half a sample.
 *
 * Samples in code that no window saw are of time that windows missed. Counts are no share of it, and
 * what else ran then is not known: with a share m of the procedure's samples its counts may be less
 * than they should be by log(1 - m).
 */
#ifndef INFER_COUNTS_CLOCK_H
#define INFER_COUNTS_CLOCK_H

#include <hpcprof/infer/counts.h>

struct counts_clock {
	uint64_t address;	  /* of the owner of procedure parts */
	double samples;		  /* in all of the time, in code that windows saw */
	double missed;		  /* in other code */
	double ticks;		  /* in windows, as they were */
	struct hp_grouped scaled; /* in windows, times what they stand for; then the clock */
	double factor;		  /* on counts */
	double deviation;	  /* of its logarithm, beside that of groups */
};

/* Makes the clocks of all procedures of the part's image that windows came by, `image` being its
 * number in the windows' images and `covered` the share of its samples that windows stand for, and
 * multiplies the image's counts. requires: blocks and edges. */
struct hp_error *counts_clocks_make(const struct hp_inference *inference,
				    const struct hp_loaded_part *part, uint32_t image,
				    double covered, struct hp_image_counts *counted);
/* The time by windows that counts at the address are a share of, as in the windows' time. */
const struct hp_grouped *counts_time(const struct hp_inference *inference,
				     const struct hp_image_counts *counted, uint64_t address);
/* Of counts at the address, as a logarithm, beside how windows differ: of all of the procedure
 * together, and of how they are to each other. */
double counts_clock_deviation(const struct hp_image_counts *counted, uint64_t address);
double counts_missed_deviation(const struct hp_image_counts *counted, uint64_t address);

#endif
