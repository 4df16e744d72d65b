/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakdown.h"
#include "cells.h"
#include "columns.h"
#include "columns_analysis.h"
#include "columns_counts.h"

#include <inttypes.h>
#include <string.h>

static void add_text(struct hp_buffer *buffer, const char *text)
{
	hp_buffer_add(buffer, text, strlen(text));
}

static void cell_samples(const struct cell *cell, struct hp_buffer *buffer)
{
	hp_buffer_printf(buffer, "%" PRIu64, cell->row->tallies[cell->event].samples);
}

static void cell_percent(const struct cell *cell, struct hp_buffer *buffer)
{
	hp_buffer_printf(buffer, "%.2f",
			 100 * hp_profiles_share(cell->report->profiles, cell->event,
						 &cell->row->tallies[cell->event]));
}

static void cell_exact_percent(const struct cell *cell, struct hp_buffer *buffer)
{
	hp_buffer_printf(buffer, "%.6f",
			 100 * hp_profiles_share(cell->report->profiles, cell->event,
						 &cell->row->tallies[cell->event]));
}

/* Most instructions of a listing have no samples, and blanks are easier to read than zeros. */
static void cell_listed_samples(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->tallies[cell->event].samples)
		cell_samples(cell, buffer);
}

static void cell_listed_percent(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->tallies[cell->event].samples)
		cell_percent(cell, buffer);
}

static void cell_local(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->tallies[cell->event].samples)
		hp_buffer_printf(buffer, "%.2f", 100 * cell->row->local);
}

/* For people: tells what the name is if it is not that of a procedure. */
static void cell_procedure(const struct cell *cell, struct hp_buffer *buffer)
{
	cell_shown(cell, buffer);
	if (cell->row->inlined)
		add_text(buffer, " (inlined)");
}

static void cell_inlined(const struct cell *cell, struct hp_buffer *buffer)
{
	add_text(buffer, cell->row->inlined ? "yes" : "no");
}

static void cell_long_image(const struct cell *cell, struct hp_buffer *buffer)
{
	const struct hp_loaded_image *image = cell->row->image;

	/* The short name is longer than the path if two builds of one path were executed. */
	add_text(buffer, strlen(image->short_name) > strlen(image->id.path) ? image->short_name
									    : image->id.path);
	if (image->id.deleted)
		add_text(buffer, " (deleted)");
	if (image->problem)
		add_text(buffer, " (not read)");
}

static void cell_size(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->has_address)
		hp_buffer_printf(buffer, "%" PRIu64, cell->row->size);
}

static void cell_bytes(const struct cell *cell, struct hp_buffer *buffer)
{
	for (size_t i = 0; i < cell->row->length; i++)
		hp_buffer_printf(buffer, "%02x", cell->row->bytes[i]);
}

static void cell_text(const struct cell *cell, struct hp_buffer *buffer)
{
	add_text(buffer, cell->row->text);
}

static const struct column text_procedures[] = {
	{ "procedure", false, true, NO_EVENT, cell_procedure },
	{ "image", false, true, NO_EVENT, cell_short_image },
	{ 0 },
};
static const struct column text_images[] = {
	{ "image", false, true, NO_EVENT, cell_long_image },
	{ 0 },
};
static const struct column text_lines[] = {
	{ "line", false, true, NO_EVENT, cell_place },
	{ "procedure", false, true, NO_EVENT, cell_procedure },
	{ "image", false, true, NO_EVENT, cell_short_image },
	{ 0 },
};
static const struct column text_instructions[] = {
	{ "address", true, false, NO_EVENT, cell_address },
	{ "bytes", false, false, NO_EVENT, cell_bytes },
	{ "instruction", false, true, NO_EVENT, cell_text },
	{ "line", false, true, NO_EVENT, cell_place },
	{ 0 },
};
static const struct column csv_procedures[] = {
	{ "procedure", false, false, NO_EVENT, cell_name },
	{ "inlined", false, false, NO_EVENT, cell_inlined },
	{ "address", false, false, NO_EVENT, cell_address },
	{ "size", false, false, NO_EVENT, cell_size },
	{ "image", false, false, NO_EVENT, cell_image },
	{ "build_id", false, false, NO_EVENT, cell_build_id },
	{ 0 },
};
static const struct column csv_images[] = {
	{ "image", false, false, NO_EVENT, cell_image },
	{ "build_id", false, false, NO_EVENT, cell_build_id },
	{ 0 },
};
static const struct column csv_lines[] = {
	{ "file", false, false, NO_EVENT, cell_file },
	{ "line", false, false, NO_EVENT, cell_line },
	{ "procedure", false, false, NO_EVENT, cell_name },
	{ "inlined", false, false, NO_EVENT, cell_inlined },
	{ "image", false, false, NO_EVENT, cell_image },
	{ "build_id", false, false, NO_EVENT, cell_build_id },
	{ 0 },
};
static const struct column csv_instructions[] = {
	{ "image", false, false, NO_EVENT, cell_image },
	{ "build_id", false, false, NO_EVENT, cell_build_id },
	{ "procedure", false, false, NO_EVENT, cell_name },
	{ "address", false, false, NO_EVENT, cell_address },
	{ "bytes", false, false, NO_EVENT, cell_bytes },
	{ "text", false, false, NO_EVENT, cell_text },
	{ "file", false, false, NO_EVENT, cell_file },
	{ "line", false, false, NO_EVENT, cell_line },
	{ 0 },
};

