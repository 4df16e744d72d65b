/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a logged path (translate/path_log.h) with models, block by block, and counts events per
 * instruction. Starts no threads.
 */
#ifndef SHADOW_SIMULATE_FOLLOW_H
#define SHADOW_SIMULATE_FOLLOW_H

#include "../translate/path_log.h"
#include "reuse.h"
#include "told.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/model/window.h>
#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/pointers.h>
#include <hpcprof/uarch/timing.h>

struct followed;
struct tracing;

/* Number of accesses of one instruction that are timed. */
enum { TIMED_ACCESSES = 8 };
/* An address made by more loads than this counts as following pointers. */
enum { MOST_LOADED = 3 };

struct follower {
	const struct path_plan *(*plan_of)(const void *context, uint64_t block);
	const void *context;
	struct hp_uarch *uarch;
	struct hp_timing *timing; /* NULL: nothing is timed */
	const struct hp_core *core;
	struct tracing *tracing;		      /* NULL: the path is not kept. Borrowed */
	struct hp_timed_access timed[TIMED_ACCESSES]; /* accesses of the current instruction */
	unsigned timed_count;
	/* Of each register: by how many successive loads its value was found, up to MOST_LOADED.
	 * The last element is that of the current instruction's address. */
	uint8_t loaded[HP_REGISTER_COUNT + HP_TIMED_FLAGS];
	unsigned loads_behind;
	struct hp_uarch_pointers pointers;
	struct hp_lanes uncounted; /* ticks while the models warmed up */
	uint64_t fs_base;
	uint64_t counted_from; /* instructions after which events are counted, … */
	uint64_t timed_from;   /* … and, shortly before, instructions are timed */
	uint64_t instructions; /* instructions followed; repeated accesses count by lines */
	/* The block being read, and how many of its words have been read. */
	struct followed *reading;
	uint64_t words[PATH_MOST_WORDS];
	unsigned word_count;
	struct followed *before;    /* the previous block, whose branch led here */
	struct followed **by_block; /* array of PATH_MOST_BLOCKS. Owned */
	HP_VECTOR(struct followed *) all;
	bool is_lost;	  /* memory is short or the log is damaged: nothing more is followed */
	struct reuse reuse[SECOND_LEVELS]; /* of all accesses since the path began */
	struct told told; /* what happened in the stretches that have ended */
};

/* False: out of memory. The models are borrowed. NULL for `timing`: nothing is timed. */
bool follower_create(struct follower *follower, struct hp_uarch *uarch, struct hp_timing *timing,
		     const struct hp_core *core);
void follower_clear(struct follower *follower);

/* Begins a new path. `goes_on`: it is of the same program as the previous one. Plans must stay
 * valid until the next call. */
void follower_begin(struct follower *follower, bool goes_on,
		    const struct path_plan *(*plan_of)(const void *, uint64_t), const void *context,
		    uint64_t fs_base, uint64_t warming);
/* Begins a later stretch of the same path, at this sample. `number`: below HP_WINDOW_PARTS, and above that of
 * the previous one; the first has number 0. */
void follower_resume(struct follower *follower, size_t number, size_t sample, uint64_t warming);
void follower_take(struct follower *follower, const uint64_t *words, size_t count);
/* Sets what was simulated in the window since it was last told; nothing when memory is short. `cuts` as in
 * told_hand_over. */
void follower_tell(struct follower *follower, const size_t *cuts, size_t part_count,
		   struct hp_window *window);
/* Adds the cycles of a second follower whose models have other sizes. */
void follower_tell_resized(const struct follower *follower, uint64_t resizes,
			   struct hp_window *window);

#endif
