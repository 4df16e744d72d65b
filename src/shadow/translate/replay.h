/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a replay: how it ended, and its counts. */
#ifndef SHADOW_TRANSLATE_REPLAY_H
#define SHADOW_TRANSLATE_REPLAY_H

#include <hpcprof/model/window.h>

#include <stddef.h>
#include <stdint.h>

/*
 * Result of a replay. Counts cover what ran between the first and the last of the samples `cuts`,
 * divided into parts. The last one is the first match at or after the wanted samples, or else the
 * last match. The state of each of these samples has occurred only once between its neighbours. If
 * the window's own end has matched, the first is HP_REPLAY_START. With fewer than two such moments
 * there are no counts (part_count and block_count are 0). Without samples, counts cover everything
 * that ran, as one part. A count is exact within one, for the block being entered or left at either
 * end.
 */
#define HP_REPLAY_START SIZE_MAX

struct hp_replay {
	enum hp_window_end end;
	uint64_t end_address; /* address of the instruction that ended it; 0: unknown */
	int64_t end_detail;   /* number of the system call or signal */
	size_t matched;	      /* wanted samples whose state has occurred */
	/* Indices of the samples at which parts begin, and at which the last one ends.
	 * HP_REPLAY_START: the beginning. */
	size_t cuts[HP_WINDOW_PARTS + 1];
	size_t part_count;
	uint64_t instructions;		/* summed over all parts */
	struct hp_window_block *blocks; /* those with a count, by address */
	size_t block_count;
	struct hp_window_edge *edges; /* those with a count, by `from`, then `to` */
	size_t edge_count;
	uint64_t exits, translated; /* work done: stops of the shadow, and new blocks */
	uint64_t replay_ns;
};

void hp_replay_free(struct hp_replay *replay);

#endif
