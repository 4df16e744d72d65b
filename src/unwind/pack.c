/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pack.h"

#include <stdlib.h>

/* A recipe while all of them get new numbers. */
struct ranked {
	size_t rows;
	uint16_t number;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;

	if (a->rows != b->rows)
		return a->rows < b->rows ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

/* The most frequent ones get the smallest numbers, which take one byte. Those of nothing keep theirs. */
static bool rank(struct hp_unwind_table *table, const struct row *rows, size_t count,
		 uint16_t *new_numbers)
{
	size_t recipes = table->recipes.count;
	_cleanup_free_ struct ranked *ranked = calloc(recipes, sizeof(*ranked));
	struct recipe *sorted = malloc(recipes * sizeof(*sorted));

	if (!ranked || !sorted) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < recipes; i++)
		ranked[i].number = (uint16_t)i;
	for (size_t i = 0; i < count; i++)
		ranked[rows[i].recipe].rows++;
	qsort(ranked + RECIPES_OF_NOTHING, recipes - RECIPES_OF_NOTHING, sizeof(*ranked),
	      compare_ranked);
	for (size_t i = 0; i < recipes; i++) {
		sorted[i] = table->recipes.at[ranked[i].number];
		new_numbers[ranked[i].number] = (uint16_t)i;
	}
	free(table->recipes.at);
	table->recipes.at = sorted;
	table->recipes.capacity = recipes;
	return true;
}

static void put(struct hp_unwind_table *table, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		table->rows.at[table->rows.count++] = (uint8_t)(value | 0x80);
	table->rows.at[table->rows.count++] = (uint8_t)value;
}

static bool begin_block(struct hp_unwind_table *table, uint32_t place)
{
	return table->rows.count <= UINT32_MAX &&
	       hp_vector_push(&table->blocks, (struct block){ place, (uint32_t)table->rows.count });
}

/* Takes no more than it needs: tables live as long as a recording. */
static void trim(struct hp_unwind_table *table)
{
	void *rows = realloc(table->rows.at, table->rows.count + 1);

	if (!rows)
		return;
	table->rows.at = rows;
	table->rows.capacity = table->rows.count + 1;
}

bool pack_rows(struct hp_unwind_table *table, const struct row *rows, size_t count)
{
	_cleanup_free_ uint16_t *new_numbers = malloc(table->recipes.count * sizeof(*new_numbers));
	uint32_t place = 0;

	if (!new_numbers || !rank(table, rows, count, new_numbers))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (i % ROWS_PER_BLOCK == 0) {
			place = rows[i].place;
			if (!begin_block(table, place))
				return false;
		}
		if (!hp_vector_reserve(&table->rows, table->rows.count + MOST_ROW_BYTES))
			return false;
		put(table, rows[i].place - place);
		put(table, new_numbers[rows[i].recipe]);
		place = rows[i].place;
	}
	table->row_count = count;
	trim(table);
	return true;
}
