/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sizes of the structures in the models of a core (path.h): caches, TLBs, prefetchers,
 * predictors and queues. Plain data without latencies; struct hp_core has the cost of events.
 *
 * For other sizes (of the running machine, of a command line), change a copy and check it with
 * hp_uarch_geometry_is_valid, which bounds the memory of the models.
 */
#ifndef HPCPROF_UARCH_GEOMETRY_H
#define HPCPROF_UARCH_GEOMETRY_H

#include <hpcprof/isa/machine.h>

#include <stdbool.h>
#include <stdint.h>

/* Sets need not be a power of two. What has no ways does not exist. */
struct hp_uarch_sets {
	uint32_t sets;
	uint32_t ways;
};

struct hp_uarch_predictor {
	uint32_t base_entries; /* counters by address alone; a power of two */
	bool is_hybrid; /* directions by such counters, as many with history, and a choice: no TAGE */
	uint32_t tagged_tables;	   /* of the histories below */
	uint32_t tagged_entries;   /* in each; a power of two */
	uint32_t shortest_history; /* taken branches that the first tagged table looks at, … */
	uint32_t longest_history;  /* … and the last; those between are a geometric series */
	uint32_t loop_entries;	   /* loops of constant length; a power of two, or 0 */
	uint32_t indirect_entries; /* targets in each table; a power of two */
	uint32_t return_entries;   /* calls whose returns are known */
	struct hp_uarch_sets early; /* taken branches whose target is known at once; none: all */
	struct hp_uarch_sets targets; /* the branch target buffer, of taken branches; none: all */
};

struct hp_uarch_geometry {
	uint32_t line_bytes; /* of all caches; a power of two */
	struct hp_uarch_sets l1i;
	struct hp_uarch_sets l1d;
	struct hp_uarch_sets l2;
	struct hp_uarch_sets l3;
	/* The third level is shared with other programs: its size is twice what serves this CPU,
	 * within a factor of two. For lines used long ago its answer is a guess. */
	bool l3_is_shared;
	bool l2_is_inclusive; /* a line that leaves the second level leaves the first, too */

	uint32_t page_bytes; /* of all pages; a power of two */
	struct hp_uarch_sets itlb;
	struct hp_uarch_sets dtlb;
	struct hp_uarch_sets tlb2;	/* the second TLB, for data */
	struct hp_uarch_sets tlb2_code; /* and for code; none: code shares that of data */

	struct hp_uarch_sets decoded; /* the cache of decoded instructions, */
	uint32_t decoded_bytes;	      /* of so many bytes of code each; a power of two */

	struct hp_uarch_predictor predictor;

	bool prefetches_pointers; /* fetches what arrays of pointers lead to */
	uint32_t reorder_slots; /* instructions in flight */
	uint32_t store_entries; /* stores that have not reached the cache */
};

/* A generic core of today. */
struct hp_uarch_geometry hp_uarch_geometry_generic(void);

/* The sizes of that core; the generic core's where they are unknown. */
struct hp_uarch_geometry hp_uarch_geometry_of(const struct hp_core *core);
/* What one hardware thread has of the core while another one is busy: half of the queues, which the timing
 * keeps, and where the two take turns half of the widths. Caches and predictors are shared by use, so they are
 * left as they are. */
void hp_uarch_share(struct hp_uarch_geometry *geometry, struct hp_core *core);

/* Whether models of these sizes can be made, in bounded memory: some 250 MB at most. */
bool hp_uarch_geometry_is_valid(const struct hp_uarch_geometry *geometry);

#endif
