/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "missed.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>

struct search {
	const struct hp_cfg *cfg;
	struct seen_block *blocks;
	uint32_t *reached; /* blocks reached from the seed; the seed is the first */
	uint32_t reached_count;
	uint32_t *reached_by; /* by block: the last seed that reached it, from 1 */
};

static bool is_less(const struct seen_block *block)
{
	return fewer_ticks * block->ticks < block->expected;
}

static bool ran_elsewhere(const struct seen_block *block)
{
	if (block->samples < enough_block_samples)
		return false;
	return !(block->runs > 0) || (is_less(block) && block->expected >= enough_ticks);
}

/* Adds a block to those that the seed reaches, unless windows executed it more often than the seed:
 * then it also ran on other occasions. */
static void reach(struct search *search, uint32_t seed, uint32_t block)
{
	if (block >= search->cfg->block_count || search->reached_by[block] == seed + 1 ||
	    search->blocks[block].runs > search->blocks[seed].runs)
		return;
	search->reached_by[block] = seed + 1;
	search->reached[search->reached_count++] = block;
}

static void reach_all(struct search *search, uint32_t seed)
{
	const struct hp_cfg *cfg = search->cfg;

	search->reached_count = 0;
	reach(search, seed, seed);
	for (uint32_t at = 0; at < search->reached_count; at++) {
		const struct hp_block *block = &cfg->blocks[search->reached[at]];

		for (uint32_t i = 0; i < block->out_count; i++)
			reach(search, seed, cfg->edges[block->first_out + i].to);
		for (uint32_t i = 0; i < block->in_count; i++)
			reach(search, seed, cfg->edges[cfg->in_edges[block->first_in + i]].from);
	}
}

static void take(struct search *search, uint32_t seed)
{
	struct seen_block all = { 0 };

	reach_all(search, seed);
	for (uint32_t i = 0; i < search->reached_count; i++) {
		all.expected += search->blocks[search->reached[i]].expected;
		all.ticks += search->blocks[search->reached[i]].ticks;
	}
	for (uint32_t i = 0; i < (is_less(&all) ? search->reached_count : 1); i++)
		search->blocks[search->reached[i]].is_missed = true;
}

struct seed {
	double runs;
	uint32_t block;
};

/* Most executions first: such a seed reaches more blocks, which need not be searched again. */
static int compare_seeds(const void *left, const void *right)
{
	const struct seed *a = left;
	const struct seed *b = right;
	int order = (a->runs < b->runs) - (a->runs > b->runs);

	return order ? order : (a->block > b->block) - (a->block < b->block);
}

bool find_missed(const struct hp_cfg *cfg, struct seen_block *blocks)
{
	size_t count = cfg->block_count;
	_cleanup_free_ uint32_t *reached = calloc(count + 1, sizeof(*reached));
	_cleanup_free_ uint32_t *reached_by = calloc(count + 1, sizeof(*reached_by));
	_cleanup_free_ struct seed *seeds = calloc(count + 1, sizeof(*seeds));
	struct search search = {
		.cfg = cfg, .blocks = blocks, .reached = reached, .reached_by = reached_by
	};
	size_t seed_count = 0;

	if (!reached || !reached_by || !seeds)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		blocks[i].is_missed = false;
		if (ran_elsewhere(&blocks[i]))
			seeds[seed_count++] = (struct seed){ blocks[i].runs, i };
	}
	qsort(seeds, seed_count, sizeof(*seeds), compare_seeds);
	for (size_t i = 0; i < seed_count; i++)
		if (!blocks[seeds[i].block].is_missed)
			take(&search, seeds[i].block);
	return true;
}
