/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that ran when there was no window, in an interpreter: a dispatcher and what it jumps
 * to. */
#include "../support.h"

#include "../../src/infer/missed.h"

#include <hpcprof/base/number.h>

enum { DISPATCH, HOT, TAIL, OTHER, COLD, BLOCKS };

/* HOT goes on to TAIL; all else is between DISPATCH and itself. */
static struct hp_edge edges[] = {
	{ .from = DISPATCH, .to = HOT },  { .from = DISPATCH, .to = OTHER },
	{ .from = DISPATCH, .to = COLD }, { .from = HOT, .to = TAIL },
	{ .from = TAIL, .to = DISPATCH }, { .from = OTHER, .to = DISPATCH },
	{ .from = COLD, .to = DISPATCH },
};
static uint32_t in_edges[] = { 4, 5, 6, 0, 3, 1, 2 };
static struct hp_block blocks[BLOCKS] = {
	[DISPATCH] = { .first_out = 0, .out_count = 3, .first_in = 0, .in_count = 3 },
	[HOT] = { .first_out = 3, .out_count = 1, .first_in = 3, .in_count = 1 },
	[TAIL] = { .first_out = 4, .out_count = 1, .first_in = 4, .in_count = 1 },
	[OTHER] = { .first_out = 5, .out_count = 1, .first_in = 5, .in_count = 1 },
	[COLD] = { .first_out = 6, .out_count = 1, .first_in = 6, .in_count = 1 },
};
static const struct hp_cfg cfg = { .blocks = blocks,
				   .block_count = BLOCKS,
				   .edges = edges,
				   .edge_count = HP_ARRAY_COUNT(edges),
				   .in_edges = in_edges };
static struct seen_block seen[BLOCKS];

/* 50 samples of all the time are one in windows. */
static void set(uint32_t block, double runs, double samples, double ticks)
{
	seen[block] = (struct seen_block){
		.runs = runs,
		.samples = samples,
		.expected = samples / 50,
		.ticks = ticks,
	};
}

static void check(bool hot, bool tail, bool other, bool cold)
{
	ck_assert(find_missed(&cfg, seen));
	ck_assert(!seen[DISPATCH].is_missed);
	ck_assert_int_eq(seen[HOT].is_missed, hot);
	ck_assert_int_eq(seen[TAIL].is_missed, tail);
	ck_assert_int_eq(seen[OTHER].is_missed, other);
	ck_assert_int_eq(seen[COLD].is_missed, cold);
}

TEST(what_windows_saw_as_often_as_samples_say_was_not_missed)
{
	set(DISPATCH, 2e9, 1000, 20);
	set(HOT, 1e9, 500, 9);
	set(TAIL, 1e9, 100, 3);
	set(OTHER, 1e9, 500, 10);
	set(COLD, 0, 0, 0);
	check(false, false, false, false);
}

TEST(what_ran_with_what_windows_missed_was_missed)
{
	/* A minute of HOT and TAIL, and windows came by a few times. */
	set(DISPATCH, 2e9, 1000, 20);
	set(HOT, 200, 5000, 1);
	set(TAIL, 200, 10, 0);
	set(OTHER, 2e9, 500, 10);
	set(COLD, 0, 0, 0);
	check(true, true, false, false);
}

TEST(one_hot_block_with_too_few_samples_in_windows_is_missed_alone)
{
	/* By chance: 10 were to be expected in HOT, and windows counted it often. */
	set(DISPATCH, 2e9, 1000, 20);
	set(HOT, 1e9, 500, 3);
	set(TAIL, 1e9, 1000, 20);
	set(OTHER, 9e8, 500, 10);
	set(COLD, 0, 0, 0);
	check(true, false, false, false);
}

TEST(a_block_that_ran_and_that_no_window_saw_was_missed)
{
	set(DISPATCH, 2e9, 1000, 20);
	set(HOT, 1e9, 500, 10);
	set(TAIL, 1e9, 100, 2);
	set(OTHER, 1e9, 500, 10);
	set(COLD, 0, 50, 0);
	check(false, false, false, true);
}

HP_TEST_MAIN("infer/missed")
