/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CSV as RFC 4180 has it: a header record, CRLF, quotes where needed. */
#include "table.h"

struct hp_error *write_csv_record(struct hp_buffer *record, FILE *out)
{
	if (record->failed)
		return hp_error_create_no_memory();
	fwrite(hp_buffer_text(record), 1, record->size, out);
	fputs("\r\n", out);
	hp_buffer_clear(record);
	return NULL;
}

struct hp_error *write_csv_row(const struct report *report, const struct columns *columns,
			       const struct hp_row *row, struct hp_buffer *record, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer cell = { 0 };

	for (size_t i = 0; i < columns->at.count; i++) {
		const struct column *column = &columns->at.at[i];

		hp_buffer_clear(&cell);
		column->cell(&(struct cell){ report, row, column->event }, &cell);
		if (i)
			hp_buffer_add(record, ",", 1);
		text_csv(record, hp_buffer_text(&cell));
	}
	record->failed = record->failed || cell.failed;
	return write_csv_record(record, out);
}

struct hp_error *write_csv_titles(const struct columns *columns, struct hp_buffer *record,
				  FILE *out)
{
	for (size_t i = 0; i < columns->at.count; i++) {
		if (i)
			hp_buffer_add(record, ",", 1);
		text_csv(record, columns->at.at[i].title);
	}
	return write_csv_record(record, out);
}

struct hp_error *write_csv_table(const struct report *report, const struct columns *columns,
				 struct hp_row *const *rows, size_t count, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer record = { 0 };
	struct hp_error *error = write_csv_titles(columns, &record, out);

	for (size_t i = 0; i < count && !error; i++)
		error = write_csv_row(report, columns, rows[i], &record, out);
	return error;
}
