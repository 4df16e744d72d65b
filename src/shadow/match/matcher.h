/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches the states that the target's samples recorded with states of a replay.
 *
 * A few of the next samples are armed at a time: each translated block that contains the address of
 * an armed sample is replaced by a copy that compares registers there (x86_check.h) and traps when
 * they agree; matcher_judge() then compares flags and memory. Samples match in their order. A
 * matched sample stays armed while it is watched (matches.h): if its state occurs again, the match
 * was ambiguous and is withdrawn.
 */
#ifndef SHADOW_MATCH_MATCHER_H
#define SHADOW_MATCH_MATCHER_H

#include "sample.h"
#include "matches.h"
#include "told_times.h"
#include "x86_check.h"
#include "../tuning.h"
#include "../translate/x86_translate.h"

/* Bit in a trap's number: the trap is a sample's, not an exit's. */
#define MATCHER_TRAP 0x80000000U

struct matcher_state; /* the state of one sample */

/* Memory of the shadow whose contents only resemble the original's, such as a time. */
struct matcher_guess {
	uint64_t start, end;
};

struct matcher {
	struct x86_translator *translator;
	const struct hp_engine_sample *samples;
	size_t count;
	struct matcher_state *states; /* one per sample. Owned */
	struct matches matches;	      /* those that have matched */
	/* when the newest of them matched, as counted by the translator */
	uint64_t translated;
	/* when a sample's state occurred last, believed or not; 0: never */
	uint64_t seen_ns;
	uint64_t seen_translated; /* the same, as counted by the translator */
	bool has_called; /* the copy has made a system call: see hp_engine_sample.follows_call */
	unsigned recurring;	  /* samples whose states occurred in several rounds */
	size_t armed[MATCHER_AHEAD + WATCHED_MATCHES + 2];
	size_t armed_count;
	HP_VECTOR(uint32_t) armed_blocks;
	/* the latest ones, as a ring; unused ones are 0 */
	struct matcher_guess guesses[MATCHER_GUESSES];
	size_t guessed;
	struct told_times told;
	bool is_full; /* there is no room for copies of code, so nothing is armed */
};

/* `general`: the registers that the replay starts from. `wanted` and `past`: see
 * matches_begin. `has_end`: the last sample is the end of matches_set_end. */
struct hp_error *matcher_begin(struct matcher *matcher, struct x86_translator *translator,
			       pid_t pid, const struct hp_engine_sample *samples, size_t count,
			       size_t wanted, bool has_end, const uint64_t general[X86_REGISTERS],
			       const struct matches_past *past);
/* Disarms all blocks. */
void matcher_end(struct matcher *matcher);

/* From now on this memory does not tell states apart: see hp_engine_call. It is read from
 * `memory_fd`. */
void matcher_guess(struct matcher *matcher, uint64_t at, uint64_t bytes, int memory_fd);

/* Called when there are new blocks, or blocks are counted that were not: they may contain an armed
 * sample's address. */
void matcher_arm_new(struct matcher *matcher);

/* Called when the path is logged from now on, or is not logged any more. */
void matcher_arm_again(struct matcher *matcher);

enum matcher_verdict {
	MATCHER_OTHER, /* the state is not this sample's, or its sample is given up */
	MATCHER_NEXT,  /* a later sample has matched */
	MATCHER_NO_MEMORY,
};

/* The shadow has trapped with this sample's registers. Its memory is read from `memory_fd`. Arms
 * other samples as necessary. */
enum matcher_verdict matcher_judge(struct matcher *matcher, size_t sample, int memory_fd,
				   uint64_t flags);

/* The copy is about to end, as the original did: the last sample, which has no state, matches. False: it
 * does not, as it is too early, the copy is lost, or there is no memory. */
bool matcher_take_end(struct matcher *matcher);

/* See matches_lost_ns. Also UINT64_MAX when no sample can match any more. */
uint64_t matcher_lost_ns(const struct matcher *matcher);

/* Whether this is asked of the sample for the first time. It may match, be taken back, and match again. */
bool matcher_is_new(struct matcher *matcher, size_t sample);

/* Whether no sample can match any more. */
bool matcher_is_done(const struct matcher *matcher);
/* Whether the program runs in rounds that neither samples nor the window's end tell apart. */
bool matcher_is_hopeless(const struct matcher *matcher);

#endif
