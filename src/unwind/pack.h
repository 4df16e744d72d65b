/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs rows, in the order in which call frame instructions give them, into the layout of tables.
 *
 * Frequent recipes have small numbers, but frequencies are known only after the last row. Until
 * then rows are kept in a similar layout, with about three bytes per row.
 */
#ifndef UNWIND_PACK_H
#define UNWIND_PACK_H

#include "table.h"

struct row {
	uint32_t place; /* relative to the table's first; increases from row to row */
	uint16_t recipe;
};

/* Zeroed: no rows. */
struct raw_rows {
	HP_VECTOR(uint8_t) bytes;
	size_t count;
	uint32_t place; /* of the last one */
};

/* Adds a row. False when memory is short. */
bool raw_rows_push(struct raw_rows *rows, const struct row *row);
void raw_rows_free(struct raw_rows *rows);

/* Fills in the table's rows, and renumbers its recipes. False when memory is short. */
bool pack_rows(struct hp_unwind_table *table, const struct raw_rows *rows);

#endif
