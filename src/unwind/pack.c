/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pack.h"

#include <stdlib.h>

/* A recipe while the recipes are renumbered. */
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

/* Renumbers recipes: the most frequent ones get the smallest numbers, which take one byte. The
 * special recipes keep their numbers. */
static bool rank(struct hp_unwind_table *table, const struct raw_rows *rows, uint16_t *new_numbers)
{
	const uint8_t *at = rows->bytes.at;
	size_t recipes = table->recipes.count;
	_cleanup_free_ struct ranked *ranked = calloc(recipes, sizeof(*ranked));
	struct hp_unwind_recipe *sorted = malloc(recipes * sizeof(*sorted));

	if (!ranked || !sorted) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < recipes; i++)
		ranked[i].number = (uint16_t)i;
	for (size_t i = 0; i < rows->count; i++) {
		table_take(&at);
		ranked[table_take(&at)].rows++;
	}
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

static size_t put_row(uint8_t *begin, uint32_t step, uint16_t recipe)
{
	size_t bytes = table_put(begin, step);

	return bytes + table_put(begin + bytes, recipe);
}

bool raw_rows_push(struct raw_rows *rows, const struct row *row)
{
	if (!hp_vector_reserve(&rows->bytes, rows->bytes.count + MOST_ROW_BYTES))
		return false;
	rows->bytes.count +=
		put_row(rows->bytes.at + rows->bytes.count, row->place - rows->place, row->recipe);
	rows->place = row->place;
	rows->count++;
	return true;
}

void raw_rows_free(struct raw_rows *rows)
{
	hp_vector_free(&rows->bytes);
}

static bool begin_block(struct hp_unwind_table *table, uint32_t place)
{
	return table->rows.count <= UINT32_MAX &&
	       hp_vector_push(&table->blocks, (struct block){ place, (uint32_t)table->rows.count });
}

/* Shrinks the arrays, as tables live as long as a recording. */
static void trim(struct hp_unwind_table *table)
{
	void *rows = realloc(table->rows.at, table->rows.count + 1);

	if (!rows)
		return;
	table->rows.at = rows;
	table->rows.capacity = table->rows.count + 1;
}

bool pack_rows(struct hp_unwind_table *table, const struct raw_rows *rows)
{
	_cleanup_free_ uint16_t *new_numbers = malloc(table->recipes.count * sizeof(*new_numbers));
	const uint8_t *at = rows->bytes.at;
	uint32_t place = 0;

	if (!new_numbers || !rank(table, rows, new_numbers))
		return false;
	for (size_t i = 0; i < rows->count; i++) {
		bool begins_block = i % ROWS_PER_BLOCK == 0;
		uint32_t step = table_take(&at);
		uint16_t recipe = new_numbers[table_take(&at)];

		place += step;
		if (begins_block &&
		    (!begin_block(table, place) ||
		     !hp_vector_reserve(&table->rows,
					table->rows.count + ROWS_PER_BLOCK * MOST_ROW_BYTES)))
			return false;
		table->rows.count += put_row(table->rows.at + table->rows.count,
					     begins_block ? 0 : step, recipe);
	}
	table->row_count = rows->count;
	trim(table);
	return true;
}
