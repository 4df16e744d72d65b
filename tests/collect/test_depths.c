/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/paths/depths.h"
#include "../../src/collect/tuning.h"

enum { SIZES = 4, FIRST = 2 };

static const uint32_t sizes[SIZES] = { 2048, 4096, 16384, 32768 };

static struct depths begin(void)
{
	return (struct depths){ .sizes = sizes, .count = SIZES, .first = FIRST, .now = FIRST };
}

/* A long time after the last. */
static size_t choose(struct depths *depths)
{
	static uint64_t now_ns = DEPTHS_LEAST_NS;

	if (!depths->begun_ns)
		depths->begun_ns = now_ns;
	now_ns += DEPTHS_LEAST_NS;
	return depths_choose(depths, now_ns);
}

/* As many samples, of which one in `part` needs more bytes. */
static void note(struct depths *depths, size_t count, uint64_t bytes, size_t part, uint64_t more)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t needed = part && i % part == 0 ? more : bytes;

		if (needed > sizes[depths->now])
			depths_note_beyond(depths, sizes[depths->now]);
		else
			depths_note(depths, needed);
		if (i % 50 == 0)
			depths_note_deep(depths, needed);
	}
}

TEST(the_smallest_size_that_holds_nearly_as_much_as_the_largest)
{
	static const struct {
		const char *name;
		uint64_t bytes;
		size_t part;
		uint64_t more;
		size_t expected;
	} rows[] = {
		{ "all are shallow", 500, 0, 0, 0 },
		{ "exactly as much as there is", 2048, 0, 0, 0 },
		{ "a word more", 2056, 0, 0, 1 },
		{ "one in 250 is deeper", 500, 250, 9000, 0 },
		{ "one in 120 is", 500, 120, 9000, 2 },
		{ "one in thirty is", 500, 30, 9000, 2 },
		{ "as deep as at first", 9000, 0, 0, 2 },
		{ "deeper", 20000, 0, 0, 3 },
		{ "one in thirty is deeper than at first", 500, 30, 20000, 3 },
		{ "no size holds any", 100000, 0, 0, 2 },
		{ "one in three is beyond all", 500, 3, 100000, 2 },
	};

	for (size_t row = 0; row < HP_ARRAY_COUNT(rows); row++) {
		struct depths depths = begin();

		for (size_t i = 0; i < 20; i++) {
			note(&depths, DEPTHS_ENOUGH, rows[row].bytes, rows[row].part,
			     rows[row].more);
			choose(&depths);
		}
		ck_assert_msg(depths.now == rows[row].expected, "%s: %zu", rows[row].name,
			      depths.now);
	}
}

TEST(a_few_samples_say_too_little_but_that_more_is_needed)
{
	struct depths depths = begin();

	note(&depths, DEPTHS_ENOUGH - 1, 500, 0, 0);
	ck_assert_uint_eq(choose(&depths), FIRST);
	note(&depths, 1, 500, 0, 0);
	ck_assert_uint_eq(choose(&depths), 0);
	note(&depths, DEPTHS_ENOUGH / 20, 3000, 0, 0);
	ck_assert_uint_eq(choose(&depths), 1);
}

TEST(what_was_long_ago_is_forgotten)
{
	struct depths depths = begin();

	note(&depths, 20 * DEPTHS_ENOUGH, 9000, 0, 0);
	ck_assert_uint_eq(choose(&depths), FIRST);
	note(&depths, 20 * DEPTHS_ENOUGH, 500, 0, 0);
	ck_assert_uint_eq(choose(&depths), 0);
}

TEST(a_size_that_joins_paths_wrongly_is_not_used)
{
	struct depths depths = begin();

	note(&depths, DEPTHS_ENOUGH - 1, 500, 0, 0);
	depths_note_wrong(&depths, 0);
	note(&depths, 1, 500, 0, 0);
	ck_assert_uint_eq(choose(&depths), 1);
	/* Once it has proved itself it is. */
	note(&depths, DEPTHS_ENOUGH, 500, 0, 0);
	ck_assert_uint_eq(choose(&depths), 0);
	/* A deep sample shows that the present one does. */
	note(&depths, DEPTHS_ENOUGH / 2, 500, 0, 0);
	depths_note_wrong(&depths, 0);
	ck_assert_uint_eq(choose(&depths), 1);
}

/* Phases of a program that take less: in each, some paths are cut before the size is large again. */
TEST(a_size_that_was_too_small_is_tried_less_and_less_often)
{
	struct depths depths = begin();
	size_t chosen = 0;

	for (size_t i = 0; i < 64; i++) {
		size_t before = depths.now;

		note(&depths, DEPTHS_ENOUGH, before == FIRST ? 500 : 9000, 0, 0);
		chosen += choose(&depths) < before;
	}
	/* After 1, 2, 4, 8 and 16 times as many samples. */
	ck_assert_uint_eq(chosen, 5);
}

TEST(many_samples_of_a_short_time_do_not_make_it_smaller)
{
	struct depths depths = begin();

	depths_choose(&depths, 1);
	note(&depths, 10 * DEPTHS_ENOUGH, 500, 0, 0);
	ck_assert_uint_eq(depths_choose(&depths, DEPTHS_LEAST_NS), FIRST);
	ck_assert_uint_eq(depths_choose(&depths, 1 + DEPTHS_LEAST_NS), 0);
	/* It may become larger at once. */
	note(&depths, 20, 3000, 0, 0);
	ck_assert_uint_eq(depths_choose(&depths, 2 + DEPTHS_LEAST_NS), 1);
}

TEST(a_few_samples_do_not_make_it_smaller)
{
	struct depths depths = begin();

	depths.now = FIRST + 1;
	note(&depths, DEPTHS_ENOUGH / 4, 500, 3, 100000);
	ck_assert_uint_eq(choose(&depths), FIRST + 1);
	note(&depths, DEPTHS_ENOUGH, 500, 3, 100000);
	ck_assert_uint_eq(choose(&depths), FIRST);
}

TEST(samples_of_an_earlier_size_do_not_speak_of_this_one)
{
	struct depths depths = begin();

	for (size_t i = 0; i < DEPTHS_ENOUGH; i++) {
		depths_note_beyond(&depths, sizes[0]);
		depths_note_beyond(&depths, sizes[FIRST] - 8);
	}
	ck_assert_uint_eq(choose(&depths), FIRST);
}

TEST(one_size_is_no_choice)
{
	struct depths depths = { 0 };

	depths_note(&depths, 1);
	depths_note_beyond(&depths, 1);
	depths_note_deep(&depths, 1);
	ck_assert_uint_eq(choose(&depths), 0);
}

HP_TEST_MAIN("collect/depths")
