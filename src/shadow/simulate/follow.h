/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a logged path (translate/path_log.h) with models, block by block, and counts events per
 * instruction. Starts no threads.
 */
#ifndef SHADOW_SIMULATE_FOLLOW_H
#define SHADOW_SIMULATE_FOLLOW_H

#include "../translate/path_log.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/model/window.h>
#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/timing.h>

struct followed;
struct tracing;

/* Accesses of one instruction that are timed; the rest of them are not. */
enum { TIMED_ACCESSES = 8 };
/* With more the address follows pointers. */
enum { MOST_LOADED = 3 };

struct follower {
	const struct path_plan *(*plan_of)(const void *context, uint64_t block);
	const void *context;
	struct hp_uarch *uarch;
	struct hp_timing *timing; /* NULL: there is none */
	const struct hp_core *core;
	struct tracing *tracing;		      /* NULL: the path is not kept. Borrowed */
	struct hp_timed_access timed[TIMED_ACCESSES]; /* of the instruction that is followed */
	unsigned timed_count;
	/* Of each register's value: how many loads, one at what the one before it loaded, it is
	 * made of, up to MOST_LOADED; and the same of the address of the instruction that is
	 * followed. */
	uint8_t loaded[HP_REGISTER_COUNT + HP_TIMED_FLAGS];
	unsigned loads_behind;
	struct hp_lanes uncounted; /* what was timed while the models warm up */
	uint64_t fs_base;
	uint64_t warming;      /* instructions whose events do not count */
	uint64_t instructions; /* followed; repeated accesses as what their lines are worth */
	/* The block that is being read, and what of its words there is. */
	struct followed *reading;
	uint64_t words[PATH_MOST_WORDS];
	unsigned word_count;
	struct followed *before;    /* the block that ran last, whose branch led here */
	struct followed **by_block; /* PATH_MOST_BLOCKS. Owned */
	HP_VECTOR(struct followed *) all;
	bool is_lost; /* memory is short, or the log makes no sense: nothing more is followed */
};

/* False when memory is short. The models are borrowed; without a timing nothing is timed. */
bool follower_create(struct follower *follower, struct hp_uarch *uarch, struct hp_timing *timing,
		     const struct hp_core *core);
void follower_clear(struct follower *follower);

/* A new path; `goes_on`: of the program that the one before was of. Plans stay as they are until
 * the next call. */
void follower_begin(struct follower *follower, bool goes_on,
		    const struct path_plan *(*plan_of)(const void *, uint64_t), const void *context,
		    uint64_t fs_base, uint64_t warming);
void follower_take(struct follower *follower, const uint64_t *words, size_t count);
/* Sets what the window says about events; nothing when memory is short. */
void follower_tell(const struct follower *follower, struct hp_window *window);
/* Adds the cycles of a second follower, whose models have other sizes. */
void follower_tell_resized(const struct follower *follower, uint64_t resizes,
			   struct hp_window *window);

#endif
