/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of the reference core that somebody had to choose, by subject.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * [chosen]: the source does not say, and nobody has measured it alone; scripts/stack-accuracy
 * --reference judges all together, by the truth of the same core.
 */
#ifndef HPCPROF_SRC_CYCLE_TUNING_H
#define HPCPROF_SRC_CYCLE_TUNING_H

/* --- what Eyerman et al. 2006 leave open of their core: config.c, code.c ---------------------- */

enum {
	/* "Hybrid bimodal/gshare": counters of each. */
	HYBRID_ENTRIES = 4096, /* counters [chosen] */
	/* 64 pages of code and 128 of data, as SimpleScalar has them. */
	TLB_WAYS = 4,	/* ways [chosen] */
	ITLB_SETS = 16, /* sets [chosen] */
	DTLB_SETS = 32, /* sets [chosen] */
	/* A walk of the page table. */
	TLB_CYCLES = 60, /* cycles [chosen] */
	/* What has no line in the table: sums and products of floating point, … */
	FP_CYCLES = 4, /* cycles [chosen] */
	/* … and, as SimpleScalar has them, of whole numbers, where no core's own table says it. */
	MULTIPLY_CYCLES = 3, /* cycles; resource table of sim-outorder.c */
	DIVIDE_CYCLES = 20,  /* cycles; the same */
	/* … and how many units there are, for 8 instructions that begin in a cycle. */
	LOAD_UNITS = 4,	    /* units [chosen] */
	MULTIPLY_UNITS = 2, /* units [chosen] */
	FP_UNITS = 4,	    /* units [chosen] */
};

/* --- what the tables of cores leave open: config.c --------------------------------------------- */

enum {
	/* Instructions that are fetched and wait for dispatch, beside those on their way. */
	FETCH_ENTRIES = 32, /* instructions [chosen] */
	/* 16 MiB for one program, as some parts have; others have 1 to 96. */
	L3_SETS = 16384, /* sets [chosen] */
	L3_WAYS = 16,	 /* ways [chosen] */
	/* Of what a mispredicted branch costs: it waits for dispatch and is executed. */
	OTHER_STAGES = 2, /* cycles: core.c */
};

/* --- accountings: accountings.h ----------------------------------------------------------------- */

enum {
	/* The oldest instruction waits for a load or another unit, and many wait with it. When it is done,
	 * these retire, and while they do the buffer is as full. Found with gzip, whose error it takes from
	 * 8.1 to 2.9 % of the cycles; it hardly shows in the others that were looked at. */
	DEPENDENT_CYCLES = 2, /* cycles; scripts/stack-accuracy --reference */
};

/* --- bounds: core.c, config.c ----------------------------------------------------------------- */

enum {
	/* The largest core of the tables has 576. */
	REORDER_MOST = 2048, /* slots [chosen] */
};

#endif
