/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reference for sets in order of use: blocks with the time of their last use, looked for one by
 * one. Nothing of it is fast, and nothing clever.
 */
#ifndef HPCPROF_TESTS_UARCH_LRU_H
#define HPCPROF_TESTS_UARCH_LRU_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum lru_answer { LRU_HIT, LRU_MISS, LRU_UNKNOWN };

struct lru_block {
	uint64_t block, used_at;
	bool is_there;
};

struct lru {
	uint32_t sets, ways;
	uint64_t clock;
	struct lru_block *blocks; /* every place */
	bool *is_known;		  /* each place, once something was put there */
};

static inline struct lru lru_create(uint32_t sets, uint32_t ways)
{
	struct lru lru = { .sets = sets, .ways = ways };

	lru.blocks = calloc((size_t)sets * ways, sizeof(*lru.blocks));
	lru.is_known = calloc((size_t)sets * ways, sizeof(*lru.is_known));
	return lru;
}

static inline void lru_destroy(struct lru *lru)
{
	free(lru->blocks);
	free(lru->is_known);
}

static inline struct lru_block *lru_find(struct lru *lru, uint64_t block)
{
	for (size_t i = 0; i < (size_t)lru->sets * lru->ways; i++)
		if (lru->blocks[i].is_there && lru->blocks[i].block == block)
			return &lru->blocks[i];
	return NULL;
}

/* The place that a new block takes: one that was left before one never used, that before the one
 * whose block was not used for longest. */
static inline size_t lru_place(const struct lru *lru, uint64_t block)
{
	size_t first = block % lru->sets * lru->ways;
	size_t best = first;
	int best_rank = -1;

	for (size_t i = first; i < first + lru->ways; i++) {
		int rank = lru->blocks[i].is_there ? 0 : lru->is_known[i] ? 2 : 1;

		if (rank > best_rank || (rank == 0 && best_rank == 0 &&
					 lru->blocks[i].used_at < lru->blocks[best].used_at)) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

/* `*left` is the block that had to leave; 0 if none. Blocks of tests begin with 1. */
static inline enum lru_answer lru_use(struct lru *lru, uint64_t block, uint64_t *left)
{
	struct lru_block *found = lru_find(lru, block);
	size_t first = block % lru->sets * lru->ways;
	bool is_cold = false;
	size_t place;

	*left = 0;
	lru->clock++;
	if (found) {
		found->used_at = lru->clock;
		return LRU_HIT;
	}
	for (size_t i = first; i < first + lru->ways; i++)
		is_cold |= !lru->is_known[i];
	place = lru_place(lru, block);
	if (lru->blocks[place].is_there)
		*left = lru->blocks[place].block;
	lru->blocks[place] = (struct lru_block){ block, lru->clock, true };
	lru->is_known[place] = true;
	return is_cold ? LRU_UNKNOWN : LRU_MISS;
}

static inline void lru_remove(struct lru *lru, uint64_t block)
{
	struct lru_block *found = lru_find(lru, block);

	if (found)
		found->is_there = false;
}

#endif
