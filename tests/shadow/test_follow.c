/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logged paths, made by hand, through models of a core: what is counted of which instruction. */
#include "../support.h"

#include "../../src/shadow/simulate/follow.h"
#include "../../src/shadow/translate/x86_decode.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/uarch/geometry.h>

#include <stdlib.h>

enum { LINE = 64, TURNS = 4000, WARM = 1000 };

/* A loop of two instructions, the first of which loads, the second jumps back. */
static struct path_plan *loop;
static uint8_t lengths[] = { 4, 2 };
static uint8_t code[] = {
	0x48, 0x8b, 0x44, 0x05, 0x00, 0x75, 0xf9
}; /* mov rax, [rbp + rax]; jne */
static struct hp_uarch *uarch;
static struct hp_timing *timing;
static struct follower follower;
static struct hp_window window;

static const struct path_plan *plan_of(const void *context, uint64_t block)
{
	(void)context;
	return block == 7 || block == 9 ? loop : NULL;
}

static void clear(void *nothing)
{
	(void)nothing;
	follower_clear(&follower);
	hp_uarch_destroy(uarch);
	hp_timing_destroy(timing);
	timing = NULL;
	hp_window_clear(&window);
	free(loop);
}

SETUP
{
	lengths[0] = 4;
	const struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	lengths[0] = 4;
	loop = calloc(1, sizeof(*loop) + sizeof(loop->accesses[0]));
	ck_assert_ptr_nonnull(loop);
	*loop = (struct path_plan){ .address = 0x401000,
				    .target = 0x401000,
				    .kind = X86_JUMP_IF,
				    .word_count = 1,
				    .insn_count = 2,
				    .access_count = 1,
				    .lengths = lengths };
	loop->accesses[0] = (struct path_access){ .bytes = 8,
						  .kind = X86_LOAD,
						  .word = 0,
						  .count_word = PATH_NO_WORD,
						  .left_word = PATH_NO_WORD };
	uarch = hp_uarch_create(&geometry);
	ck_assert_ptr_nonnull(uarch);
	ck_assert(follower_create(&follower, uarch, NULL, NULL));
	at_end(clear, NULL);
}

/* Samples at which the parts of the window begin. */
static const size_t cuts[] = { 0, 10, 30 };

static uint64_t count_of(uint64_t address, enum hp_event_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < window.event_count; i++)
		if (window.events[i].address.value == address && window.events[i].kind == kind)
			sum += hp_window_count(window.events[i].counts);
	return sum;
}

/* One word after another, as pieces of a log may end anywhere. */
static void follow_turns(uint64_t step, uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++) {
		const uint64_t words[] = { 7, 0x10000000 + i * step };

		follower_take(&follower, &words[0], 1);
		follower_take(&follower, &words[1], 1);
	}
	follower_tell(&follower, cuts, HP_ARRAY_COUNT(cuts), &window);
}

static void follow(uint64_t step)
{
	follow_turns(step, TURNS);
}

TEST(every_new_line_is_a_miss_or_unknown)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(LINE);
	ck_assert_uint_eq(window.simulated_count, 1);
	ck_assert_uint_eq(window.simulated[0].counts[0], TURNS);
	ck_assert_uint_eq(window.simulated[0].size_bytes, 6);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_MISS) +
				  count_of(0x401000, HP_EVENT_L1_UNKNOWN),
			  TURNS);
	ck_assert_uint_gt(count_of(0x401000, HP_EVENT_L1_MISS), TURNS / 2);
	ck_assert_uint_ge(count_of(0x401000, HP_EVENT_STRIDED), TURNS - 2);
	/* Its last jump has not been seen to go anywhere. */
	ck_assert_uint_le(count_of(0x401004, HP_EVENT_MISPREDICTED), 2);
}

TEST(of_a_prefetch_only_the_page_is_counted)
{
	loop->accesses[0].kind = X86_PREFETCH;
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(4096);
	ck_assert_uint_eq(
		count_of(0x401000, HP_EVENT_L1_MISS) + count_of(0x401000, HP_EVENT_L1_UNKNOWN), 0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_DTLB_MISS) +
				  count_of(0x401000, HP_EVENT_DTLB_UNKNOWN),
			  TURNS);
}

TEST(one_line_is_met_once)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_MISS), 0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 1);
}

TEST(what_warms_models_is_not_counted)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 2 * WARM);
	follow(0);
	ck_assert_uint_eq(window.simulated[0].counts[0], TURNS - WARM);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 0);
	ck_assert_uint_eq(follower.instructions, 2 * TURNS);
}

