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
 * A program that does the same in rounds has each state once per round, for longer than any match is
 * watched. So the state of the first match that was believed is looked for until the replay ends. If it
 * occurs again, or those of several other samples do, matches of samples say nothing: the window has counts
 * only if its own end, of which more is known, matches, and it has one part. A replay that is lost within its
 * first round does not show that there are rounds: after a window that did, one without its own end has no
 * counts either.
 *
 * A state that the original was in behind a wait is not that of a copy that has made no call yet
 * (hp_engine_sample.follows_call).
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
 * longer than others. Nor is it refused because it is early: code that waits to be fetched runs many times
 * as fast in a copy, whose blocks lie in the order in which they ran. Then it is watched until it would be
 * late at any pace, and withdrawn if its state recurs.
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
	uint64_t cpu_ns;   /* the shadow's CPU time when it matched */
	uint64_t until_ns; /* until then it is watched */
	struct shadow_counts counts;
};

/* What earlier windows told. */
struct matches_past {
	double pace; /* mean of the replays so far, in which the latest count most; 0: unknown */
	bool was_in_rounds; /* the latest window that had its own end */
};

struct matches {
	const struct hp_engine_sample *samples;
	size_t wanted;	 /* the first match at or after this sample ends the window */
	clockid_t clock; /* the shadow's CPU clock */
	uint64_t start_ns;
	double slowness;   /* see matches_slow_down */
	uint64_t slow_ns;  /* shadow's CPU time when that began */
	uint64_t spare_ns; /* time lost by slow-downs before that */
	/* shortest time for which a match is watched; 0: samples have no times */
	uint64_t watch_ns;
	uint64_t part_ns; /* shortest length of a part, in the original's time */
	struct match watched[WATCHED_MATCHES];
	size_t watched_count; /* the oldest first */
	/* Believed matches, the oldest first: the window's end, and where it is divided into parts.
	 * All but the newest stay. */
	struct match believed[HP_WINDOW_PARTS + 1];
	size_t believed_count;
	/* The fastest pace, from the start to a believed match or between two of them: the shadow's
	 * time divided by the original's; 0: unknown. Where the path met new code, the shadow was
	 * slower. */
	double pace;
	struct matches_past past;
	size_t end;	    /* the sample that is the window's own end; SIZE_MAX: there is none */
	struct match start; /* start of the replay. Its sample is SIZE_MAX */
	unsigned late;	    /* number of samples in a row that matched too late */
	size_t kept;	    /* the first sample that was believed; SIZE_MAX: none was */
	bool is_in_rounds;  /* states occur in each of several rounds */
	bool is_told;	    /* by matches_tell */
};

/* `wanted`: number of samples that make up the window; those after them may end it. */
void matches_begin(struct matches *matches, pid_t pid, const struct hp_engine_sample *samples,
		   size_t count, size_t wanted, const struct matches_past *past);
void matches_clear(struct matches *matches);

/* Tells that the last sample is the window's own end. Called before anything has run. */
void matches_set_end(struct matches *matches);
bool matches_is_end(const struct matches *matches, size_t sample);
/* Adds what this window tells, if it has moments. */
void matches_remember(const struct matches *matches, struct matches_past *past);
/* The moments between which the parts lie, the oldest first: none, or at least two. If the window
 * has its own end, the first is the start of the replay. */
size_t matches_moments(const struct matches *matches,
		       const struct match *moments[HP_WINDOW_PARTS + 1]);

/* The shadow's CPU time without what it was slowed down. */
uint64_t matches_now(const struct matches *matches);
/* From now on the shadow takes `times` as long for the same path (1: as usual). */
void matches_slow_down(struct matches *matches, double times);
bool matches_is_watched(const struct matches *matches, size_t sample);
/* The sample that matched last, believed or watched; SIZE_MAX: none. */
size_t matches_newest(const struct matches *matches);
/* Whether the shadow cannot have reached the sample yet; or must have passed it, even if it met so
 * many new blocks since the newest match. */
bool matches_is_too_early(const struct matches *matches, size_t sample, uint64_t now_ns);
bool matches_is_too_late(const struct matches *matches, size_t sample, uint64_t now_ns,
			 uint64_t blocks);
/* Whether the sample's state can be its moment: it is not too early, or would be the window's own end, and
 * states are not known to recur. */
bool matches_can_be(const struct matches *matches, size_t sample, uint64_t now_ns);
/* The shadow's CPU time at which it must have left the original's path, unless a sample's state
 * occurs earlier. The last one occurred at `seen_ns`, `next` is the next sample that may match, and
 * the shadow has met so many new blocks since. UINT64_MAX: samples have no times, or the shadow's
 * pace is unknown. */
uint64_t matches_lost_ns(const struct matches *matches, size_t next, uint64_t seen_ns,
			 uint64_t blocks);
/* For how much longer the watched matches are to be watched. */
uint64_t matches_left_to_watch(const struct matches *matches, uint64_t now_ns);

/* The sample matches now. False: out of memory. */
bool matches_add(struct matches *matches, size_t sample, uint64_t now_ns,
		 const struct code_cache *cache);
/* The copy is certainly at the sample's moment, so the match is believed at once. False: out of
 * memory. */
bool matches_tell(struct matches *matches, size_t sample, const struct code_cache *cache);
/* A sample has matched too late. After a few of these the newest match is taken back. */
void matches_add_late(struct matches *matches);
/* Whether the sample's state is looked for although its match is believed. */
bool matches_is_kept(const struct matches *matches, size_t sample);
/* The state of a kept or watched match has occurred in another round, or those of several samples have. */
void matches_meet_again(struct matches *matches);
/* Takes back the sample's match, because its state has occurred again. */
void matches_take_back(struct matches *matches, size_t sample);
/* Believes matches that were watched long enough, and ends a part where one is long enough. */
void matches_settle(struct matches *matches, uint64_t now_ns);
/* Called when nothing runs any more. Believes matches that were watched long enough, and, if the
 * window's own end has matched, that and all matches before it. */
void matches_finish(struct matches *matches, uint64_t now_ns);
/* Whether the end of the window is believed. */
bool matches_are_complete(const struct matches *matches);

#endif
