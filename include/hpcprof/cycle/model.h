/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reference core whose cycles are known: a trace (uarch/trace.h) runs on it cycle by cycle, and
 * wrong paths are fetched from the trace's code. Each way to charge cycles to causes can be
 * compared with the truth on it: how much less time the same trace takes if a cause costs nothing.
 *
 * The core fetches, dispatches and retires in order, and executes out of order. Its models of
 * caches, TLBs and predictors are those of uarch/path.h. Loads on wrong paths hit, because their
 * addresses are not known. Stores leave the core in order, one per cycle, when they have retired
 * and their line has arrived. The cores of the tables have a store buffer of limited size; the
 * paper gives no size, and on its core nothing waits for stores.
 *
 * Truth. The cost of a cause depends on which other causes exist. As in Eyerman, Eeckhout,
 * Karkhanis, Smith, "A performance counter architecture for computing accurate CPI components",
 * ASPLOS 2006, section 5.1, causes are added one by one to a core without any, in two orders; the
 * two costs of a cause form a range.
 *
 * No system call, no randomness: the same trace gives the same figures. Structs and functions may
 * be used by several threads at a time, as long as each has results of its own.
 */
#ifndef HPCPROF_CYCLE_MODEL_H
#define HPCPROF_CYCLE_MODEL_H

#include <hpcprof/cycle/config.h>
#include <hpcprof/uarch/trace.h>

/* Ways to charge cycles to causes. */
enum hp_accounting {
	HP_ACCOUNTING_NAIVE,	      /* events times their latencies, wrong paths included */
	HP_ACCOUNTING_NAIVE_EXECUTED, /* without wrong paths */
	HP_ACCOUNTING_POWER5,	      /* what completion waits for */
	HP_ACCOUNTING_SFMT_PRINTED, /* shared front-end miss event table, as the paper prints it */
	HP_ACCOUNTING_FMT_PRINTED,  /* front-end miss event table, as printed */
	HP_ACCOUNTING_FMT_RESOLVED, /* a branch counts until it is resolved */
	HP_ACCOUNTING_FMT_MISSES,   /* and misses of code meanwhile are not charged to the branch */
	HP_ACCOUNTING_SFMT, /* and a miss of code costs nothing until the fetch buffer is empty */
	HP_ACCOUNTING_FMT,
	HP_ACCOUNTING_DISPATCH, /* slots lost at dispatch */
	HP_ACCOUNTING_COMMIT,	/* slots lost at retirement */
	HP_ACCOUNTINGS,
};

/* "naive" and so on. */
const char *hp_accounting_name(enum hp_accounting accounting);

/* What counters of cores count, with ideal semantics: slots of dispatch, and cycles. */
struct hp_cycle_counters {
	uint64_t path_slots, strayed_slots; /* dispatched: of the path, and beside it */
	/* Empty slots, and cycles without any, by why: nothing came from the front end; since a branch
	 * was resolved nothing of the path has; there was no room. */
	uint64_t front_slots, refill_slots, back_slots;
	uint64_t front_cycles, refill_cycles, back_cycles;
	uint64_t refill_late; /* of these, slots in cycles two to four after a branch */
	/* Cycles without room, by the full structure: the queue of loads and stores; any other. */
	uint64_t queue_cycles, buffer_cycles;
	uint64_t back_load_slots; /* of back_slots, those behind loads or a store */
	uint64_t back_memory;	  /* of these, those while data of memory were on the way */
	/* Cycles in which nothing retired: all; with nothing to retire; behind a load. */
	uint64_t no_retire, no_retire_empty, no_retire_load;
	/* Cycles in which nothing began: all; while a load was under way; while one was that missed
	 * the first, second, third level. */
	uint64_t stalled, stalled_load, stalled_l1, stalled_l2, stalled_l3;
	uint64_t load_cycles, l1_cycles;   /* the same cycles whether or not something began */
	uint64_t began_one, began_two;	   /* so many instructions began */
	uint64_t code_cycles, page_cycles; /* fetch waited for a line, a page */
	uint64_t divider;		   /* cycles in which the divider was busy */
	/* Dispatch lacked an entry for a store; … nothing began either, and no load was under way. */
	uint64_t store_full, store_bound;
};

/* What was counted on the measured part of a trace. */
struct hp_cycle_counts {
	uint64_t cycles, instructions, slots;
	uint64_t branches, mispredicts;
	/* By part, from UNITS on: misses of the path, and of what was fetched beside it. */
	uint64_t misses[HP_CYCLE_PARTS], strayed_misses[HP_CYCLE_PARTS];
	/* The cost of these if each took its whole latency. */
	uint64_t latencies[HP_CYCLE_PARTS], strayed_latencies[HP_CYCLE_PARTS];
};

struct hp_cycle_stack {
	double cpi[HP_CYCLE_PARTS]; /* they add up to that of the program */
};

struct hp_cycle_result {
	struct hp_cycle_counts counts;
	struct hp_cycle_counters counters;
	struct hp_cycle_stack stacks[HP_ACCOUNTINGS];
	/* Lowest and highest of the two orders. */
	struct hp_cycle_stack truth_low, truth_high;
	double fetch_low, fetch_high; /* of the base: cost of lines and branches that end a fetch */
	double one_pass_cpi;	      /* by uarch/timing.h */
};

struct hp_cycle_options {
	uint64_t warming; /* instructions that are not counted */
	uint64_t most;	  /* instructions in all; 0: the whole trace */
	bool has_truth;	  /* measure the truth: idealised runs, some 12 times the work */
};

/* USAGE for a machine that cannot be decoded; INSUFFICIENT if nothing is left to measure. */
struct hp_error *hp_cycle_measure(const struct hp_trace *trace,
				  const struct hp_cycle_config *config,
				  const struct hp_cycle_options *options,
				  struct hp_cycle_result *result);

/* Returns the largest error of a component, as a share of the cycles. */
double hp_cycle_error(const struct hp_cycle_result *result, enum hp_accounting accounting,
		      enum hp_cycle_part *worst);

#endif
