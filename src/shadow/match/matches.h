/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches, and whether to believe them.
 *
 * A state that comes by again and again (a loop whose counters are in memory) matches a sample the
 * first time round, not when the sample was taken; the next sample does the same, and a window
 * would be found that ran a hundredth of what it really did. Two things are known against it. The
 * shadow takes about as long as the original did, or longer: what matches much too early or late is
 * not the moment. And a state of that sort is back soon: a match is believed only after it has been
 * watched for a few times the distance of samples, and until well after its moment would have come
 * if it was early, and has not come by again.
 *
 * One that was believed all the same may have been another moment. What comes next is then too late
 * for it, one sample after the other: it is taken back.
 *
 * Where a window ends decides what it counts too often. Code that seldom matches makes long gaps between
 * matches, and of a window from the first to the last match of a stretch of time the gaps that reach
 * over either end are lost. So it goes on until the first match behind its end: then it has those gaps
 * that begin in the stretch, long ones as likely as short ones. Samples behind the end are for that.
 *
 * Time is the shadow's CPU time. Samples without times (all 0) are believed as soon as another has
 * matched, unless they have come by again until then.
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
	uint64_t watch_ns; /* how long a match is watched at least; 0: samples have no times */
	uint64_t part_ns;  /* of the original: how long a part is at least */
	struct match watched[WATCHED_MATCHES];
	size_t watched_count; /* oldest first */
	/* Believed, oldest first: the window's ends, and where it is cut into parts. All but the
	 * newest stay. */
	struct match believed[HP_WINDOW_PARTS + 1];
	size_t believed_count;
	/* The fastest, from the start to a believed one or between two of them: shadow time per time
	 * of the original; 0 unknown. Where it met new code it was slower. */
	double pace;
	double usual_pace; /* of windows before; 0 unknown */
	unsigned late;	   /* samples in a row that were */
};

/* Of the samples, `wanted` make the window, and those behind them its end. */
void matches_begin(struct matches *matches, pid_t pid, const struct hp_engine_sample *samples,
		   size_t count, size_t wanted, double usual_pace);
void matches_end(struct matches *matches);

/* The shadow's CPU time. */
uint64_t matches_now(const struct matches *matches);
bool matches_is_watched(const struct matches *matches, size_t sample);
/* The sample that matched last, believed or not yet; SIZE_MAX: none. */
size_t matches_newest(const struct matches *matches);
/* Whether the shadow cannot be there yet; or must long have been, even if it has come to so many new
 * blocks since the newest match. */
bool matches_is_too_early(const struct matches *matches, size_t sample, uint64_t now_ns);
bool matches_is_too_late(const struct matches *matches, size_t sample, uint64_t now_ns,
			 uint64_t blocks);
/* How much longer the ones that are watched will be. */
uint64_t matches_left_to_watch(const struct matches *matches, uint64_t now_ns);

/* The sample matches now. False when memory is short. */
bool matches_add(struct matches *matches, size_t sample, uint64_t now_ns,
		 const struct code_cache *cache);
/* It has matched, too late. After a few of them the newest match is taken back. */
void matches_add_late(struct matches *matches);
/* It has come by again. */
void matches_take_back(struct matches *matches, size_t sample);
/* Believes what has been watched long enough, and cuts the window there where it is time. */
void matches_settle(struct matches *matches, uint64_t now_ns);
/* The window has its end. */
bool matches_are_complete(const struct matches *matches);

#endif
