/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which parts of a window's counts are kept. */
#include "../support.h"

#include "../../src/shadow/window_counts.h"

#include <stdlib.h>

enum { MS = 1000000, INSTRUCTIONS = 10 };

static struct hp_window window;

static void tear_down(void *nothing)
{
	(void)nothing;
	hp_window_clear(&window);
}

/* Three parts of 9 ms, and one whose ends are the same sample. The first block runs 4 instructions per
 * ns in each part with a time; the second one has run in the last part alone, and so has one edge. */
SETUP
{
	window = (struct hp_window){
		.part_count = HP_WINDOW_PARTS,
		.blocks = calloc(2, sizeof(*window.blocks)),
		.block_count = 2,
		.edges = calloc(1, sizeof(*window.edges)),
		.edge_count = 1,
	};
	at_end(tear_down, NULL);
	ck_assert(window.blocks && window.edges);
	window.blocks[0].instructions = window.blocks[1].instructions = INSTRUCTIONS;
	for (size_t i = 0; i + 1 < HP_WINDOW_PARTS; i++) {
		window.parts[i].duration_ns = 9 * MS;
		window.blocks[0].counts[i] = 4 * 9 * MS / INSTRUCTIONS;
	}
}

static void run_last(uint64_t instructions)
{
	window.blocks[1].counts[HP_WINDOW_PARTS - 1] = instructions / INSTRUCTIONS;
	window.edges[0].counts[HP_WINDOW_PARTS - 1] = 1;
}

TEST(what_a_core_can_execute_is_kept)
{
	/* in the time of one sample, which is lost at the ends of parts */
	run_last(8 * 3 * MS);
	window_drop_impossible(&window);
	ck_assert_uint_eq(window.part_count, HP_WINDOW_PARTS);
	ck_assert_uint_eq(window.block_count, 2);
	ck_assert_uint_eq(window.edge_count, 1);
}

TEST(what_no_core_can_execute_is_dropped)
{
	run_last((uint64_t)10000 * MS);
	window_drop_impossible(&window);
	ck_assert_uint_eq(window.part_count, HP_WINDOW_PARTS - 1);
	ck_assert_uint_eq(window.block_count, 1);
	ck_assert_uint_eq(window.edge_count, 0);
	ck_assert_uint_eq(window.instructions, 3 * 4 * 9 * MS);
}

TEST(parts_after_an_impossible_one_are_dropped)
{
	window.blocks[0].counts[1] *= 100;
	run_last(INSTRUCTIONS);
	window_drop_impossible(&window);
	ck_assert_uint_eq(window.part_count, 1);
	ck_assert_uint_eq(window.instructions, 4 * 9 * MS);
}

TEST(a_window_may_have_no_possible_part)
{
	window.blocks[0].counts[0] *= 100;
	window_drop_impossible(&window);
	ck_assert_uint_eq(window.part_count, 0);
	ck_assert_uint_eq(window.block_count, 0);
	ck_assert_uint_eq(window.instructions, 0);
}

HP_TEST_MAIN("shadow/window_counts")