TEST(a_stretch_is_of_the_part_that_it_begins_in)
{
	const struct {
		size_t sample, part;
	} rows[] = { { 9, 0 }, { 10, 1 }, { 29, 1 }, { 31, 2 } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		follower_begin(&follower, false, plan_of, NULL, 0, 0);
		for (uint64_t j = 0; j < TURNS; j++)
			follower_take(&follower, (const uint64_t[]){ 7, 0x10000000 }, 2);
		follower_resume(&follower, 3, rows[i].sample, 0);
		follow_turns(0, 3);
		ck_assert_uint_eq(window.simulated_count, 1);
		ck_assert_uint_eq(window.simulated[0].counts[0],
				  TURNS + (rows[i].part == 0 ? 3 : 0));
		ck_assert_uint_eq(window.simulated[0].counts[rows[i].part],
				  rows[i].part == 0 ? TURNS + 3 : 3);
		/* Each has met its line for the first time. */
		for (size_t j = 0; j < window.event_count; j++)
			if (window.events[j].kind == HP_EVENT_L1_UNKNOWN)
				ck_assert_uint_eq(window.events[j].counts[rows[i].part],
						  rows[i].part == 0 ? 2 : 1);
		ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 2);
		hp_window_clear(&window);
	}
}

TEST(a_path_begins_anew)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(0);
	hp_window_clear(&window);
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(0);
	ck_assert_uint_eq(window.simulated[0].counts[0], TURNS);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 1);
}

TEST(a_log_that_makes_no_sense_is_followed_no_further)
{
	static const uint64_t words[] = { 7, 0x1000, 8, 7, 0x2000, UINT64_MAX };

	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follower_take(&follower, words, sizeof(words) / sizeof(*words));
	ck_assert(follower.is_lost);
	follower_tell(&follower, cuts, HP_ARRAY_COUNT(cuts), &window);
	ck_assert_uint_eq(window.simulated[0].counts[0], 1);
}

static void begin_timed(const struct hp_core *core)
{
	const struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	follower_clear(&follower);
	timing = hp_timing_create(core, &geometry);
	ck_assert_ptr_nonnull(timing);
	ck_assert(follower_create(&follower, uarch, timing, core));
	lengths[0] = 5;
	loop->code = code;
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
}

static const struct hp_window_timed *timed_at(uint64_t address, bool is_block)
{
	for (size_t i = 0; i < window.timed_count; i++)
		if (window.timed[i].address.value == address &&
		    window.timed[i].is_block == is_block)
			return &window.timed[i];
	ck_abort_msg("nothing was timed at %#jx", (uintmax_t)address);
}

static int64_t stride_of(uint64_t address, uint64_t *count)
{
	for (size_t i = 0; i < window.event_count; i++)
		if (window.events[i].address.value == address &&
		    window.events[i].kind == HP_EVENT_STRIDE) {
			*count = hp_window_count(window.events[i].counts);
			return window.events[i].value;
		}
	ck_abort_msg("no stride at %#jx", (uintmax_t)address);
}

TEST(strides_and_what_is_met_are_told)
{
	uint64_t count, lines, pages;

	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(3 * LINE);
	ck_assert_int_eq(stride_of(0x401000, &count), 3 * LINE);
	ck_assert_uint_ge(count, TURNS - 2);
	lines = count_of(0x401000, HP_EVENT_LINES);
	pages = count_of(0x401000, HP_EVENT_PAGES);
	ck_assert_uint_ge(lines, TURNS * 6 / 10);
	ck_assert_uint_le(lines, TURNS * 14 / 10);
	ck_assert_uint_ge(pages, 3 * TURNS / 64 * 6 / 10);
	ck_assert_uint_le(pages, 3 * TURNS / 64 * 14 / 10);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_MET), 1);
}

/* The same code as a block of another number, as one that begins elsewhere would be. */
TEST(what_is_met_is_counted_once_where_blocks_overlap)
{
	static const uint64_t other[] = { 9, 0x10000000 };

	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follower_take(&follower, other, 2);
	follow(LINE);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_MET), 1);
	ck_assert_uint_ge(count_of(0x401000, HP_EVENT_LINES), TURNS * 6 / 10);
}

/* Its line was the last that was met while the models warmed up. */
TEST(one_line_is_one_line)
{
	uint64_t count;

	follower_begin(&follower, false, plan_of, NULL, 0, 2 * WARM);
	follow(0);
	ck_assert_int_eq(stride_of(0x401000, &count), 0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_LINES), 1);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_PAGES), 1);
}

