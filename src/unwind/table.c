/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "index.h"

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
	index_destroy(table->index);
	hp_vector_free(&table->blocks);
	hp_vector_free(&table->procedures);
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
		.rows = table->row_count,
		.recipes = table->recipes.count,
		.unsupported = table->unsupported,
		.bytes = sizeof(*table) + table->blocks.count * sizeof(*table->blocks.at) +
			 table->procedures.count * sizeof(*table->procedures.at) +
			 table->rows.count * sizeof(*table->rows.at) +
			 table->recipes.count * sizeof(*table->recipes.at) +
			 table->others.count * sizeof(*table->others.at) +
			 table->expressions.count * sizeof(*table->expressions.at) +
			 table->bytes.count + (table->index ? index_bytes(table->index) : 0),
		.source_bytes = table->source_bytes,
	};
}

const struct hp_unwind_recipe *hp_unwind_recipe_at(struct hp_unwind_table *table, uint64_t offset)
{
	const struct block *blocks = table->blocks.at;
	uint64_t place = offset - table->first;
	const uint8_t *end;
	size_t after;

	if (table->index)
		return index_recipe_at(table, offset);
	if (offset < table->first)
		return NULL;
	after = hp_bisect(i, table->blocks.count, blocks[i].place <= place);
	if (after == 0)
		return NULL;
	end = table->rows.at + (after < table->blocks.count ? blocks[after].at : table->rows.count);
	return table_recipe(table, table->rows.at + blocks[after - 1].at, end,
			    blocks[after - 1].place, place);
}

uint64_t hp_unwind_procedure_at(const struct hp_unwind_table *table, uint64_t offset)
{
	const uint32_t *begins = table->procedures.at;
	size_t after;

	if (table->index)
		return index_procedure_at(table->index, offset);
	after = hp_bisect(i, table->procedures.count, begins[i] <= offset);
	return after && offset <= UINT32_MAX ? begins[after - 1] : offset;
}
