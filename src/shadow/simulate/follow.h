/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a logged path (translate/path_log.h) with models, block by block, and counts events by
 * instruction. No threads here. */
#ifndef SHADOW_SIMULATE_FOLLOW_H
#define SHADOW_SIMULATE_FOLLOW_H

#include "../translate/path_log.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/model/window.h>
#include <hpcprof/uarch/path.h>

/* Of one block; see follow.c. */
struct followed;

struct follower {
	const struct path_plan *(*plan_of)(const void *context, uint64_t block);
	const void *context;
	struct hp_uarch *uarch;
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

/* False when memory is short. The models are borrowed. */
bool follower_create(struct follower *follower, struct hp_uarch *uarch);
void follower_clear(struct follower *follower);

/* A new path. Plans stay as they are until the next call. */
void follower_begin(struct follower *follower,
		    const struct path_plan *(*plan_of)(const void *, uint64_t), const void *context,
		    uint64_t fs_base, uint64_t warming);
void follower_take(struct follower *follower, const uint64_t *words, size_t count);
/* Sets what the window says about events; nothing when memory is short. */
void follower_tell(const struct follower *follower, struct hp_window *window);

#endif
