/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs rows, in the order in which call frame instructions give them, into the layout of tables.
 *
 * How frequent a recipe is, is known only after the last row, and decides its number. Until then
 * rows are kept in a similar layout, in which a row takes about three bytes.
 */
#ifndef UNWIND_PACK_H
#define UNWIND_PACK_H

#include "table.h"

struct row {
	uint32_t place; /* from the table's first; each is behind the one before */
	uint16_t recipe;
};

/* Zeroed: none. */
struct raw_rows {
	HP_VECTOR(uint8_t) bytes;
	size_t count;
	uint32_t place; /* of the last one */
};

/* False when memory is short. */
bool raw_rows_push(struct raw_rows *rows, const struct row *row);
void raw_rows_free(struct raw_rows *rows);

/* Fills the table's rows, and numbers its recipes anew. False when memory is short. */
bool pack_rows(struct hp_unwind_table *table, const struct raw_rows *rows);

#endif
