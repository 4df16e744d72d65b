/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block whose executions are followed: its code in the form that models use, and the events so
 * far. Starts no threads.
 */
#ifndef SHADOW_SIMULATE_FOLLOWED_H
#define SHADOW_SIMULATE_FOLLOWED_H

#include "../translate/path_log.h"
#include "footprint.h"
#include "reuse.h"

#include <hpcprof/model/window.h>
#include <hpcprof/uarch/timing.h>

struct tally {
	uint32_t counts[HP_EVENT_KINDS];
};

/* An access of the block, its footprint, and its uses of the second levels. */
struct pattern {
	uint64_t ip;
	struct footprint footprint;
	struct reuse *reuse[SECOND_LEVELS]; /* NULL: none yet */
};

/* The code of one cache line. */
struct piece {
	uint64_t address; /* of its first instruction */
	uint32_t bytes;
	uint8_t first; /* index of its first instruction */
};

/* Ticks that the timing assigned. */
struct ticks {
	struct hp_lanes recent; /* since the last hp_timing_rebase */
	int64_t before[HP_LANES];
};

struct followed {
	uint64_t number;
	const struct path_plan *plan;
	uint64_t next; /* address after its last instruction */
	uint64_t last; /* address of its last instruction */
	uint32_t bytes;
	uint64_t runs;
	uint64_t told; /* of them; so many have been added to struct told */
	struct tally branch;
	size_t piece_count;
	struct piece *pieces;
	struct tally *fetches;	  /* by piece */
	size_t access_count;	  /* as in the plan, which may be gone when this is destroyed */
	struct pattern *patterns; /* by access */
	struct tally *accesses;
	struct hp_timed_insn *timed; /* by instruction; NULL: the block is not timed */
	struct ticks spent;	     /* ticks before `each` existed */
	struct ticks *each;	     /* by instruction; NULL: it has not run often enough yet */
	uint64_t runs_before;	     /* runs before `each` existed */
};

/* NULL: out of memory. The plan is borrowed. `core`: for the timing; NULL: the block is not
 * timed. */
struct followed *followed_create(const struct path_plan *plan, uint64_t number,
				 const struct hp_core *core);
void followed_destroy(struct followed *followed);
/* Counts one more run. */
void followed_run(struct followed *followed);
/* Called before the timing is rebased. */
void followed_settle(struct followed *followed);

#endif
