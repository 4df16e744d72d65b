/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of counting that somebody had to choose: how long slices are, when the target's own clock
 * is asked, and how much of the time between two slices is not known.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	[chosen]	nobody has measured it alone; scripts/bench/stat-overhead and
 *			scripts/mux-accuracy judge all together
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 *
 * Not here: what the interface promises (HP_DEFAULT_ROTATION_PERCENT), and how first slices grow
 * (src/mux/tuning.h).
 */
#ifndef HPCPROF_SRC_COUNT_TUNING_H
#define HPCPROF_SRC_COUNT_TUNING_H

#include <stdint.h>

/* --- the length of slices: turning.c --------------------------------------------------------- */

enum {
	/* No slice is shorter, … */
	SHORTEST_SLICE_NS = 250000, /* ns of the target's time [chosen] */
	/* … nor than so many times what a rotation takes: at the beginning of a run rotations may
	 * take a third of the time, for a moment. */
	SHORTEST_ROTATIONS = 2, /* rotations [chosen] */
	/* Slices are that long when rotating is cheap enough. Shorter ones would gain nothing:
	 * scaled counts are then within a few per cent even of bursty programs. */
	DEFAULT_SLICE_NS = 4000000, /* ns of the target's time; scripts/mux-accuracy */
};

/* While rotating has taken more than its budget, slices are longer by one over this: the first,
 * short ones are paid back. */
static const double paying_back = 0.5; /* of the budget [chosen] */
/* A target that ran for this much of the last slice is not asked whether it ran in this one: to ask
 * interrupts it. */
static const double mostly_runs = 0.75; /* share of wall time [chosen] */

/* --- slices of a target that waits for CPUs: pace.c ------------------------------------------ */

/* A slice that is over by the clock, but not for the target, goes on for this long at most, and so
 * does one that is to end by events: the target may sleep. */
static const uint64_t pace_patience_ns = 100000000; /* ns of wall time [chosen] */
enum {
	/* It is looked at again after this part of the time that it has taken, so ever more rarely
	 * while the target sleeps. */
	PACE_RARELY_PART = 8, /* parts of its wall time [chosen] */
	/* A slice that lacks no more than this part is over: to look once more costs more than it
	 * is worth. */
	PACE_REST_PART = 4, /* parts of its length [chosen] */
};

/* --- the target's clock and the time between slices: rotation.c ------------------------------ */

/* The target's clock is asked after each of so many first slices, and then after one in so many. */
static const uint64_t clock_every = 16; /* slices [chosen] */
/* How much the target runs between two slices, as multiples of how much it runs in them: more is
 * due to threads that began or woke there. */
static const double most_gap_share = 2; /* times [chosen] */
/* Time between slices is reckoned with a little less than that: what is missing is caught up with,
 * too much lasts until later gaps. */
static const double gap_caution = 0.9; /* times [chosen] */
/* Of the time between slices, how much of what the target did there may be unknown; the intervals
 * of counts allow for it. */
static const double gap_unknown = 0.1; /* share [chosen] */

/* --- the end of counting: rotation.c ---------------------------------------------------------- */

enum {
	/* If a thread is ending, the last slice is read again after this time, … */
	ENDING_THREAD_PAUSE_NS = 20000, /* ns [chosen] */
	/* … and so many times. After that it is lost, and the counts are estimates. */
	ENDING_THREAD_PAUSES = 100, /* reads [bound] */
};

/* --- figures: figures.c ---------------------------------------------------------------------- */

enum {
	/* Ratios of one list of events; the list of roles allows for fewer. */
	MOST_METRICS = 64, /* ratios [bound] */
};

/* --- a text of counts: replay_file.c --------------------------------------------------------- */

enum {
	/* Slices times events, in 24 bytes each: 40 events in 200,000 slices. */
	REPLAY_COUNTS_MOST = 1 << 23, /* counts [bound] */
	REPLAY_LINE_MOST = 512,	      /* bytes [bound] */
};

#endif