static const struct column *const for_text[] = {
	[HP_VIEW_PROCEDURES] = text_procedures, [HP_VIEW_IMAGES] = text_images,
	[HP_VIEW_LINES] = text_lines,		[HP_VIEW_SUMMARY] = text_images,
	[HP_VIEW_CALLS] = text_procedures,	[HP_VIEW_EXECUTIONS] = text_procedures,
	[HP_VIEW_MEMORY] = text_procedures,	[HP_VIEW_BRANCHES] = text_procedures,
	[HP_VIEW_STACK] = text_procedures,	[HP_VIEW_WHAT_IF] = text_procedures,
	[HP_VIEW_STALLS] = text_procedures,	[HP_VIEW_INSTRUCTIONS] = text_instructions,
	[HP_VIEW_ANNOTATE] = text_instructions,
};
static const struct column *const for_csv[] = {
	[HP_VIEW_PROCEDURES] = csv_procedures, [HP_VIEW_IMAGES] = csv_images,
	[HP_VIEW_LINES] = csv_lines,	       [HP_VIEW_SUMMARY] = csv_images,
	[HP_VIEW_CALLS] = csv_procedures,      [HP_VIEW_EXECUTIONS] = csv_procedures,
	[HP_VIEW_MEMORY] = csv_procedures,     [HP_VIEW_BRANCHES] = csv_procedures,
	[HP_VIEW_STACK] = csv_procedures,      [HP_VIEW_WHAT_IF] = csv_procedures,
	[HP_VIEW_STALLS] = csv_procedures,     [HP_VIEW_INSTRUCTIONS] = csv_instructions,
	[HP_VIEW_ANNOTATE] = csv_instructions,
};

static bool push(struct columns *columns, struct column column)
{
	return hp_vector_push(&columns->at, column);
}

static struct hp_error *push_all(struct columns *columns, const struct column *from)
{
	for (; from->title; from++)
		if (!push(columns, *from))
			return hp_error_create_no_memory();
	return NULL;
}

struct hp_error *columns_for_text(const struct report *report, struct columns *columns)
{
	bool lists = report->options->view == HP_VIEW_INSTRUCTIONS;

	for (size_t i = 0; i < report->profiles->events.count; i++) {
		struct column samples = { "samples", true, false, i,
					  lists ? cell_listed_samples : cell_samples };
		struct column percent = { "%", true, false, i,
					  lists ? cell_listed_percent : cell_percent };
		struct column third = { lists ? "proc%" : "cum%", true, false, i,
					lists ? cell_local : cell_cumulative };

		if (!push(columns, samples) || !push(columns, percent) ||
		    (i == report->profiles->sort_event && !push(columns, third)))
			return hp_error_create_no_memory();
	}
	if (report->options->view == HP_VIEW_PROCEDURES && columns_have_counts(report)) {
		struct hp_error *error = push_all(columns, columns_of_counts);

		if (error)
			return error;
	}
	if (report->options->view == HP_VIEW_BREAKDOWN)
		return breakdown_columns(report, true, columns);
	return push_all(columns, for_text[report->options->view]);
}

struct hp_error *columns_for_csv(struct report *report, struct columns *columns)
{
	struct hp_error *error;

	for (size_t i = 0; i < report->profiles->events.count; i++) {
		const char *name = report->profiles->events.at[i].info->name;
		struct column samples = { NULL, true, false, i, cell_samples };
		struct column percent = { NULL, true, false, i, cell_exact_percent };

		samples.title = hp_profiles_format(report->profiles, "%s samples", name);
		percent.title = hp_profiles_format(report->profiles, "%s percent", name);
		if (!samples.title || !percent.title || !push(columns, samples) ||
		    !push(columns, percent))
			return hp_error_create_no_memory();
	}
	if (report->options->view == HP_VIEW_BREAKDOWN)
		return breakdown_columns(report, false, columns);
	error = push_all(columns, for_csv[report->options->view]);
	if (!error && for_csv[report->options->view] == csv_instructions)
		error = push_all(columns, columns_of_analysis);
	if (!error && report->options->view == HP_VIEW_PROCEDURES && columns_have_counts(report))
		error = push_all(columns, columns_of_exact_counts);
	return error;
}

void columns_clear(struct columns *columns)
{
	hp_vector_free(&columns->at);
}
