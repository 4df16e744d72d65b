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

struct hp_unwind_table {
	uint64_t first; /* offset of the first row */
	HP_VECTOR(struct block) blocks;
	HP_VECTOR(uint8_t) rows;
	size_t row_count;
	HP_VECTOR(struct hp_unwind_recipe) recipes;
	HP_VECTOR(struct other_rules) others;
	HP_VECTOR(struct expression) expressions;
	HP_VECTOR(uint8_t) bytes; /* of expressions */
	size_t unsupported;
	size_t source_bytes;
};

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

#endif
