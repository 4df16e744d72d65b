/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of each view, for the writers that print tables. */
#ifndef REPORT_TABLES_COLUMNS_H
#define REPORT_TABLES_COLUMNS_H

#include "../common/state.h"
#include "../common/text.h"

/* What one cell of a table shows. */
struct cell {
	const struct report *report;
	const struct hp_row *row;
	size_t event; /* event of its column */
};

struct column {
	const char *title;
	bool right;   /* right-aligned */
	bool shrinks; /* a name, which is cut first if the terminal is narrow */
	size_t event; /* NO_EVENT if the column belongs to no event */
	/* Adds the unescaped text of the cell. */
	void (*cell)(const struct cell *cell, struct hp_buffer *buffer);
};
#define NO_EVENT SIZE_MAX

struct columns {
	HP_VECTOR(struct column) at;
};

/* For people: `samples % cum% name where`. */
struct hp_error *columns_for_text(const struct report *report, struct columns *columns);
/* For machines: one column per value, titled `EVENT samples`, `EVENT percent`. The summary has its
 * own columns. */
struct hp_error *columns_for_csv(struct report *report, struct columns *columns);
void columns_clear(struct columns *columns);

#endif
