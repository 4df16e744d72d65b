/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What counts of a procedure are a share of.
 *
 * Windows are few, and where a program does one thing after another they come by some procedures
 * too often and by others too seldom. Samples of time tell by how much: those of the whole recording
 * beside those within windows. So counts are a share of the procedure's own time, as far as that is
 * known better than that windows are where the time is: post-stratification, shrunk (Cochran,
 * Sampling Techniques, 1977, 5A.9; James and Stein 1961).
 *
 * With t the time and s the samples of a procedure in each group of windows, both as shares, the
 * clock is (1 - w) t + w s, and counts are multiplied by (S / s)^w, S being its share of all
 * samples. The weight w is 1 - noise / (noise + what t is off by): the noise of the samples is that
 * of throws of a coin; what t is off by is seen in how groups differ, and in S / s itself.
 */
#ifndef REPORT_COUNTED_CLOCK_H
#define REPORT_COUNTED_CLOCK_H

#include "counted.h"

struct counted_clock {
	uint64_t address;	  /* of the owner of procedure parts */
	double samples;		  /* in all of the time */
	double ticks;		  /* in windows, as they were */
	struct hp_grouped scaled; /* in windows, times what they stand for; then the clock */
	double factor;		  /* on counts */
};

/* Makes the clocks of all procedures of the part's image that windows came by, `image` being its
 * number in the windows' images and `covered` the share of its samples that windows stand for, and
 * multiplies the image's counts. requires: blocks and edges. */
struct hp_error *counted_clocks_make(const struct report *report, const struct report_part *part,
				     uint32_t image, double covered, struct counted *counted);
/* The time by groups that counts at the address are a share of, as in report->windows.time. */
const struct hp_grouped *counted_time(const struct report *report, const struct counted *counted,
				      uint64_t address);

#endif
