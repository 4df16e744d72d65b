/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block whose executions are followed: its code in the form that models use, and the events so
 * far. Starts no threads.
 */
#ifndef SHADOW_SIMULATE_FOLLOWED_H
#define SHADOW_SIMULATE_FOLLOWED_H

#include "../translate/path_log.h"
#include "footprint.h"

#include <hpcprof/model/window.h>
#include <hpcprof/uarch/timing.h>

struct tally {
	uint32_t counts[HP_EVENT_KINDS];
};

/* An access, and what it does with memory. */
struct pattern {
	uint64_t ip;
	struct footprint footprint;
};

/* Code of one line. */
struct piece {
	uint64_t address; /* of its first instruction */
	uint32_t bytes;
	uint8_t first; /* instruction */
};

/* What the timing spent on something, in ticks. */
struct ticks {
	struct hp_lanes recent; /* since hp_timing_rebase was called last */
	int64_t before[HP_LANES];
};

struct followed {
	uint64_t number;
	const struct path_plan *plan;
	uint64_t next; /* behind its last instruction */
	uint64_t last; /* its last instruction */
	uint32_t bytes;
	uint64_t runs;
	struct tally branch;
	size_t piece_count;
	struct piece *pieces;
	struct tally *fetches;	  /* by piece */
	struct pattern *patterns; /* by access */
	struct tally *accesses;
	struct hp_timed_insn *timed; /* by instruction; NULL: not timed */
	struct ticks spent;	     /* before `each` was there */
	struct ticks *each;	     /* by instruction; NULL: it did not run often yet */
	uint64_t runs_before;	     /* `each` was there */
};

/* NULL when memory is short. The plan is borrowed. `core`: to be timed with; NULL: it is not. */
struct followed *followed_create(const struct path_plan *plan, uint64_t number,
				 const struct hp_core *core);
void followed_destroy(struct followed *followed);
/* One more run counts. */
void followed_run(struct followed *followed);
/* The timing is going to be rebased. */
void followed_settle(struct followed *followed);

#endif
