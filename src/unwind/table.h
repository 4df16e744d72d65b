/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of unwind tables.
 *
 * A row consists of the address from which a recipe holds, and the number of that recipe; it holds
 * until the next row. There are few different recipes (a thousand in a million rows), and most rows
 * have one of the first hundred. Rows are stored in blocks, each row as the distance from the row
 * before (0 for the first) and the number of its recipe, both as unsigned LEB128. So a row takes
 * little more than two bytes.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include "tuning.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/unwind/table.h>
#include <hpcprof/unwind/unwind.h>

/* How a register of the caller is found (DWARF 5, section 6.4.1). */
enum rule_kind {
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_SAVED,	    /* at the CFA plus the value */
	RULE_IS,	    /* the CFA plus the value */
	RULE_REGISTER,	    /* in the register with this number */
	RULE_SAVED_AT,	    /* at what the expression with this number gives */
	RULE_IS_EXPRESSION, /* what the expression with this number gives */
	RULE_UNSUPPORTED,
};

struct rule {
	int32_t value;
	uint32_t kind;
};

enum { CFA_BY_EXPRESSION = 0xff, NO_OTHERS = 0 };

struct hp_unwind_recipe {
	int32_t cfa;	      /* offset from the register, or an expression's number */
	uint8_t cfa_register; /* or CFA_BY_EXPRESSION */
	bool is_signal;	      /* the caller was interrupted: its address is not behind a call */
	uint16_t others;      /* where in `others` the rules of the other registers are */
	struct rule rip;
	struct rule rbp;
	struct rule rbx;
};

/* The rules of a signal frame, for all registers. */
struct other_rules {
	struct rule at[HP_UNWIND_RIP];
};

struct block {
	uint32_t place; /* of its first row, from the table's first place */
	uint32_t at;	/* where its rows begin */
};

/* Special recipes: no information, and information that cannot be followed. */
enum { RECIPE_NONE, RECIPE_UNSUPPORTED, RECIPES_OF_NOTHING };

struct expression {
	uint32_t at;
	uint32_t size;
};

struct index;

struct hp_unwind_table {
	struct index *index; /* makes rows when they are asked for; NULL: all are made */
	uint64_t first;	     /* offset of the first row */
	HP_VECTOR(struct block) blocks;
	HP_VECTOR(uint32_t) procedures; /* offsets where they begin, ascending */
	HP_VECTOR(uint8_t) rows;
	size_t row_count;
	HP_VECTOR(struct hp_unwind_recipe) recipes;
	HP_VECTOR(struct other_rules) others;
	HP_VECTOR(struct expression) expressions;
	HP_VECTOR(uint8_t) bytes; /* of expressions */
	size_t unsupported;
	size_t source_bytes;
};

/* Writes a number as table_take reads it. Returns its bytes. */
static inline size_t table_put(uint8_t *at, uint32_t value)
{
	size_t bytes = 0;

	for (; value >= 0x80; value >>= 7)
		at[bytes++] = (uint8_t)(value | 0x80);
	at[bytes++] = (uint8_t)value;
	return bytes;
}

/* Reads the next number of rows, an unsigned LEB128. */
static inline uint32_t table_take(const uint8_t **at)
{
	uint32_t value = *(*at)++;

	if (value < 0x80)
		return value;
	value &= 0x7f;
	for (unsigned shift = 7;; shift += 7) {
		uint32_t byte = *(*at)++;

		value |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

/* Returns the recipe that holds at a place, of rows from `at` to `end`; the distance of the first one
 * counts from `reached`. NULL: none. */
static inline const struct hp_unwind_recipe *table_recipe(const struct hp_unwind_table *table,
							  const uint8_t *at, const uint8_t *end,
							  uint64_t reached, uint64_t place)
{
	uint32_t number = RECIPE_NONE;

	while (at < end) {
		reached += table_take(&at);
		if (reached > place)
			break;
		number = table_take(&at);
	}
	return number < RECIPES_OF_NOTHING ? NULL : &table->recipes.at[number];
}

#endif
