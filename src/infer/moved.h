/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far windows are off the rest of the time, by places: code has ticks (samples in windows), and more or fewer are
 * to be expected of its samples in all of the time.
 *
 * Ticks k are Poisson around e exp(-x): x is the logarithm of how many times more often the code ran than windows
 * have it, e are the ticks that were to be expected. x is normal around 0; its variance is the program's, of
 * all places together: windows of a program that does the same all the time are off by nothing, few
 * windows of one with phases by much. So few ticks, or none, move counts no further than is likely there, and
 * leave open what they leave open.
 */
#ifndef HPCPROF_INFER_MOVED_H
#define HPCPROF_INFER_MOVED_H

#include <stdbool.h>
#include <stddef.h>

struct place_ticks {
	double expected;
	double seen;
	double samples; /* that it was expected from; 0: nothing is known of this place */
};

/* `seen` are a share of all ticks, and as certain as that is; `share_of_ticks` is weighted, 0 if there are none. */
struct place_ticks place_ticks_of(double seen, double all_seen, double share_of_ticks,
				  double share_of_samples, double samples);

struct moved {
	double log; /* x, at the likeliest */
	double deviation;
};
struct moved moved_of(const struct place_ticks *place, double variance);

/* That of the program, where the places are likeliest; with a few more that are off as usual. `each` (context, i) is
 * the place number i of `count`. */
double moved_variance(const struct place_ticks *(*each)(const void *context, size_t i),
		      const void *context, size_t count);

#endif
