/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and columns, written as a table. */
#ifndef REPORT_TABLES_TABLE_H
#define REPORT_TABLES_TABLE_H

#include "columns.h"

#include <stdio.h>

/* Writes rows as an aligned table; with several events, their names stand above their columns. */
struct hp_error *write_text_table(const struct report *report, const struct columns *columns,
				  struct hp_row *const *rows, size_t count, FILE *out);

/* Writes a record of titles, then one per row: RFC 4180. */
struct hp_error *write_csv_table(const struct report *report, const struct columns *columns,
				 struct hp_row *const *rows, size_t count, FILE *out);

/* Writes one record; the other writes that of the titles. `record` is a buffer, empty before and
 * after. */
struct hp_error *write_csv_row(const struct report *report, const struct columns *columns,
			       const struct hp_row *row, struct hp_buffer *record, FILE *out);
struct hp_error *write_csv_titles(const struct columns *columns, struct hp_buffer *record,
				  FILE *out);
struct hp_error *write_csv_record(struct hp_buffer *record, FILE *out);

#endif
