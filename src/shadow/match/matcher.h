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
#include "x86_check.h"
#include "../tuning.h"
#include "../translate/x86_translate.h"

/* In a trap's number: it is a sample's, not an exit's. */
#define MATCHER_TRAP 0x80000000U

struct matcher_state; /* of one sample */

/* Memory of the shadow whose content is only about the original's. */
struct matcher_guess {
	uint64_t start, end;
};

struct matcher {
	struct x86_translator *translator;
	const struct hp_engine_sample *samples;
	size_t count;
	struct matcher_state *states; /* by sample. Owned */
	struct matches matches;	      /* those that have matched */
	uint64_t translated;	      /* when the newest of them did, as the translator counts */
	uint64_t seen_ns;	      /* when a sample's state occurred last, believed or not; 0 never */
	uint64_t seen_translated;     /* the same, as the translator counts */
	size_t armed[MATCHER_AHEAD + WATCHED_MATCHES + 1];
	size_t armed_count;
	HP_VECTOR(uint32_t) armed_blocks;
	struct matcher_guess guesses[MATCHER_GUESSES]; /* the latest, in turn; unused ones are 0 */
	size_t guessed;
	bool is_full; /* no room for copies: nothing is armed */
};

/* `general` are the registers that the replay starts from; `wanted` and `usual_pace` are as in
 * matches_begin; `has_end`: the last sample is the end of matches_set_end. */
struct hp_error *matcher_begin(struct matcher *matcher, struct x86_translator *translator,
			       pid_t pid, const struct hp_engine_sample *samples, size_t count,
			       size_t wanted, bool has_end, const uint64_t general[X86_REGISTERS],
			       double usual_pace);
/* Leaves no block armed. */
void matcher_end(struct matcher *matcher);

/* Memory that states are not told apart by from now on: see hp_engine_call. */
void matcher_guess(struct matcher *matcher, uint64_t at, uint64_t bytes);

/* There are new blocks, or some are counted now: they may hold an armed sample's address. */
void matcher_arm_new(struct matcher *matcher);

enum matcher_verdict {
	MATCHER_OTHER,	   /* not this sample's state after all */
	MATCHER_NEXT,	   /* a sample further on has matched */
	MATCHER_AMBIGUOUS, /* one that had matched, once more */
	MATCHER_NO_MEMORY,
};

/* The shadow has trapped with this sample's registers; its memory is read from `memory_fd`. Arms
 * others as that may need. */
enum matcher_verdict matcher_judge(struct matcher *matcher, size_t sample, int memory_fd,
				   uint64_t flags);

/* See matches_lost_ns; UINT64_MAX, too: no sample is left to wait for. */
uint64_t matcher_lost_ns(const struct matcher *matcher);

/* Whether any sample is left to wait for. */
bool matcher_is_done(const struct matcher *matcher);

#endif
