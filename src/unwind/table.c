/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>

bool hp_unwind_is_offered(void)
{
#ifdef __x86_64__
	return true;
#else
	return false;
#endif
}

void hp_unwind_table_destroy(struct hp_unwind_table *table)
{
	if (!table)
		return;
	hp_vector_free(&table->pages);
	hp_vector_free(&table->rows);
	hp_vector_free(&table->recipes);
	hp_vector_free(&table->others);
	hp_vector_free(&table->expressions);
	hp_vector_free(&table->bytes);
	free(table);
}

struct hp_unwind_facts hp_unwind_table_facts(const struct hp_unwind_table *table)
{
	return (struct hp_unwind_facts){
		.rows = table->rows.count,
		.recipes = table->recipes.count,
		.unsupported = table->unsupported,
		.bytes = sizeof(*table) + table->pages.count * sizeof(*table->pages.at) +
			 table->rows.count * sizeof(*table->rows.at) +
			 table->recipes.count * sizeof(*table->recipes.at) +
			 table->others.count * sizeof(*table->others.at) +
			 table->expressions.count * sizeof(*table->expressions.at) +
			 table->bytes.count,
		.source_bytes = table->source_bytes,
	};
}

const struct recipe *table_find(const struct hp_unwind_table *table, uint64_t offset)
{
	uint64_t page = (offset - table->first) >> PAGE_BITS;
	uint16_t place = (uint16_t)(offset - table->first);
	const struct row *rows = table->rows.at;
	size_t begin;
	size_t end;
	size_t after;
	uint16_t number;

	if (offset < table->first || page >= table->pages.count)
		return NULL;
	begin = table->pages.at[page];
	end = page + 1 < table->pages.count ? table->pages.at[page + 1] : table->rows.count;
	after = begin + hp_bisect(i, end - begin, rows[begin + i].place <= place);
	if (after == 0)
		return NULL;
	number = rows[after - 1].recipe;
	return number < RECIPES_OF_NOTHING ? NULL : &table->recipes.at[number];
}
