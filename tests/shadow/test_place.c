/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the cache goes, in address spaces as they are found. */
#include "../support.h"

#include "../../src/shadow/translate/place.h"
#include "../../src/shadow/translate/table.h"

#include <hpcprof/base/number.h>

#include <string.h>

static const uint64_t zone = 64 << 20;

static struct areas parse(const char *text)
{
	struct areas areas = { .text = strdup(text) };

	ck_assert_ptr_nonnull(areas.text);
	ck_assert(areas_parse(&areas, areas.text));
	return areas;
}

/* A program at a random place, as nearly all are. */
static const char usual[] = "55d0aa000000-55d0aa002000 r--p 00000000 fe:00 11 /usr/bin/program\n"
			    "55d0aa002000-55d0aa010000 r-xp 00002000 fe:00 11 /usr/bin/program\n"
			    "55d0aa010000-55d0aa012000 rw-p 00010000 fe:00 11 /usr/bin/program\n"
			    "55d0ab000000-55d0ac000000 rw-p 00000000 00:00 0 [heap]\n"
			    "7f1200000000-7f1200026000 r--p 00000000 fe:00 12 /lib/libc.so.6\n"
			    "7f1200026000-7f120017b000 r-xp 00026000 fe:00 12 /lib/libc.so.6\n"
			    "7f1200200000-7f1200226000 r-xp 00000000 fe:00 13 /lib/ld.so\n"
			    "7ffc10000000-7ffc10021000 rw-p 00000000 00:00 0 [stack]\n"
			    "7ffc10100000-7ffc10102000 r-xp 00000000 00:00 0 [vdso]\n"
			    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

/* One that was linked to run where it is, with a heap right behind. */
static const char fixed[] = "00400000-00500000 r-xp 00000000 fe:00 11 /usr/bin/program\n"
			    "00600000-00602000 rw-p 00100000 fe:00 11 /usr/bin/program\n"
			    "00700000-04000000 rw-p 00000000 00:00 0 [heap]\n"
			    "7fffb0000000-7fffb0200000 r-xp 00000000 fe:00 12 /lib/libc.so.6\n"
			    "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n";

static void assert_apart(const struct areas *areas, uint64_t place)
{
	for (size_t i = 0; i < areas->count; i++)
		ck_assert_msg(areas->at[i].end <= place || place + zone <= areas->at[i].start,
			      "0x%lx is taken", place);
}

/* The place that reaches this address; 0 none does. */
static uint64_t place_for(const uint64_t *places, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (shadow_place_reaches(places[i], zone, address, address))
			return places[i];
	return 0;
}

TEST(maps_are_read_as_the_kernel_writes_them)
{
	struct areas areas = parse(usual);
	const struct area *found;

	ck_assert_uint_eq(areas.count, 10);
	ck_assert_ptr_null(areas_find(&areas, 0x55d0a9ffffff));
	ck_assert_ptr_eq(areas_find(&areas, 0x55d0aa000000), &areas.at[0]);
	ck_assert_ptr_eq(areas_find(&areas, 0x55d0aa001fff), &areas.at[0]);
	found = areas_find(&areas, 0x55d0aa002000);
	ck_assert_ptr_eq(found, &areas.at[1]);
	ck_assert_int_eq(found->protection, 1 | 4);
	ck_assert(!found->is_shared);
	ck_assert_uint_eq(found->inode, 11);
	ck_assert_str_eq(found->path, "/usr/bin/program");
	ck_assert_ptr_null(areas_find(&areas, 0x55d0ac000000));
	areas_clear(&areas);
}

TEST(maps_that_make_no_sense_are_refused)
{
	static const char *const texts[] = {
		"nonsense\n",
		"1000-2000 r-xp 0 0:0\n",
		"2000-1000 r-xp 00000000 00:00 0 backward\n",
		"1000-3000 r-xp 00000000 00:00 0 \n2000-4000 r-xp 00000000 00:00 0 overlaps\n",
		"1000-2000 rx 00000000 00:00 0 \n",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		struct areas areas = { .text = strdup(texts[i]) };

		ck_assert(!areas_parse(&areas, areas.text));
		areas_clear(&areas);
	}
}

TEST(program_and_libraries_each_have_a_place_in_reach)
{
	struct areas areas = parse(usual);
	uint64_t places[SHADOW_PLACES];
	size_t count = shadow_place(&areas, zone, 0, places);
	uint64_t program = place_for(places, count, 0x55d0aa010000);
	uint64_t library = place_for(places, count, 0x7f1200026000);

	ck_assert_uint_eq(count, 2);
	ck_assert_uint_ne(program, 0);
	ck_assert_uint_ne(library, 0);
	assert_apart(&areas, program);
	assert_apart(&areas, library);
	/* brk goes up from the heap, mmap down from the libraries. */
	ck_assert_uint_lt(program, 0x55d0aa000000);
	ck_assert_uint_gt(library, 0x7f1200226000);
	areas_clear(&areas);
}

