/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The matches of a replay, and which of them to believe.
 *
 * The state of a loop whose counters are in memory occurs in every iteration. Such a state matches a
 * sample in the first iteration, not in the one in which the sample was taken; the next sample does
 * the same, and the window would seem to have run a hundredth of what it really ran. Two rules
 * exclude that:
 *
 *	time		A copy takes about as long as the original, or longer. A state that occurs much
 *			too early or too late is not the sample's moment.
 *	repetition	A match is watched for a few intervals between samples; if it came early, until
 *			well after its expected moment. If its state occurs again meanwhile, the match
 *			is withdrawn; otherwise it is believed.
 *
 * After a wrong match, later samples seem late. After a few late ones in a row it is withdrawn.
 *
 * The choice of a window's end affects what is counted. Code that seldom matches makes long gaps
 * between matches. If a window went from the first match in a stretch of time to the last one in
 * it, the gaps across both ends would be lost, long ones more often than short ones. So it
 * continues to the first match after the end of the stretch, and includes each gap that begins in
 * the stretch. The samples after `wanted` serve this purpose.
 *
 * A window may also end at a second stop of the original, whose state is known in much more detail
 * than a sample's. It is the last sample. When it matches, the window is everything between the copy
 * and that moment, no matter how few samples match in between: both ends were chosen by time alone.
 * Its memory distinguishes its state from others, so it is never considered late, and is watched no
 * longer than others.
 *
 * Time is the copy's CPU time. Samples without times (all 0) are believed as soon as another one has
 * matched, unless they have occurred again before.
 */
#ifndef SHADOW_MATCH_MATCHES_H
#define SHADOW_MATCH_MATCHES_H

#include "../translate/counts.h"
#include "sample.h"
#include "../tuning.h"

#include <hpcprof/model/window.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct match {
	size_t sample;
	uint64_t cpu_ns;   /* of the shadow, when it matched */
	uint64_t until_ns; /* it is watched */
	struct shadow_counts counts;
};

struct matches {
	const struct hp_engine_sample *samples;
	size_t wanted;	 /* the first one that has matched at or behind so many ends the window */
	clockid_t clock; /* the shadow's */
	uint64_t start_ns;
	double slowness;   /* see matches_slow_down */
	uint64_t slow_ns;  /* of the shadow's CPU time: since then */
	uint64_t spare_ns; /* what it took longer before that */
	uint64_t watch_ns; /* how long a match is watched at least; 0: samples have no times */
	uint64_t part_ns;  /* of the original: how long a part is at least */
	struct match watched[WATCHED_MATCHES];
	size_t watched_count; /* oldest first */
	/* Believed, oldest first: the window's ends, and where it is cut into parts. All but the
	 * newest stay. */
	struct match believed[HP_WINDOW_PARTS + 1];
	size_t believed_count;
	/* The fastest, from the start to a believed one or between two of them: shadow time per
	 * time of the original; 0 unknown. Where it met new code it was slower. */
	double pace;
	double usual_pace;  /* of windows before; 0 unknown */
	size_t end;	    /* the sample that is the window's own end; SIZE_MAX: it has none */
	struct match start; /* of the replay. Its sample is SIZE_MAX */
	unsigned late;	    /* samples in a row that were */
};

/* Of the samples, `wanted` make the window, and those behind them its end. */
void matches_begin(struct matches *matches, pid_t pid, const struct hp_engine_sample *samples,
		   size_t count, size_t wanted, double usual_pace);
void matches_clear(struct matches *matches);

/* The last sample is the window's own end, and nothing has run yet. */
void matches_set_end(struct matches *matches);
bool matches_is_end(const struct matches *matches, size_t sample);
/* The moments between which parts lie, oldest first: none, or two and more. With the window's own
 * end the first is the start of the replay. */
size_t matches_moments(const struct matches *matches,
		       const struct match *moments[HP_WINDOW_PARTS + 1]);

/* The shadow's CPU time, less what it was slowed down. */
uint64_t matches_now(const struct matches *matches);
/* From now on the shadow takes so many times as long for the same path (1: as usual). */
void matches_slow_down(struct matches *matches, double times);
bool matches_is_watched(const struct matches *matches, size_t sample);
/* The sample that matched last, believed or not yet; SIZE_MAX: none. */
size_t matches_newest(const struct matches *matches);
/* Whether the shadow cannot be there yet; or must long have been, even if it has come to so many
 * new blocks since the newest match. */
bool matches_is_too_early(const struct matches *matches, size_t sample, uint64_t now_ns);
bool matches_is_too_late(const struct matches *matches, size_t sample, uint64_t now_ns,
			 uint64_t blocks);
/* When the shadow must have lost the original's path, unless a sample's state occurs before: the last one
 * occurred at `seen_ns`, and `next` is the next sample that may match; behind so many new blocks.
 * UINT64_MAX: samples have no times, or nothing has told the shadow's pace yet. */
uint64_t matches_lost_ns(const struct matches *matches, size_t next, uint64_t seen_ns,
			 uint64_t blocks);
/* How much longer the ones that are watched will be. */
uint64_t matches_left_to_watch(const struct matches *matches, uint64_t now_ns);

/* The sample matches now. False when memory is short. */
bool matches_add(struct matches *matches, size_t sample, uint64_t now_ns,
		 const struct code_cache *cache);
/* The copy is at the sample's moment for certain: it is believed at once. False when memory is
 * short. */
bool matches_tell(struct matches *matches, size_t sample, const struct code_cache *cache);
/* It has matched, too late. After a few of them the newest match is taken back. */
void matches_add_late(struct matches *matches);
/* Its state has occurred again. */
void matches_take_back(struct matches *matches, size_t sample);
/* Believes what has been watched long enough, and cuts the window there where it is time. */
void matches_settle(struct matches *matches, uint64_t now_ns);
/* Nothing more runs. Believes what has been watched long enough, and, if it has matched, the
 * window's own end with all that is before it. */
void matches_finish(struct matches *matches, uint64_t now_ns);
/* The window has its end. */
bool matches_are_complete(const struct matches *matches);

#endif
