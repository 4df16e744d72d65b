/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table (open addressing) of numbers by address, for a look-up per translated block.
 */
#ifndef SHADOW_TRANSLATE_TABLE_H
#define SHADOW_TRANSLATE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shadow_table {
	struct shadow_table_entry *at; /* Owned */
	size_t capacity;	       /* 0 or a power of two */
	size_t count;
};

enum { SHADOW_TABLE_NONE = UINT32_MAX };

uint32_t shadow_table_find(const struct shadow_table *table, uint64_t address);
/* Replaces the number if there is an entry. False: out of memory. */
bool shadow_table_put(struct shadow_table *table, uint64_t address, uint32_t number);
/* Does nothing if there is no entry. */
void shadow_table_remove(struct shadow_table *table, uint64_t address);
void shadow_table_empty(struct shadow_table *table);
void shadow_table_free(struct shadow_table *table);

#endif
