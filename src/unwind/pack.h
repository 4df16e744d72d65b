/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packs rows, as call frame instructions produce them, into the layout of tables. */
#ifndef UNWIND_PACK_H
#define UNWIND_PACK_H

#include "table.h"

struct row {
	uint32_t place; /* from the table's first; each is behind the one before */
	uint16_t recipe;
};

/* Fills the table's rows, and numbers its recipes anew. False when memory is short. */
bool pack_rows(struct hp_unwind_table *table, const struct row *rows, size_t count);

#endif
