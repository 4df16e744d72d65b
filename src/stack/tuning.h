/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of stall stacks that somebody had to choose: how far a formula may be off, when a stack
 * adds up, and where a phase ends.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a text		from which it follows, by its title
 *	[chosen]	nobody has measured it alone; scripts/stack-accuracy judges all together
 *
 * Widths, refills and latencies of cores are in the tables.
 */
#ifndef HPCPROF_SRC_STACK_TUNING_H
#define HPCPROF_SRC_STACK_TUNING_H

/*
 * --- how far a component may be off: the tables ------------------------------------------------
 *
 * The largest error over eight to eleven programs of what each kind of event counts, emulated with
 * ideal semantics on the core of Eyerman et al. 2006, table 2, against runs without the cause in either order
 * (scripts/stack-accuracy --emulated), or over the ten programs of a first model of that core, if that was
 * larger. Real counters are not ideal, so these are the least by which a range is wider.
 */
enum {
	/* Slots that were used. */
	SLOTS_DOUBT = 16, /* thousandths of the cycles */
	/* Slots that the front end left empty, without those of recovery: some of them the back end would
	 * have left empty, too. */
	FRONT_SLOTS_DOUBT = 39, /* thousandths of the cycles; scripts/stack-accuracy */
	/* Slots of wrong paths, and a constant for each mispredicted branch. */
	REFILL_DOUBT = 45, /* thousandths of the cycles; scripts/stack-accuracy */
	/* Slots of wrong paths and cycles of recovery that an event counts. */
	RECOVERY_DOUBT = 78, /* thousandths of the cycles */
	/* Slots of the back end, by the share of its stalls in which a load was the oldest. */
	LOADS_DOUBT = 25, /* thousandths of the cycles; scripts/stack-accuracy */
	/* Cycles without execution while a miss is outstanding. */
	MISS_DOUBT = 15, /* thousandths of the cycles */
	/* Slots of the back end, by shares of cycles without execution: these have what the front end
	 * caused, too. Of Skylake's and Ice Lake's tables, where misses come first, only what is left to
	 * loads that hit and to the core. */
	STALLS_DOUBT = 122, /* thousandths of the cycles; scripts/stack-accuracy */
	/* Slots of the front end that contain the refill: where no event tells the two apart. */
	FRONT_END_DOUBT = 166, /* thousandths of the cycles */
	/* What was not emulated is thought to be as far off as the worst but for the above. */
	UNTESTED_DOUBT = 78, /* thousandths of the cycles [chosen] */
};

/*
 * --- what cores take: the tables ----------------------------------------------------------------
 *
 * From a redirected fetch to dispatch: the penalty of isa/machine less the cycles from dispatch to a
 * branch's execution, which are 4 at least.
 */
enum {
	INTEL_REFILL = 13, /* cycles [chosen] */
	ZEN_2_REFILL = 14, /* cycles [chosen] */
	ZEN_3_REFILL = 9,  /* cycles [chosen] */
	ZEN_4_REFILL = 11, /* cycles [chosen] */
	ZEN_5_REFILL = 11, /* cycles [chosen] */
	/* The constant of Arm's formulas is 4; Neoverse N1's penalty is 11 (Arm's optimization guide). */
	NEOVERSE_N1_REFILL = 7, /* cycles [chosen] */
	NEOVERSE_REFILL = 4,	/* cycles; Arm's telemetry specifications */
	/* For upper limits and for the naive accounting only. */
	NEOVERSE_MISPREDICT = 11, /* cycles; Arm's optimization guides */
	NEOVERSE_L2 = 11,	  /* cycles [chosen] */
	NEOVERSE_L3 = 70,	  /* cycles [chosen] */
	NEOVERSE_MEMORY = 350,	  /* cycles [chosen] */
	NEOVERSE_L2_TLB = 5,	  /* cycles [chosen] */
	NEOVERSE_WALK = 40,	  /* cycles [chosen] */
};

/* --- when a stack adds up: stack.c ----------------------------------------------------------- */

/* Counters of one group are read one after the other, and slots are lost at interrupts. */
static const double sums_tolerance = 0.01; /* of the cycles [chosen] */
/* An event that reads 0 in so many cycles is dead, unless the table says that it is rare. */
static const double dead_cycles = 1e6; /* cycles [chosen] */

/* --- intervals: stack.c ---------------------------------------------------------------------- */

/* By so much a count is moved, to see how figures change with it: far above rounding, and straight. */
static const double gradient_step = 1e-4; /* of the count [chosen] */

/* --- phases: phases.c -------------------------------------------------------------------------- */

enum {
	/* A shorter one is a moment, not a phase. */
	SHORTEST_PHASE = 3, /* intervals [chosen] */
};
/* Noise is not less than this: a change of less than some times it is of no interest. */
static const double least_change = 0.002; /* of the cycles per instruction [chosen] */
/* Neighbours that are more alike are a slow change, not noise with memory. */
static const double most_memory = 0.8; /* correlation [chosen] */

#endif
