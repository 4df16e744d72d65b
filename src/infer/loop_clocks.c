/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loop_clocks.h"
#include "tuning.h"

#include <math.h>

static struct block_clock sum_of(const struct hp_cfg *cfg, const struct block_clock *blocks,
				 uint32_t loop)
{
	struct block_clock sum = { 0 };

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (loop != HP_CFG_NONE && !hp_cfg_is_in_loop(cfg, i, loop))
			continue;
		sum.samples += blocks[i].samples;
		sum.ticks += blocks[i].ticks;
		sum.scaled += blocks[i].scaled;
	}
	return sum;
}

/* The loop whose loops are told apart; HP_CFG_NONE: the procedure. */
static uint32_t find_root(const struct hp_cfg *cfg, const struct block_clock *blocks)
{
	double all = sum_of(cfg, blocks, HP_CFG_NONE).samples;
	uint32_t root = HP_CFG_NONE;

	/* Outer ones come before inner ones. */
	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		const struct hp_loop *loop = &cfg->loops[i];

		if (loop->parent == root && loop->size > 1 &&
		    sum_of(cfg, blocks, i).samples > nearly_all * all)
			root = i;
	}
	return root;
}

/* How far it is off, as far as that is not chance. */
static void set(const struct block_clock *all, struct block_clock *loop)
{
	double ticks = fmax(loop->ticks, least_ticks);
	double share = loop->ticks > 0 ? loop->scaled / all->scaled : least_ticks / all->ticks;
	double off = log(loop->samples / all->samples / share);
	double noise = (1 - fmin(share, 1)) / ticks + 1 / loop->samples;
	double by_chance = chance_deviations * chance_deviations * noise;
	double weight = off * off > by_chance ? 1 - by_chance / (off * off) : 0;

	loop->factor = exp(weight * off);
	loop->deviation = hypot(moved_share * weight * off, sqrt(weight * noise));
}

void loop_clocks(const struct hp_cfg *cfg, struct block_clock *blocks)
{
	const struct block_clock all = sum_of(cfg, blocks, HP_CFG_NONE);
	uint32_t root = find_root(cfg, blocks);

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		blocks[i].loop = HP_CFG_NONE;
		blocks[i].factor = 1;
		blocks[i].deviation = 0;
	}
	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		struct block_clock loop = sum_of(cfg, blocks, i);

		if (cfg->loops[i].parent != root)
			continue;
		loop.factor = 1;
		if (loop.samples > 0 && loop.scaled >= 0 && all.ticks > 0 && all.scaled > 0)
			set(&all, &loop);
		for (uint32_t j = 0; j < cfg->block_count; j++) {
			if (!hp_cfg_is_in_loop(cfg, j, i))
				continue;
			blocks[j].loop = i;
			blocks[j].factor = loop.factor;
			blocks[j].deviation = loop.deviation;
		}
	}
}
