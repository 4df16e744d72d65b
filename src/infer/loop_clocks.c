/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loop_clocks.h"
#include "moved.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdlib.h>

struct loops {
	const struct hp_cfg *cfg;
	/* per loop, including its inner loops; the last element is the procedure */
	struct block_clock *sums;
	/* per loop: the innermost loop with a clock around it, or itself */
	uint32_t *told_apart;
};

static void add_to(struct block_clock *sum, const struct block_clock *one)
{
	sum->samples += one->samples;
	sum->ticks += one->ticks;
	sum->scaled += one->scaled;
}

/* An outer loop has a lower index than its inner loops. */
static void add_up(struct loops *loops, const struct block_clock *blocks)
{
	const struct hp_cfg *cfg = loops->cfg;
	struct block_clock *all = &loops->sums[cfg->loop_count];

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		uint32_t loop = cfg->blocks[i].loop;

		add_to(loop == HP_CFG_NONE ? all : &loops->sums[loop], &blocks[i]);
	}
	for (uint32_t i = cfg->loop_count; i-- > 0;) {
		uint32_t parent = cfg->loops[i].parent;

		add_to(parent == HP_CFG_NONE ? all : &loops->sums[parent], &loops->sums[i]);
	}
}

/* The loop whose inner loops get clocks; HP_CFG_NONE for the procedure itself. */
static uint32_t find_root(const struct loops *loops)
{
	const struct hp_cfg *cfg = loops->cfg;
	double all = loops->sums[cfg->loop_count].samples;
	uint32_t root = HP_CFG_NONE;

	for (uint32_t i = 0; i < cfg->loop_count; i++)
		if (cfg->loops[i].parent == root && cfg->loops[i].size > 1 &&
		    loops->sums[i].samples > nearly_all * all)
			root = i;
	return root;
}

static void tell_apart(struct loops *loops)
{
	const struct hp_cfg *cfg = loops->cfg;
	uint32_t root = find_root(loops);

	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		uint32_t parent = cfg->loops[i].parent;

		loops->told_apart[i] = parent == root	       ? i
				       : parent == HP_CFG_NONE ? HP_CFG_NONE
							       : loops->told_apart[parent];
	}
}

static void set_clock(const struct block_clock *all, double variance, struct block_clock *loop)
{
	struct place_ticks place = place_ticks_of(loop->ticks, all->ticks,
						  loop->ticks > 0 ? loop->scaled / all->scaled : 0,
						  loop->samples / all->samples, loop->samples);
	struct moved moved = moved_of(&place, variance);

	loop->factor = exp(moved.log);
	loop->deviation = hypot(moved.log, moved.deviation);
}

static void set_clocks(struct loops *loops, double variance)
{
	const struct block_clock *all = &loops->sums[loops->cfg->loop_count];

	for (uint32_t i = 0; i < loops->cfg->loop_count; i++) {
		struct block_clock *loop = &loops->sums[i];

		loop->factor = 1;
		if (loops->told_apart[i] == i && loop->samples > 0 && loop->scaled >= 0 &&
		    all->ticks > 0 && all->scaled > 0)
			set_clock(all, variance, loop);
	}
}

bool loop_clocks(const struct hp_cfg *cfg, double variance, struct block_clock *blocks)
{
	_cleanup_free_ struct block_clock *sums = calloc(cfg->loop_count + 1, sizeof(*sums));
	_cleanup_free_ uint32_t *told_apart = calloc(cfg->loop_count + 1, sizeof(*told_apart));
	struct loops loops = { cfg, sums, told_apart };

	if (!sums || !told_apart)
		return false;
	add_up(&loops, blocks);
	tell_apart(&loops);
	set_clocks(&loops, variance);
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		uint32_t loop = cfg->blocks[i].loop;

		blocks[i].loop = loop == HP_CFG_NONE ? HP_CFG_NONE : told_apart[loop];
		blocks[i].factor = 1;
		blocks[i].deviation = 0;
		if (blocks[i].loop == HP_CFG_NONE)
			continue;
		blocks[i].factor = sums[blocks[i].loop].factor;
		blocks[i].deviation = sums[blocks[i].loop].deviation;
	}
	return true;
}
