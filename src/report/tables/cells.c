/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cells.h"

#include <inttypes.h>
#include <string.h>

static void add_text(struct hp_buffer *buffer, const char *text)
{
	hp_buffer_add(buffer, text, strlen(text));
}

void cell_cumulative(const struct cell *cell, struct hp_buffer *buffer)
{
	hp_buffer_printf(buffer, "%.2f", 100 * cell->row->cumulative);
}

void cell_name(const struct cell *cell, struct hp_buffer *buffer)
{
	hp_buffer_add(buffer, cell->row->name, strlen(cell->row->name));
}

void cell_shown(const struct cell *cell, struct hp_buffer *buffer)
{
	add_text(buffer, cell->row->shown ? cell->row->shown : cell->row->name);
}

void cell_image(const struct cell *cell, struct hp_buffer *buffer)
{
	hp_buffer_add(buffer, cell->row->image->id.path, strlen(cell->row->image->id.path));
}

void cell_build_id(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->image->build_id)
		hp_buffer_add(buffer, cell->row->image->build_id,
			      strlen(cell->row->image->build_id));
}

void cell_address(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->has_address)
		hp_buffer_printf(buffer, "0x%" PRIx64, cell->row->address);
}

void cell_file(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->file)
		hp_buffer_add(buffer, cell->row->file, strlen(cell->row->file));
}

void cell_line(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->file && cell->row->line)
		hp_buffer_printf(buffer, "%" PRIu32, cell->row->line);
}

void cell_short_image(const struct cell *cell, struct hp_buffer *buffer)
{
	add_text(buffer, cell->row->image->short_name);
	if (cell->row->image->problem)
		add_text(buffer, " (not read)");
}

void cell_place(const struct cell *cell, struct hp_buffer *buffer)
{
	const char *file = cell->row->short_file ? cell->row->short_file
			   : cell->row->file	 ? hp_source_name(cell->row->file)
						 : NULL;

	if (file && cell->row->line)
		hp_buffer_printf(buffer, "%s:%" PRIu32, file, cell->row->line);
	else if (file)
		add_text(buffer, file);
	else if (cell->report->options->view == HP_VIEW_LINES ||
		 cell->report->options->view == HP_VIEW_BREAKDOWN)
		add_text(buffer, "(no line)");
}
