/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of each view, for the writers that print tables. */
#ifndef REPORT_TABLES_COLUMNS_H
#define REPORT_TABLES_COLUMNS_H

#include "../common/state.h"
#include "../common/text.h"

/* What is shown in one place of a table. */
struct cell {
	const struct report *report;
	const struct hp_row *row;
	size_t event; /* its column's */
};

struct column {
	const char *title;
	bool right;   /* aligned */
	bool shrinks; /* a name: cut first when the terminal is narrow */
	size_t event; /* NO_EVENT for the columns that have none */
	/* Adds the raw text of the cell. */
	void (*cell)(const struct cell *cell, struct hp_buffer *buffer);
};
#define NO_EVENT SIZE_MAX

struct columns {
	HP_VECTOR(struct column) at;
};

/* For people: `samples  %  cum%  name  where`. */
struct hp_error *columns_for_text(const struct report *report, struct columns *columns);
/* For machines: everything by itself, titled by `EVENT samples`, `EVENT percent`. The summary has
 * its own. */
struct hp_error *columns_for_csv(struct report *report, struct columns *columns);
void columns_clear(struct columns *columns);

#endif
