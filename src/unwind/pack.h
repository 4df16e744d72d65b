/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs rows, as call frame instructions produce them, into the layout of tables.
 *
 * The numbers of recipes are known to be frequent or rare only behind the last row. Until then rows
 * wait in a like form, in which a row takes some three bytes.
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
