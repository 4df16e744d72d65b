/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/images/perf_map.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct perf_map parse(const char *text)
{
	struct perf_map map;

	ck_assert(perf_map_parse(strdup(text), &map));
	return map;
}

/* NULL when no symbol holds the address. */
static const char *name_at(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_symbol *symbol = perf_map_find(map, address);

	return symbol ? symbol->name : NULL;
}

TEST(a_symbol_holds_its_bytes_and_no_others)
{
	_cleanup_(perf_map_clear) struct perf_map map =
		parse("7f00a000 20 Interpreter\n7f00b000 10 add\n");

	ck_assert_ptr_null(name_at(&map, 0x7f009fff));
	ck_assert_str_eq(name_at(&map, 0x7f00a000), "Interpreter");
	ck_assert_str_eq(name_at(&map, 0x7f00a01f), "Interpreter");
	ck_assert_ptr_null(name_at(&map, 0x7f00a020));
	ck_assert_str_eq(name_at(&map, 0x7f00b00f), "add");
	ck_assert_ptr_null(name_at(&map, 0));
	ck_assert_ptr_null(name_at(&map, UINT64_MAX));
	ck_assert_uint_eq(map.skipped, 0);
}

TEST(numbers_may_have_a_prefix_and_names_spaces)
{
	_cleanup_(perf_map_clear) struct perf_map map =
		parse("0x1000 0x10 LazyCompile:~f file.js:1\n2000  8  padded\n");

	ck_assert_str_eq(name_at(&map, 0x1008), "LazyCompile:~f file.js:1");
	ck_assert_str_eq(name_at(&map, 0x2000), "padded");
}

TEST(the_last_line_need_not_end)
{
	_cleanup_(perf_map_clear) struct perf_map map = parse("1000 10 f");

	ck_assert_str_eq(name_at(&map, 0x1000), "f");
}

TEST(later_lines_replace_earlier_ones_where_they_overlap)
{
	struct perf_map map = parse("1000 100 old\n"
				    "1040 20 new\n"
				    "0ff0 18 newest\n"
				    "2000 10 first\n"
				    "2000 10 second\n");

	ck_assert_str_eq(name_at(&map, 0x1007), "newest");
	ck_assert_str_eq(name_at(&map, 0x1008), "old");
	ck_assert_str_eq(name_at(&map, 0x103f), "old");
	ck_assert_str_eq(name_at(&map, 0x1040), "new");
	ck_assert_str_eq(name_at(&map, 0x105f), "new");
	ck_assert_str_eq(name_at(&map, 0x1060), "old");
	ck_assert_str_eq(name_at(&map, 0x2008), "second");
	perf_map_clear(&map);
}

TEST(lines_that_make_no_sense_are_counted_and_skipped)
{
	static const char *const bad[] = {
		"x",
		"1000",
		"1000 ",
		"1000 10",
		"1000 10 ",
		"g000 10 f",
		"1000 1g f",
		" 1000 10 f",
		"-1000 10 f",
		"1000 -10 f",
		"+1 10 f",
		"1000\t10\tf",
		"1000 0 f",
		"10000000000000000 10 f",
		"1000 1000001 f",
		"ffffffffffffffff 10 f",
		"1000 ffffffffffffffff f",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		_cleanup_free_ char *text = NULL;
		struct perf_map map;

		ck_assert_int_gt(asprintf(&text, "%s\n2000 10 good\n\n", bad[i]), 0);
		map = parse(text);
		ck_assert_msg(map.skipped == 1 && map.count == 1, "'%s'", bad[i]);
		ck_assert_str_eq(name_at(&map, 0x2000), "good");
		perf_map_clear(&map);
	}
}

TEST(a_symbol_may_end_with_the_address_space)
{
	_cleanup_(perf_map_clear) struct perf_map map = parse("fffffffffffffff0 f last\n");

	ck_assert_str_eq(name_at(&map, 0xfffffffffffffffe), "last");
	ck_assert_ptr_null(name_at(&map, UINT64_MAX));
}

TEST(an_empty_map_names_nothing)
{
	static const char *const texts[] = { "", "\n", "\n\n\n" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		struct perf_map map = parse(texts[i]);

		ck_assert_ptr_null(name_at(&map, 0x1000));
		ck_assert_uint_eq(map.skipped, 0);
		perf_map_clear(&map);
	}
}

/* Lines that a plain search would have to walk through for each address. */
TEST(many_lines_over_the_same_addresses_leave_one_range_for_each_name_that_shows)
{
	enum { COPIES = 100000, LINE = sizeof("1000 1000 f\n") - 1 };
	char *text = malloc((size_t)COPIES * LINE + 64);
	_cleanup_(perf_map_clear) struct perf_map map;
	size_t used = 0;

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < COPIES; i++)
		used += (size_t)sprintf(text + used, "1000 1000 f\n");
	sprintf(text + used, "1800 10 inside\n");
	ck_assert(perf_map_parse(text, &map));
	ck_assert_uint_eq(map.count, COPIES + 1);
	ck_assert_uint_eq(map.range_count, 3);
	ck_assert_uint_eq(perf_map_find(&map, 0x1000)->order, COPIES - 1);
	ck_assert_str_eq(name_at(&map, 0x180f), "inside");
	ck_assert_uint_eq(perf_map_find(&map, 0x1fff)->order, COPIES - 1);
}

/* --- against an array that every line is painted into ----------------------------------------- */

enum { SPACE = 600, LINES = 60, ROUNDS = 300 };

TEST(a_map_of_more_symbols_than_there_are_is_read_up_to_there)
{
	static const char line[] = "7f000000 10 f\n";
	const size_t bytes = sizeof(line) - 1;
	const size_t count = PERF_MAP_SYMBOLS + 1000;
	_cleanup_(perf_map_clear) struct perf_map map;
	char *text = malloc(count * bytes + 1);

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * bytes, line, bytes);
	text[count * bytes] = '\0';
	ck_assert(perf_map_parse(text, &map));
	ck_assert_uint_eq(map.count, PERF_MAP_SYMBOLS);
	ck_assert_uint_eq(map.skipped, 0);
	ck_assert(map.is_cut);
	ck_assert_str_eq(name_at(&map, 0x7f000000), "f");
}

TEST(a_random_map_reads_as_if_painted_line_after_line)
{
	struct hp_random random = hp_random_seeded(3);

	for (size_t round = 0; round < ROUNDS; round++) {
		int painted[SPACE];
		char text[LINES * 32];
		size_t used = 0;
		struct perf_map map;

		memset(painted, -1, sizeof(painted));
		for (int line = 0; line < LINES; line++) {
			uint64_t start = hp_random_between(&random, 0, SPACE - 1);
			uint64_t size = hp_random_between(&random, 1, SPACE - start);

			if (line % 8)
				size = 1 + size / 16;
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%lx %lx f%d\n",
						 (unsigned long)start, (unsigned long)size, line);
			for (uint64_t i = start; i < start + size; i++)
				painted[i] = line;
		}
		map = parse(text);
		for (uint64_t i = 0; i < SPACE; i++) {
			const char *name = name_at(&map, i);

			ck_assert_int_eq(name ? atoi(name + 1) : -1, painted[i]);
		}
		perf_map_clear(&map);
	}
}

HP_TEST_MAIN("collect/perf_map")