/* mov rax, [rbp + rax]: each address is made of what the load before it found; mov rax, [rbp]: none
 * is. */
TEST(pointers_that_are_followed_are_told_from_others)
{
	static uint8_t apart[] = { 0x48, 0x8b, 0x45, 0x00, 0x75, 0xfa };

	begin_timed(hp_core_named("zen-4"));
	follow(LINE);
	ck_assert_uint_ge(count_of(0x401000, HP_EVENT_CHASED), TURNS - 3);
	hp_window_clear(&window);
	loop->code = apart;
	lengths[0] = 4;
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(LINE);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_CHASED), 0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_ADDRESS_LOADED), 0);
}

/* Each load needs what the one before it has loaded. */
TEST(cycles_are_of_blocks_and_of_their_instructions)
{
	const struct hp_core *core = hp_core_named("zen-4");
	const struct hp_window_timed *block, *load;
	uint64_t misses;

	begin_timed(core);
	follow(LINE);
	ck_assert_uint_eq(window.timed_count, 3);
	block = timed_at(0x401000, true);
	load = timed_at(0x401000, false);
	misses = TURNS * (uint64_t)core->l1_cycles;
	ck_assert_uint_ge(block->cycles[HP_LANE_AS_IS], misses);
	ck_assert_uint_le(block->cycles[HP_LANE_NO_DCACHE], 2 * misses);
	/* The first runs were not told apart, but are in the sum. */
	ck_assert_uint_ge(load->cycles[HP_LANE_AS_IS], block->cycles[HP_LANE_AS_IS] * 9 / 10);
	ck_assert_uint_ge(block->cycles[HP_LANE_MEMORY], block->cycles[HP_LANE_AS_IS]);
}

/* Compilers and the like run each of their blocks seldom. */
TEST(instructions_of_a_block_that_runs_seldom_have_cycles_of_their_own)
{
	begin_timed(hp_core_named("zen-4"));
	follow_turns(LINE, 64);
	ck_assert_uint_gt(timed_at(0x401000, false)->cycles[HP_LANE_AS_IS], 0);
}

/* A loop over 1000 lines, which the second core's first cache holds. */
TEST(cycles_of_a_core_with_other_sizes_stand_beside_those_of_the_one_as_it_is)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	const struct hp_core *core = hp_core_named("zen-4");
	_cleanup_(hp_uarch_destroy_scope) struct hp_uarch *larger = NULL;
	_cleanup_(hp_timing_destroy_scope) struct hp_timing *beside = NULL;
	struct follower second;
	const struct hp_window_timed *resized;

	geometry.l1d.sets *= 16;
	larger = hp_uarch_create(&geometry);
	beside = hp_timing_create(core, &geometry);
	ck_assert(follower_create(&second, larger, beside, core));
	begin_timed(core);
	follower_begin(&second, false, plan_of, NULL, 0, 0);
	for (uint64_t i = 0; i < TURNS; i++) {
		/* The same 1000 in each round, in an order that no prefetcher foresees. */
		uint64_t line = (i % 1000 * 2654435761 >> 16) % 1000;
		const uint64_t words[] = { 7, 0x10000000 + line * LINE };

		follower_take(&follower, words, 2);
		follower_take(&second, words, 2);
	}
	follower_tell(&follower, cuts, HP_ARRAY_COUNT(cuts), &window);
	follower_tell_resized(&second, 77, &window);
	follower_clear(&second);
	/* Of instructions it is not told again. */
	ck_assert_uint_eq(window.timed_count, 4);
	resized = &window.timed[3];
	ck_assert_uint_eq(resized->resizes, 77);
	ck_assert(resized->is_block);
	ck_assert_uint_eq(resized->address.value, 0x401000);
	ck_assert_uint_lt(resized->cycles[HP_LANE_AS_IS] * 10,
			  timed_at(0x401000, true)->cycles[HP_LANE_AS_IS] * 9);
	ck_assert_uint_eq(timed_at(0x401000, true)->resizes, 0);
}

TEST(a_later_stretch_of_a_program_is_timed_anew)
{
	uint64_t before;

	begin_timed(hp_core_named("zen-4"));
	follow(0);
	before = timed_at(0x401000, true)->cycles[HP_LANE_AS_IS];
	hp_window_clear(&window);
	follower_begin(&follower, true, plan_of, NULL, 0, 0);
	follow(0);
	ck_assert_uint_ge(timed_at(0x401000, true)->cycles[HP_LANE_AS_IS], before * 95 / 100);
	ck_assert_uint_le(timed_at(0x401000, true)->cycles[HP_LANE_AS_IS], before * 105 / 100);
	/* Nothing is known of the line again. */
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 1);
}

