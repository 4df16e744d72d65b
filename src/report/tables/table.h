/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and columns, written as a table. */
#ifndef REPORT_TABLES_TABLE_H
#define REPORT_TABLES_TABLE_H

#include "columns.h"

#include <stdio.h>

/* Rows as an aligned table, or as one with `grouped` titles above when there are several events. */
struct hp_error *write_text_table(const struct report *report, const struct columns *columns,
				  struct hp_row *const *rows, size_t count, FILE *out);

/* A record of titles, then one per row: RFC 4180. */
struct hp_error *write_csv_table(const struct report *report, const struct columns *columns,
				 struct hp_row *const *rows, size_t count, FILE *out);

/* One record, and that of the titles; `record` is scratch that is empty before and after. */
struct hp_error *write_csv_row(const struct report *report, const struct columns *columns,
			       const struct hp_row *row, struct hp_buffer *record, FILE *out);
struct hp_error *write_csv_titles(const struct columns *columns, struct hp_buffer *record,
				  FILE *out);
struct hp_error *write_csv_record(struct hp_buffer *record, FILE *out);

#endif
