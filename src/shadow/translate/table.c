/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct shadow_table_entry {
	uint64_t address;
	uint32_t number; /* SHADOW_TABLE_NONE: free */
};

static size_t first_slot(const struct shadow_table *table, uint64_t address)
{
	return (size_t)(address * 0x9e3779b97f4a7c15 >> 32) & (table->capacity - 1);
}

static size_t slot(const struct shadow_table *table, uint64_t address)
{
	size_t at = first_slot(table, address);

	while (table->at[at].number != SHADOW_TABLE_NONE && table->at[at].address != address)
		at = (at + 1) & (table->capacity - 1);
	return at;
}

uint32_t shadow_table_find(const struct shadow_table *table, uint64_t address)
{
	return table->count ? table->at[slot(table, address)].number : SHADOW_TABLE_NONE;
}

static bool grow(struct shadow_table *table)
{
	struct shadow_table larger = { .capacity = table->capacity ? 2 * table->capacity : 256,
				       .count = table->count };

	larger.at = malloc(larger.capacity * sizeof(*larger.at));
	if (!larger.at)
		return false;
	memset(larger.at, 0xff, larger.capacity * sizeof(*larger.at));
	for (size_t i = 0; i < table->capacity; i++)
		if (table->at[i].number != SHADOW_TABLE_NONE)
			larger.at[slot(&larger, table->at[i].address)] = table->at[i];
	free(table->at);
	*table = larger;
	return true;
}

bool shadow_table_put(struct shadow_table *table, uint64_t address, uint32_t number)
{
	size_t at;

	if (2 * (table->count + 1) > table->capacity && !grow(table))
		return false;
	at = slot(table, address);
	if (table->at[at].number == SHADOW_TABLE_NONE)
		table->count++;
	table->at[at] = (struct shadow_table_entry){ .address = address, .number = number };
	return true;
}

/* Entries after it move up if they are there only because this slot was taken. */
void shadow_table_remove(struct shadow_table *table, uint64_t address)
{
	size_t free_at = table->count ? slot(table, address) : 0;
	size_t mask = table->capacity - 1;

	if (!table->count || table->at[free_at].number == SHADOW_TABLE_NONE)
		return;
	table->count--;
	for (size_t at = (free_at + 1) & mask; table->at[at].number != SHADOW_TABLE_NONE;
	     at = (at + 1) & mask) {
		size_t first = first_slot(table, table->at[at].address);

		if (((at - first) & mask) < ((at - free_at) & mask))
			continue;
		table->at[free_at] = table->at[at];
		free_at = at;
	}
	table->at[free_at].number = SHADOW_TABLE_NONE;
}

void shadow_table_empty(struct shadow_table *table)
{
	if (table->count)
		memset(table->at, 0xff, table->capacity * sizeof(*table->at));
	table->count = 0;
}

void shadow_table_free(struct shadow_table *table)
{
	free(table->at);
	*table = (struct shadow_table){ 0 };
}
