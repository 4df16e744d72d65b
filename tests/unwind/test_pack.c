/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packed rows against the rows themselves. */
#include "../support.h"

#include "../../src/unwind/pack.h"

#include <hpcprof/base/number.h>

#include <stdlib.h>

enum { FIRST = 0x1234, RECIPES = 1000, ROWS = 20000 };

static struct row rows[ROWS];
static struct hp_unwind_table *table;

/* A recipe says which it was at first. */
static void begin(void)
{
	table = calloc(1, sizeof(*table));
	ck_assert_ptr_nonnull(table);
	table->first = FIRST;
	for (int i = 0; i < RECIPES; i++)
		ck_assert(hp_vector_push(&table->recipes, (struct hp_unwind_recipe){ .cfa = i }));
}

static void assert_found(uint64_t offset, int expected)
{
	const struct hp_unwind_recipe *found = hp_unwind_recipe_at(table, offset);
	int cfa = found ? found->cfa : RECIPE_NONE;

	if (expected < RECIPES_OF_NOTHING)
		expected = RECIPE_NONE;
	ck_assert_msg(cfa == expected, "%#llx: %d, not %d", (unsigned long long)offset, cfa,
		      expected);
}

static void check(size_t count)
{
	struct raw_rows raw = { 0 };

	for (size_t i = 0; i < count; i++)
		ck_assert(raw_rows_push(&raw, &rows[i]));
	ck_assert(pack_rows(table, &raw));
	raw_rows_free(&raw);
	ck_assert_uint_eq(hp_unwind_table_facts(table).rows, count);
	assert_found(0, RECIPE_NONE);
	assert_found(FIRST - 1, RECIPE_NONE);
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = FIRST + (uint64_t)rows[i].place;

		assert_found(offset, rows[i].recipe);
		if (i)
			assert_found(offset - 1, rows[i - 1].recipe);
	}
	assert_found(UINT64_MAX, count ? rows[count - 1].recipe : RECIPE_NONE);
	hp_unwind_table_destroy(table);
}

/* Distances of one byte and of five, recipes that are frequent and many that are not. */
TEST(each_row_is_found_again)
{
	struct hp_random random = hp_random_seeded(25);
	uint64_t place = 0;

	begin();
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t most = i % 1000 == 999 ? 200000000 : i % 20 == 19 ? 40000 : 30;

		rows[i].place = (uint32_t)place;
		rows[i].recipe = (uint16_t)hp_random_between(&random, 0, i % 4 ? 20 : RECIPES - 1);
		place += hp_random_between(&random, 1, most);
	}
	ck_assert_uint_gt(place, UINT32_MAX / 4);
	check(ROWS);
}

TEST(blocks_that_are_full_and_not)
{
	static const size_t counts[] = { 0, 1, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK,
					 ROWS_PER_BLOCK + 1 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(counts); i++) {
		begin();
		for (size_t row = 0; row < counts[i]; row++)
			rows[row] = (struct row){ (uint32_t)row * 3, (uint16_t)(row + 2) };
		check(counts[i]);
	}
}

TEST(the_last_place_there_can_be)
{
	begin();
	rows[0] = (struct row){ 0, 2 };
	rows[1] = (struct row){ UINT32_MAX, RECIPES - 1 };
	check(2);
}

HP_TEST_MAIN("unwind/pack")
