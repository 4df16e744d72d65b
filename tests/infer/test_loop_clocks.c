/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops of one procedure that windows saw too often or too seldom. */
#include "../support.h"

#include "../../src/infer/loop_clocks.h"

#include <hpcprof/base/number.h>

#include <math.h>

enum { BLOCKS = 6 };

/* Windows are off by a factor of e, mostly. */
#define VARIANCE 1.0

/* One loop with two in it; behind it another one; and a block before all. */
static struct hp_block blocks[BLOCKS];
static struct hp_loop loops[] = {
	{ .parent = HP_CFG_NONE, .depth = 1, .first = 0, .size = 3 },
	{ .parent = 0, .depth = 2, .first = 1, .size = 1 },
	{ .parent = 0, .depth = 2, .first = 2, .size = 1 },
	{ .parent = HP_CFG_NONE, .depth = 1, .first = 3, .size = 1 },
};
static struct hp_cfg cfg = {
	.blocks = blocks, .block_count = BLOCKS, .loops = loops, .loop_count = HP_ARRAY_COUNT(loops)
};
static struct block_clock clocks[BLOCKS];

static void set(uint32_t block, uint32_t loop, double samples, double ticks)
{
	blocks[block].loop = loop;
	clocks[block] =
		(struct block_clock){ .samples = samples, .ticks = ticks, .scaled = 10 * ticks };
}

TEST(as_windows_saw_them_nothing_is_moved)
{
	set(0, HP_CFG_NONE, 1, 0);
	set(1, 0, 10, 1);
	set(2, 1, 500, 50);
	set(3, 2, 500, 50);
	set(4, 3, 2000, 190);
	set(5, 3, 500, 60);
	ck_assert(loop_clocks(&cfg, VARIANCE, clocks));
	for (uint32_t i = 0; i < BLOCKS; i++) {
		ck_assert_double_lt(fabs(log(clocks[i].factor)), 0.1);
		ck_assert_double_lt(clocks[i].deviation, 0.15);
	}
	/* Outermost loops are told apart. */
	ck_assert_uint_eq(clocks[0].loop, HP_CFG_NONE);
	ck_assert_uint_eq(clocks[2].loop, 0);
	ck_assert_uint_eq(clocks[3].loop, 0);
	ck_assert_uint_eq(clocks[5].loop, 3);
}

TEST(a_loop_that_windows_missed_is_moved_to_its_time)
{
	set(0, HP_CFG_NONE, 0, 0);
	set(1, 0, 0, 0);
	set(2, 1, 5000, 100);
	set(3, 2, 0, 0);
	set(4, 3, 5000, 1900);
	set(5, 3, 0, 0);
	ck_assert(loop_clocks(&cfg, VARIANCE, clocks));
	/* Half of the samples, a twentieth of those in windows. */
	ck_assert_double_gt(clocks[2].factor, 8);
	ck_assert_double_lt(clocks[2].factor, 10);
	ck_assert_double_eq(clocks[3].factor, clocks[2].factor);
	ck_assert_double_gt(clocks[4].factor, 0.5);
	ck_assert_double_lt(clocks[4].factor, 0.6);
	/* Much moved, and not sure. */
	ck_assert_double_gt(clocks[2].deviation, 0.5);
	ck_assert_double_gt(clocks[2].deviation, clocks[4].deviation);
}

TEST(phases_of_a_loop_that_is_nearly_everything_are_the_loops_in_it)
{
	set(0, HP_CFG_NONE, 1, 0);
	set(1, 0, 100, 10);
	set(2, 1, 5000, 100);
	set(3, 2, 5000, 1900);
	set(4, 3, 10, 1);
	set(5, 3, 0, 0);
	ck_assert(loop_clocks(&cfg, VARIANCE, clocks));
	ck_assert_uint_eq(clocks[1].loop, HP_CFG_NONE);
	ck_assert_uint_eq(clocks[2].loop, 1);
	ck_assert_uint_eq(clocks[3].loop, 2);
	ck_assert_uint_eq(clocks[4].loop, HP_CFG_NONE);
	ck_assert_double_gt(clocks[2].factor, 5);
	ck_assert_double_lt(clocks[3].factor, 1);
	ck_assert_double_eq(clocks[1].factor, 1);
}

TEST(without_samples_in_windows_nothing_is_moved)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		set(i, 3, 1000, 0);
	ck_assert(loop_clocks(&cfg, VARIANCE, clocks));
	for (uint32_t i = 0; i < BLOCKS; i++)
		ck_assert_double_eq(clocks[i].factor, 1);
}

HP_TEST_MAIN("infer/loop_clocks")
