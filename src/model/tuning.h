/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that say how certain ratios and shares are (grouped.c), which code is the same (body.c),
 * which names are long (procedure_name.c), which clocks differ (clock.c), which processes are short and what
 * sampling takes at most (epoch.c).
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a text		from which it follows, by its title
 *	[chosen]	nobody has measured it; scripts/sensitivity finds it by this mark
 *	[shown]		chosen for readers; no figure depends on it
 *	[bound]		it limits what hostile input can ask for
 *
 * Not here: quantiles of Student's distribution, which are known exactly, and what the interface
 * promises (HP_MOST_APART).
 */
#ifndef HPCPROF_SRC_MODEL_TUNING_H
#define HPCPROF_SRC_MODEL_TUNING_H

/* --- ratios of sums over groups of windows ---------------------------------------------------- */

/* With fewer degrees of freedom a ratio has no deviation: two groups of which one is five times the
 * other have this many (1 / (the squares of their shares) - 1). */
static const double least_freedom = 0.38; /* degrees of freedom [chosen] */
/* How far the pace of one window is from that of others before any is known, fitted to programs of many
 * phases, in one to eight windows of 100 ms and more, … */
static const double pace_deviation = 0.2; /* share of the pace [chosen] */
/* … what knowing it is worth, … */
static const double pace_freedom = 2; /* degrees of freedom [chosen] */
/* … and the least that it ever is. */
static const double least_pace_deviation = 0.03; /* share of the pace [chosen] */
/* What it is worth in addition, once all procedures of the program have told it. */
static const double pace_freedom_of_all = 8; /* degrees of freedom [chosen] */
/* Procedures share windows that were slower or faster: together they tell no more than so many that do not. */
static const double most_paces = 8; /* procedures [chosen]; half of it changes little */
/* A procedure with fewer degrees of freedom tells nothing of it. */
static const double least_pace_freedom = 0.9; /* degrees of freedom [chosen] */

/* --- shares ----------------------------------------------------------------------------------- */

/* Of branches that were seen to go one way n times, the other way's share is on the mean a tenth of
 * 1 / n, but of two in three nothing: half of them have less than this says, and one in ten more than
 * its deviation does. */
static const double foreseen_each = 0.02; /* times that each way was seen beforehand [chosen] */
/* No share is nearer to 0 or 1. */
static const double least_share = 1e-6; /* share [chosen] */

/* --- the same code in two builds -------------------------------------------------------------- */

enum {
	/* Fewer are the same by chance; without registers and numbers, twice as many are. */
	FEWEST_INSTRUCTIONS = 8, /* instructions of the shorter body [chosen] */
};
/* What is alike in shape alone is a little less so. */
static const double worth_of_shape = 0.8; /* times the share in common [chosen] */

/* --- names of procedures: procedure_name.c ----------------------------------------------------- */

enum {
	/* What is between brackets stays up to here, as <int> and <char const*> do; more hides what it is
	 * of. */
	SHORT_ENOUGH = 12, /* bytes [shown] */
	/* A shorter part that names no procedure is no part of a name: too many have it. */
	SHORTEST_PART = 3, /* bytes [shown] */
};

/* --- the clock: clock.c ------------------------------------------------------------------------ */

/* Frequencies are told apart by classes, 0.3 % wide: no program's time is known better. */
static const double clock_classes = 256; /* classes per factor of 2 [chosen] */
/* Others are no clocks of CPUs. */
static const double slowest_hz = 1e6;  /* Hz [bound] */
static const double fastest_hz = 1e12; /* Hz [bound] */

/* --- processes (epoch.c) ------------------------------------------------------------------------ */

/* Shorter ones may end between two ticks of the kernel's clock, which come every 4 ms (CONFIG_HZ=250) or
 * 10 ms (100): then all their CPU time is called the user's. Linux, kernel/sched/cputime.c */
static const double short_process_ns = 40e6; /* ns, the mean of a recording */

/* --- the time that samples take (epoch.c) ------------------------------------------------------- */

/* What was measured while other programs wanted the CPU is too much, but it has not taken most of the
 * time. */
static const double most_sampling_share = 0.5; /* share of the time [bound] */

#endif
