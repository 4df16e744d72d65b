/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chosen constants of the models, by model.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a text		from which it follows, by its title
 *	[chosen]	nobody has measured it alone; scripts/cause-accuracy judges all together
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 *
 * Sizes of caches, TLBs and queues of a core are in src/isa/machine; those of the generic core, which
 * is none, in geometry.c.
 */
#ifndef HPCPROF_SRC_UARCH_TUNING_H
#define HPCPROF_SRC_UARCH_TUNING_H

/* --- bounds of what can be asked for: geometry.c --------------------------------------------- */

enum {
	/* A set is an array that is moved: beyond this a use would take long. Fully associative TLBs
	 * have up to 96 entries. */
	WAYS_MOST = 256, /* ways [bound] */
	/* Lines or pages in one structure: 64 MiB of cache, in 16 MiB of memory, and as much for hints. */
	BLOCKS_MOST = 1 << 20, /* blocks [bound] */
	/* One table of a predictor. */
	ENTRIES_MOST = 1 << 18, /* entries [bound] */
	/* Tables with tags, each of another history. */
	TABLES_MOST = 8, /* tables [bound] */
	/* The longest history of them. */
	HISTORY_MOST = 500, /* taken branches [bound] */
	RETURNS_MOST = 256,  /* calls [bound] */
	STORES_MOST = 1024,  /* stores [bound] */
};

/* --- sets: sets.c ---------------------------------------------------------------------------- */

enum {
	/* Blocks that share a hint take it from each other. */
	HINTS_PER_BLOCK = 4, /* hints, four bytes each [chosen] */
};

/* --- the branch predictor's size: geometry.c, indirect.c ------------------------------------- */

/* Some 20 KiB in all, of the size of those that cores are said to have; none says what it has. */
enum {
	BASE_ENTRIES = 8192,	/* counters [chosen] */
	TAGGED_TABLES = 6,	/* tables [chosen] */
	TAGGED_ENTRIES = 1024,	/* in each [chosen] */
	SHORTEST_HISTORY = 5,	/* taken branches; Seznec and Michaud 2006 */
	LONGEST_HISTORY = 130,	/* taken branches; Zen 5, scripts/machine/measure_core */
	LOOP_ENTRIES = 64,	/* loops [chosen] */
	INDIRECT_ENTRIES = 512, /* targets in each table [chosen] */
	/* Branches whose last target is known by their address: their target buffers have thousands. */
	LAST_TARGETS = 8192, /* branches, a power of two [chosen] */
	/* Branches of a set of those whose target is known at once. On Golden Cove all of them may be 16 or 64 bytes
	 * apart; sets are chosen by a hash, so few of them would overflow soon. */
	EARLY_WAYS = 64, /* branches [chosen] */
	/* 31 or 32 on Zen, 16 on Skylake, 24 on Golden Cove. */
	RETURN_ENTRIES = 32, /* calls [chosen] */
};

/* --- how it learns: tage.c, loop.c, indirect.c, history.c, predictor.c ------------------------ */

enum {
	/* Two branches that meet in an entry are taken for each other once in 2,048 times. */
	TAG_BITS = 11, /* bits [chosen] */
	TAG_MASK = (1 << TAG_BITS) - 1,
	/* What a branch does at its first executions is new to these tables; the core knew it. */
	COLD_EXECUTIONS = 8, /* executions [chosen] */
	/* Mispredictions that find no place for a new entry, until entries get less useful. */
	AGING_FAILURES = 1024, /* more than those that do [chosen] */
	/* A branch is predicted in time by at most so many before it, … */
	AT_ONCE_HISTORY = 18, /* taken branches; Zen 4, scripts/machine/measure_core */
	/* … of so many that do otherwise than their address tells. */
	AT_ONCE_ENTRIES = 1024, /* a power of two; as above */
	/* Rounds of the same length in a row, until the length of a loop is taken for constant. */
	LOOP_CONFIDENCE = 3, /* rounds; Seznec and Michaud 2006 */
	/* The longest round that is counted. */
	LOOP_LONGEST = 65000, /* executions [chosen] */
	/* Candidates for its place that a loop outlives. */
	LOOP_AGE = 15, /* candidates [chosen] */
};

/* --- prefetchers: prefetch.h, prefetch.c, path.c ---------------------------------------------- */