/* Half of the turns warm the models. */
TEST(of_what_warms_models_the_end_is_timed)
{
	uint64_t counted;

	begin_timed(hp_core_named("zen-4"));
	follower_begin(&follower, false, plan_of, NULL, 0, TURNS);
	follow(0);
	counted = timed_at(0x401000, true)->cycles[HP_LANE_AS_IS] * HP_TIMING_TICKS;
	ck_assert_int_gt(follower.uncounted.at[HP_LANE_AS_IS], 0);
	ck_assert_uint_lt((uint64_t)follower.uncounted.at[HP_LANE_AS_IS], counted / 8);
}

TEST(each_stretch_of_a_path_warms_models_of_its_own)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 2 * WARM);
	follow(0);
	hp_window_clear(&window);
	follower_resume(&follower, 1, 0, 2 * WARM);
	follow(0);
	ck_assert_uint_eq(hp_window_count(window.simulated[0].counts), TURNS - WARM);
	/* Nothing is known of the line again, but that does not count. */
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 0);
	ck_assert_uint_eq(follower.instructions, 4 * TURNS);
	hp_window_clear(&window);
	follower_resume(&follower, 2, 0, 0);
	follow(0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L1_UNKNOWN), 1);
}

TEST(of_lines_that_are_all_new_the_unknown_ones_likely_miss)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(LINE);
	ck_assert_uint_gt(count_of(0x401000, HP_EVENT_L2_UNKNOWN), 0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L2_LIKELY_MISS),
			  count_of(0x401000, HP_EVENT_L2_UNKNOWN));
	ck_assert_uint_gt(count_of(0x401000, HP_EVENT_TLB2_UNKNOWN), 0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_TLB2_LIKELY_MISS),
			  count_of(0x401000, HP_EVENT_TLB2_UNKNOWN));
}

/* More lines than the first cache has, and pages than the first TLB has, round and round. */
TEST(of_lines_that_return_the_unknown_ones_likely_hit)
{
	enum { AROUND = 1200, APART = 4096 + LINE };

	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	for (uint64_t i = 0; i < 8 * AROUND; i++) {
		const uint64_t words[] = { 7, 0x10000000 + i % AROUND * APART };

		follower_take(&follower, words, 2);
	}
	follower_tell(&follower, cuts, HP_ARRAY_COUNT(cuts), &window);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L2_UNKNOWN), AROUND);
	ck_assert_uint_le(count_of(0x401000, HP_EVENT_L2_LIKELY_MISS), AROUND / 50);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_TLB2_UNKNOWN), AROUND);
	ck_assert_uint_le(count_of(0x401000, HP_EVENT_TLB2_LIKELY_MISS), AROUND / 50);
}

/* What a stretch does not know is judged by what those before it have met, too. */
TEST(a_later_stretch_judges_by_all_of_the_path)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	follow(LINE);
	hp_window_clear(&window);
	follower_resume(&follower, 1, 0, 0);
	follow(0);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L2_UNKNOWN), 1);
	ck_assert_uint_eq(count_of(0x401000, HP_EVENT_L2_LIKELY_MISS), 1);
}

TEST(cycles_of_stretches_add_up)
{
	uint64_t before, after;

	begin_timed(hp_core_named("zen-4"));
	follow(0);
	before = timed_at(0x401000, true)->cycles[HP_LANE_AS_IS];
	hp_window_clear(&window);
	follower_resume(&follower, 1, 0, 0);
	follow(0);
	after = timed_at(0x401000, true)->cycles[HP_LANE_AS_IS];
	ck_assert_uint_ge(after, before * 195 / 100);
	ck_assert_uint_le(after, before * 205 / 100);
}

TEST(repeated_accesses_touch_all_their_lines)
{
	follower_begin(&follower, false, plan_of, NULL, 0, 0);
	loop->word_count = 2;
	loop->accesses[0].count_word = 1;
	for (uint64_t i = 0; i < TURNS; i++) {
		/* 32 lines each time, of which none comes again. */
		const uint64_t words[] = { 7, 0x10000000 + i * 0x800, 0x100 };

		follower_take(&follower, words, 3);
	}
	follower_tell(&follower, cuts, HP_ARRAY_COUNT(cuts), &window);
	ck_assert_uint_ge(count_of(0x401000, HP_EVENT_L1_MISS), TURNS / 2);
	ck_assert_uint_le(count_of(0x401000, HP_EVENT_L1_MISS), TURNS);
}

HP_TEST_MAIN("shadow/follow")
