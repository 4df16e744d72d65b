/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as aligned columns, without those that are empty; on a terminal cut to its width, elsewhere whole. */

#include "table.h"
#include "../tuning.h"
#include <string.h>

enum {
	GAP = 2,
	NARROWEST_NAME = 12,
	/* A longer name overflows its own line; otherwise a C++ name of 800 characters would push
	 * the last column of all lines out of sight. */
	WIDEST_PADDED_NAME = 80,
};

static const char bold[] = "\033[1m";
static const char hot[] = "\033[31m";
static const char warm[] = "\033[32m";
static const char plain[] = "\033[0m";

struct table {
	const struct report *report;
	struct columns columns; /* those that have contents */
	size_t *widths;
	bool *cut;	       /* by column: it is narrower than its widest cell */
	struct hp_buffer raw;  /* buffer for an unescaped cell */
	struct hp_buffer cell; /* buffer for the escaped cell */
	struct hp_buffer line;
};

static void table_clear(struct table *table)
{
	columns_clear(&table->columns);
	free(table->widths);
	free(table->cut);
	hp_buffer_free(&table->raw);
	hp_buffer_free(&table->cell);
	hp_buffer_free(&table->line);
}

static const char *format_cell(struct table *table, const struct column *column,
			       const struct hp_row *row)
{
	hp_buffer_clear(&table->raw);
	hp_buffer_clear(&table->cell);
	column->cell(&(struct cell){ table->report, row, column->event }, &table->raw);
	text_escape(&table->cell, hp_buffer_text(&table->raw));
	return hp_buffer_text(&table->cell);
}