/* No vendor says what its prefetchers do in full. These follow what Intel's and AMD's optimization
 * manuals say of them: by instruction, strides; by page, neighbouring lines in either direction.
 * scripts/machine/measure_core shows on Zen 5 that lines in order are not waited for, also from page to
 * page, and seldom what a load finds in equal steps, however long these are. */
enum {
	/* Loads that missed and are followed; a power of two. */
	STRIDES = 64, /* loads [chosen] */
	/* Equal strides in a row, until lines are brought. */
	STRIDE_SURE = 2, /* strides [chosen] */
	/* How far ahead, but at least the next line, … */
	STRIDES_AHEAD = 4, /* strides [chosen] */
	/* … with each further stride so many more, … */
	STRIDES_GROWTH = 2, /* strides [chosen] */
	/* … up to so many. */
	STRIDES_FAR = 16, /* strides [chosen] */
	/* Equal ones in a row that are remembered, half of them when the load goes elsewhere. */
	STRIDES_KEPT = 8, /* strides [chosen] */
	/* Equal strides of a load in a row, until a core that follows pointers follows those that it loads (after 16
	 * to 40, by the moment), … */
	POINTERS_SURE = 32, /* strides; Golden Cove, scripts/machine/measure_core */
	/* … so many ahead, … */
	POINTERS_AHEAD = 4, /* strides [chosen: each takes a quarter of the latency where nothing is done with it] */
	/* … but not one of so many, which it drops by no rule that is known. */
	POINTERS_LOST = 6, /* pointers [chosen: a quarter by that script, an eighth where more is done with each] */
	/* Pages that are followed; a power of two. Each has one place, so these are more than the 32 of Intel
	 * 248966, to keep about as many. */
	STREAMS = 128, /* pages [chosen] */
	/* Steps to a neighbouring line, until lines are brought, … */
	STREAM_SURE = 2, /* steps [chosen] */
	/* … so many ahead, … */
	STREAM_AHEAD = 4, /* lines [chosen] */
	/* … with each further step so many more, … */
	STREAM_GROWTH = 2, /* lines [chosen] */
	/* … up to so many. Then they may be those of the next page. */
	STREAM_FAR = 20, /* lines; Intel 248966, the streamer */
	/* Lines that were brought and not used; a power of two. Each has one place: so many that a dozen streams,
	 * each STREAM_FAR ahead, hardly ever meet. */
	BROUGHT = 4096, /* lines [chosen] */
	/* Instructions that a core executes while the second level, … */
	LATE_NEAR = 32, /* instructions [chosen] */
	/* … or what is behind it, gives a line. Used sooner, it is waited for. */
	LATE_FAR = 512, /* instructions [chosen] */
};

/* --- the store queue: stores.c --------------------------------------------------------------- */

enum {
	/* A load that follows so soon waits for the store itself. */
	YOUNG_STORE = 8, /* instructions [chosen] */
};

/* --- memory that is renamed: forwards.c ------------------------------------------------------- */

enum {
	/* Pairs of a store and a load that name their places by a register, until the core renames the
	 * next ones: behind each change of the register the first two or three took as long as others. */
	NAMED_PAIRS = 3, /* pairs; Zen 5, scripts/machine/measure_core */
	/* Loads of different pages are spread over the sets at random: a physical page is not known. */
	CODE_PAGE = 4096, /* bytes */
};

/* --- a third level that others use, too: caches.c --------------------------------------------- */

enum {
	/* Of its ways, one process has this part for sure, … */
	SHARED_SURE_PART = 4, /* parts of the ways [chosen] */
	/* … and this part in all likelihood: what is between is unknown. */
	SHARED_LIKELY_PART = 2, /* parts of the ways [chosen] */
};

/* --- page walks: tlb.c ------------------------------------------------------------------------ */

enum {
	/* Page tables have this part of the second cache; the rest is data and code. */
	TABLES_PART = 4, /* parts of the sets [chosen] */
};

/* --- the timing: timing.c --------------------------------------------------------------------- */

enum {
	/* A line that was asked for is there once so many reorder buffers have gone by: a load holds
	 * its own, a store waits behind others. */
	FILL_AGE = 4, /* reorder buffers [chosen] */
};

#endif
