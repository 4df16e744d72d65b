/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cells.h"

#include <inttypes.h>
#include <string.h>

void cell_cumulative(const struct cell *cell, struct buffer *buffer)
{
	buffer_printf(buffer, "%.2f", 100 * cell->row->cumulative);
}

void cell_name(const struct cell *cell, struct buffer *buffer)
{
	buffer_add(buffer, cell->row->name, strlen(cell->row->name));
}

void cell_image(const struct cell *cell, struct buffer *buffer)
{
	buffer_add(buffer, cell->row->image->id.path, strlen(cell->row->image->id.path));
}

void cell_build_id(const struct cell *cell, struct buffer *buffer)
{
	if (cell->row->image->build_id)
		buffer_add(buffer, cell->row->image->build_id, strlen(cell->row->image->build_id));
}

void cell_address(const struct cell *cell, struct buffer *buffer)
{
	if (cell->row->has_address)
		buffer_printf(buffer, "0x%" PRIx64, cell->row->address);
}

void cell_file(const struct cell *cell, struct buffer *buffer)
{
	if (cell->row->file)
		buffer_add(buffer, cell->row->file, strlen(cell->row->file));
}

void cell_line(const struct cell *cell, struct buffer *buffer)
{
	if (cell->row->file && cell->row->line)
		buffer_printf(buffer, "%" PRIu32, cell->row->line);
}
