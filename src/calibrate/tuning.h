/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of calibration that somebody had to choose: how long the machine is measured, and when
 * a skid is clear.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	[chosen]	nobody has measured it alone; scripts/clock-accuracy judges the clock,
 *			tests/calibrate the rest
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 */
#ifndef HPCPROF_SRC_CALIBRATE_TUNING_H
#define HPCPROF_SRC_CALIBRATE_TUNING_H

/* --- the clock: clock.c ---------------------------------------------------------------------- */

enum {
	/* The clock comes from the difference of two lengths of a chain of additions, in which the
	 * cost of reading the time cancels. The chain has 64 additions per round: 1,024, … */
	CLOCK_SHORT_ROUNDS = 16, /* rounds [chosen] */
	/* … and 32,768. Shorter chains repeat less exactly, and much longer ones contain timer
	 * interrupts. scripts/clock-accuracy prints the error of the whole. */
	CLOCK_LONG_ROUNDS = 512, /* rounds; scripts/clock-accuracy */
	/* The shortest of so many counts, as interruptions only make it longer. */
	CLOCK_TRIES = 3, /* measurements [chosen] */
	/* A thread that waits for a measurement on another CPU checks it so often, … */
	CLOCK_MOMENTS = 25, /* looks [chosen] */
	/* … at this distance: 5 ms in all. */
	CLOCK_MOMENT_NS = 200000, /* ns of wall time [chosen] */
};

/* --- whether the core is shared: sharing.c ---------------------------------------------------- */

enum {
	/* Rounds of 15 or 21 cycles, at two lengths as of the clock: 3 or 4 microseconds, … */
	SHARING_SHORT_STORES = 64, /* rounds [chosen] */
	SHARING_LONG_STORES = 768, /* rounds [chosen] */
	/* … and of some 260 or 400. */
	SHARING_SHORT_CHAINS = 4, /* rounds [chosen] */
	SHARING_LONG_CHAINS = 32, /* rounds [chosen] */
	/* What the fence at the end of a round of the latter takes, more or less. */
	SHARING_FENCE = 20, /* cycles; scripts/machine/measure_core */
	/* The other thread may begin and end meanwhile, and interrupts come: most of so many tell. */
	SHARING_TRIES = 5, /* measurements [chosen] */
};
/* How far a round may be from what is expected: less than half of the distance between the two. */
static const double sharing_tolerance = 0.15; /* share [chosen] */

/* --- the machine's speed now, which tells runs apart: reference.c ---------------------------- */

enum {
	/* Memory that is read: twice the 2 MiB of second-level cache that the largest common cores
	 * have. */
	REFERENCE_BYTES = 4194304, /* bytes: 4 MiB [chosen] */
	/* Rounds of additions: some ten microseconds, so that most are not interrupted. */
	REFERENCE_ROUNDS = 65536, /* rounds [chosen] */
	/* Of additions the shortest of so many counts, of reads their mean. */
	REFERENCE_TRIES = 5, /* measurements [chosen] */
};

/* --- latencies: latencies.c ------------------------------------------------------------------ */

enum {
	/* Memory that is chased through, for skid too: more than most third levels give to one
	 * core. */
	LATENCY_BYTES = 67108864, /* bytes: 64 MiB [chosen] */
	/* The largest third level that is looked for. */
	LATENCY_THIRD_BYTES = 33554432, /* bytes: 32 MiB [chosen] */
	/* The ring for memory, which comes first, has filled the third level, and lines do not stay there at once.
	 * On Emerald Rapids a load of 4 MiB in turn takes 250 to 320 cycles after one visit of each line, 110 to 150
	 * after two, and 100 after four, which is what scripts/machine/measure_core finds. */
	LATENCY_VISITS = 4, /* visits of each line [chosen] */
	/* A third level of the size that was found is taken to have so many ways. */
	LATENCY_WAYS = 16, /* ways [chosen] */
	/* The median of so many parts, … */
	LATENCY_PARTS = 5, /* parts [chosen] */
	/* … each so long: 0.2 to 2 ms. */
	LATENCY_STEPS = 4096, /* loads, or branches [chosen] */
	/* What is to miss in the first level is so many times its size: in half of the second, its TLB misses
	 * add up to 3 cycles (scripts/machine/measure_core), and another thread of the core evicts lines. */
	LATENCY_SECOND_TIMES = 4, /* sizes of the first level */
	/* The shortest time between two readings of the clock, of so many. */
	LATENCY_CLOCK_TRIES = 9, /* measurements [chosen] */
	/* A TLB that is to miss is asked for so many times its entries. */
	LATENCY_TLB_TIMES = 2, /* times [chosen] */
	/* A wrong guess takes between so many cycles … */
	LATENCY_LEAST_GUESS = 8, /* cycles [chosen] */
	/* … and so many; else something has disturbed the measurement. */
	LATENCY_MOST_GUESS = 40, /* cycles [chosen] */
};

/* --- skid: skid.c, skid_kernels.c, skid_cache.c ----------------------------------------------- */

enum {
	/* Kernels are sampled at this rate, … */
	SKID_HZ = 4000, /* samples per second [chosen] */
	/* … until there are so many samples. */
	SKID_SAMPLES = 1000, /* samples per kernel [chosen] */
	/* The samples are looked at so often, … */
	SKID_MOMENT_NS = 20000000, /* ns of wall time [chosen] */
	/* … for so long at most: where hardly any come, calibration is to end, too. */
	SKID_PATIENCE_NS = 1500000000, /* ns of wall time per kernel [chosen] */
	/* With fewer nothing is said of a kernel: the error of a share is then 5 points. */
	SKID_LEAST_SAMPLES = 100, /* samples per kernel [chosen] */
	/* What the kernel of a near cache chases pointers in: more than a first-level cache. */
	SKID_NEAR_BYTES = 262144, /* bytes: 256 KiB [chosen] */
	/* A file of calibrations is no longer than this. */
	SKID_FILE_LIMIT_BYTES = 1048576, /* bytes: 1 MiB [bound] */
};

/* A skid is clear when on average more samples than this are at one place, and most kernels agree
 * on it. */
static const double skid_clear_share = 0.5; /* share of samples [chosen] */

#endif
