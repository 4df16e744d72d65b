/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a replay: how it ended, and its counts. */
#ifndef SHADOW_TRANSLATE_REPLAY_H
#define SHADOW_TRANSLATE_REPLAY_H

#include <hpcprof/model/window.h>

#include <stddef.h>
#include <stdint.h>

/*
 * What came of it. Counts are what ran between the first and the last of the samples `cuts`, part
 * by part; the last is the first that matched behind the wanted ones, or else the last that did:
 * each of them is of a state that came by only once between its neighbours. When the window's own
 * end has matched, the first is HP_REPLAY_START. With less than two such moments there are no
 * counts (part_count and block_count are 0). Without samples, counts are of everything that ran, as
 * one part.
 *
 * A count is exact up to one, for what is being entered or left at either end.
 */
#define HP_REPLAY_START SIZE_MAX

struct hp_replay {
	enum hp_window_end end;
	uint64_t end_address; /* of the instruction that ended it; 0 unknown */
	int64_t end_detail;   /* system call or signal number */
	size_t matched;	      /* wanted samples whose state came by */
	size_t ambiguous;     /* of these: more than once before the next match */
	/* Indices of samples: where parts begin, and the last ends. HP_REPLAY_START: the
	 * beginning. */
	size_t cuts[HP_WINDOW_PARTS + 1];
	size_t part_count;
	uint64_t instructions;		/* in all parts */
	struct hp_window_block *blocks; /* with a count, by address */
	size_t block_count;
	struct hp_window_edge *edges; /* with a count, by `from`, then `to` */
	size_t edge_count;
	uint64_t exits, translated; /* work done: stops of the shadow, new blocks */
	uint64_t replay_ns;
};

void hp_replay_free(struct hp_replay *replay);

#endif