TEST(a_program_at_a_fixed_place_leaves_its_heap_room)
{
	struct areas areas = parse(fixed);
	uint64_t places[SHADOW_PLACES];
	size_t count = shadow_place(&areas, zone, 0, places);
	uint64_t program = place_for(places, count, 0x400000);

	ck_assert_uint_eq(count, 2);
	ck_assert_uint_ge(program, 0x4000000 + (1 << 30));
	assert_apart(&areas, program);
	assert_apart(&areas, place_for(places, count, 0x7fffb0000000));
	areas_clear(&areas);
}

/* How many of the places differ, for so many chances. */
static unsigned distinct_places(const char *maps, uint64_t code)
{
	enum { CHANCES = 32 };
	struct areas areas = parse(maps);
	uint64_t seen[CHANCES];
	unsigned distinct = 0;

	for (uint64_t chance = 1; chance <= CHANCES; chance++) {
		uint64_t places[SHADOW_PLACES];
		size_t count = shadow_place(&areas, zone, chance, places);
		uint64_t place = place_for(places, count, code);
		unsigned i = 0;

		ck_assert_uint_eq(count, 2);
		ck_assert_uint_ne(place, 0);
		assert_apart(&areas, place);
		while (i < distinct && seen[i] != place)
			i++;
		if (i == distinct)
			seen[distinct++] = place;
	}
	areas_clear(&areas);
	return distinct;
}

/* Who is copied cannot know where the code that counts will be. */
TEST(places_are_a_matter_of_chance)
{
	ck_assert_uint_ge(distinct_places(usual, 0x55d0aa010000), 24);
	ck_assert_uint_ge(distinct_places(usual, 0x7f1200026000), 24);
	ck_assert_uint_ge(distinct_places(fixed, 0x400000), 24);
	ck_assert_uint_ge(distinct_places(fixed, 0x7fffb0000000), 24);
}

TEST(without_room_near_there_is_a_place_far_away)
{
	/* Code, with three gibibytes of memory on either side. */
	struct areas areas = parse("100000000000-1000c0000000 rw-p 00000000 00:00 0 \n"
				   "1000c0000000-1000c0100000 r-xp 00000000 fe:00 1 /code\n"
				   "1000c0100000-100180000000 rw-p 00000000 00:00 0 \n");
	uint64_t places[SHADOW_PLACES];

	ck_assert_uint_eq(shadow_place(&areas, zone, 0, places), 1);
	ck_assert(!shadow_place_reaches(places[0], zone, 0x1000c0000000, 0x1000c0100000));
	assert_apart(&areas, places[0]);
	areas_clear(&areas);
}

TEST(reach_counts_from_either_end)
{
	ck_assert(shadow_place_reaches(0x100000000, zone, 0x100000000, 0x100001000));
	ck_assert(shadow_place_reaches(0x100000000, zone, 0x170000000, 0x170001000));
	ck_assert(!shadow_place_reaches(0x100000000, zone, 0x180000000, 0x180001000));
	ck_assert(!shadow_place_reaches(0x180000000, zone, 0x100000000, 0x100001000));
}

TEST(the_table_finds_what_was_put_and_nothing_else)
{
	struct hp_random random = hp_random_seeded(8);
	struct shadow_table table = { 0 };

	for (unsigned round = 0; round < 2; round++) {
		ck_assert_uint_eq(shadow_table_find(&table, 5), SHADOW_TABLE_NONE);
		for (uint32_t i = 0; i < 5000; i++)
			ck_assert(shadow_table_put(&table, (uint64_t)i * i * 16 + round, i));
		for (uint32_t i = 0; i < 5000; i++)
			ck_assert_uint_eq(shadow_table_find(&table, (uint64_t)i * i * 16 + round),
					  i);
		for (uint32_t i = 0; i < 5000; i++)
			ck_assert_uint_eq(shadow_table_find(&table, hp_random_next(&random) | 8),
					  SHADOW_TABLE_NONE);
		ck_assert(shadow_table_put(&table, round, 77));
		ck_assert_uint_eq(shadow_table_find(&table, round), 77);
		ck_assert_uint_eq(table.count, 5000);
		shadow_table_empty(&table);
	}
	shadow_table_free(&table);
}

/* Keys that share slots, some of them as multiples of pages. */
TEST(what_is_taken_out_of_a_table_hides_nothing_else)
{
	enum { KEYS = 300 };
	struct hp_random random = hp_random_seeded(7);
	struct shadow_table table = { 0 };
	uint32_t numbers[KEYS];

	memset(numbers, 0xff, sizeof(numbers));
	shadow_table_remove(&table, 4096);
	for (int round = 0; round < 20000; round++) {
		uint64_t key = hp_random_between(&random, 0, KEYS - 1);

		if (hp_random_between(&random, 0, 1)) {
			numbers[key] = (uint32_t)round;
			ck_assert(shadow_table_put(&table, key * 4096, (uint32_t)round));
		} else {
			numbers[key] = SHADOW_TABLE_NONE;
			shadow_table_remove(&table, key * 4096);
		}
		if (round % 16)
			continue;
		for (uint64_t i = 0; i < KEYS; i++)
			ck_assert_uint_eq(shadow_table_find(&table, i * 4096), numbers[i]);
	}
	shadow_table_free(&table);
}

HP_TEST_MAIN("shadow/place")