/* Keeps the columns that have contents in some row: others only take room. */
static struct hp_error *keep_filled(struct table *table, const struct columns *columns,
				    struct hp_row *const *rows, size_t count)
{
	for (size_t i = 0; i < columns->at.count; i++) {
		bool is_filled = !count;

		for (size_t j = 0; j < count && !is_filled; j++)
			is_filled = *format_cell(table, &columns->at.at[i], rows[j]) != '\0';
		if (is_filled && !hp_vector_push(&table->columns.at, columns->at.at[i]))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static void measure(struct table *table, struct hp_row *const *rows, size_t count)
{
	for (size_t i = 0; i < table->columns.at.count; i++) {
		const struct column *column = &table->columns.at.at[i];
		bool last = i + 1 == table->columns.at.count;
		size_t widest = hp_text_columns(column->title);

		for (size_t j = 0; j < count; j++) {
			size_t width = hp_text_columns(format_cell(table, column, rows[j]));

			if (width > widest)
				widest = width;
		}
		if (!last && !table->report->options->terminal_columns &&
		    widest > WIDEST_PADDED_NAME)
			widest = WIDEST_PADDED_NAME;
		table->widths[i] = widest;
	}
}

/* Widens columns so that the event's name fits above them. */
static void measure_groups(struct table *table)
{
	for (size_t event = 0; event < table->report->profiles->events.count; event++) {
		_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };
		size_t first = SIZE_MAX;
		size_t width = 0;
		size_t wanted;

		text_escape(&name, table->report->profiles->events.at[event].info->name);
		wanted = hp_text_columns(hp_buffer_text(&name));
		for (size_t i = 0; i < table->columns.at.count; i++) {
			if (table->columns.at.at[i].event != event)
				continue;
			if (first == SIZE_MAX)
				first = i;
			else
				width += GAP;
			width += table->widths[i];
		}
		if (first != SIZE_MAX && wanted > width)
			table->widths[first] += wanted - width;
	}
}

static size_t total_width(const struct table *table)
{
	size_t total = 0;

	for (size_t i = 0; i < table->columns.at.count; i++)
		total += table->widths[i] + (i ? GAP : 0);
	return total;
}

/* Narrows the widest column of names, repeatedly, until the line fits or no column can be
 * narrowed. */
static void shrink(struct table *table)
{
	size_t room = table->report->options->terminal_columns;
	size_t total = total_width(table);

	while (room && total > room) {
		size_t widest = SIZE_MAX;

		for (size_t i = 0; i < table->columns.at.count; i++)
			if (table->columns.at.at[i].shrinks && table->widths[i] > NARROWEST_NAME &&
			    (widest == SIZE_MAX || table->widths[i] > table->widths[widest]))
				widest = i;
		if (widest == SIZE_MAX)
			return;
		table->widths[widest]--;
		table->cut[widest] = true;
		total--;
	}
}

static void add_cell(struct table *table, size_t index, const char *text, const char *colour)
{
	const struct column *column = &table->columns.at.at[index];
	size_t width = table->widths[index];
	size_t taken = hp_text_columns(text);
	bool cut = table->cut[index] && taken > width;
	size_t filling = taken < width ? width - taken : 0;

	if (index)
		text_pad(&table->line, GAP);
	if (column->right)
		text_pad(&table->line, filling);
	if (colour)
		hp_buffer_add(&table->line, colour, strlen(colour));
	text_cut(&table->line, text, cut ? width : 0);
	if (colour)
		hp_buffer_add(&table->line, plain, strlen(plain));
	if (!column->right && index + 1 < table->columns.at.count)
		text_pad(&table->line, filling);
}

static void end_line(struct table *table, FILE *out)
{
	size_t size = table->line.size;

	while (size && table->line.text[size - 1] == ' ')
		size--;
	fwrite(hp_buffer_text(&table->line), 1, size, out);
	putc('\n', out);
	hp_buffer_clear(&table->line);
}

/* Writes the names of events, each aligned to the right end of its columns. */
static void write_groups(struct table *table, FILE *out)
{
	size_t column = 0;

	while (column < table->columns.at.count) {
		size_t event = table->columns.at.at[column].event;
		size_t width = 0;

		if (event == NO_EVENT)
			break;
		hp_buffer_clear(&table->cell);
		text_escape(&table->cell, table->report->profiles->events.at[event].info->name);
		for (bool first = true; column < table->columns.at.count &&
					table->columns.at.at[column].event == event;
		     first = false)
			width += table->widths[column++] + (first ? 0 : GAP);
		if (table->line.size)
			text_pad(&table->line, GAP);
		text_pad(&table->line, width - hp_text_columns(hp_buffer_text(&table->cell)));
		hp_buffer_add(&table->line, hp_buffer_text(&table->cell), table->cell.size);
	}
	end_line(table, out);
}

static const char *colour_of(const struct table *table, const struct column *column,
			     const struct hp_row *row)
{
	double share;

	if (!table->report->options->colour || column->event == NO_EVENT)
		return NULL;
	share = hp_profiles_share(table->report->profiles, column->event,
				  &row->tallies[column->event]);
	return share >= hot_share ? hot : share >= warm_share ? warm : NULL;
}

struct hp_error *write_text_table(const struct report *report, const struct columns *columns,
				  struct hp_row *const *rows, size_t count, FILE *out)
{
	_cleanup_(table_clear) struct table table = { .report = report };
	struct hp_error *error;

	table.widths = calloc(columns->at.count + 1, sizeof(*table.widths));
	table.cut = calloc(columns->at.count + 1, sizeof(*table.cut));
	if (!table.widths || !table.cut)
		return hp_error_create_no_memory();
	error = hp_profiles_show_names(report->profiles, rows, count);
	if (!error)
		error = keep_filled(&table, columns, rows, count);
	if (error)
		return error;
	measure(&table, rows, count);
	if (report->profiles->events.count > 1) {
		measure_groups(&table);
		shrink(&table);
		write_groups(&table, out);
	} else {
		shrink(&table);
	}
	for (size_t i = 0; i < table.columns.at.count; i++)
		add_cell(&table, i, table.columns.at.at[i].title,
			 report->options->colour ? bold : NULL);
	end_line(&table, out);
	for (size_t j = 0; j < count; j++) {
		for (size_t i = 0; i < table.columns.at.count; i++)
			add_cell(&table, i, format_cell(&table, &table.columns.at.at[i], rows[j]),
				 colour_of(&table, &table.columns.at.at[i], rows[j]));
		end_line(&table, out);
	}
	return table.line.failed || table.cell.failed || table.raw.failed
		       ? hp_error_create_no_memory()
		       : NULL;
}
