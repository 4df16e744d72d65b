/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cells.h"

#include <inttypes.h>
#include <string.h>

void cell_cumulative(const struct report *report, const struct row *row, size_t event,
		     struct buffer *buffer)
{
	(void)report;
	(void)event;
	buffer_printf(buffer, "%.2f", 100 * row->cumulative);
}

void cell_name(const struct report *report, const struct row *row, size_t event,
	       struct buffer *buffer)
{
	(void)report;
	(void)event;
	buffer_add(buffer, row->name, strlen(row->name));
}

void cell_image(const struct report *report, const struct row *row, size_t event,
		struct buffer *buffer)
{
	(void)report;
	(void)event;
	buffer_add(buffer, row->image->id.path, strlen(row->image->id.path));
}

void cell_build_id(const struct report *report, const struct row *row, size_t event,
		   struct buffer *buffer)
{
	(void)report;
	(void)event;
	if (row->image->build_id)
		buffer_add(buffer, row->image->build_id, strlen(row->image->build_id));
}

void cell_address(const struct report *report, const struct row *row, size_t event,
		  struct buffer *buffer)
{
	(void)report;
	(void)event;
	if (row->has_address)
		buffer_printf(buffer, "0x%" PRIx64, row->address);
}

void cell_file(const struct report *report, const struct row *row, size_t event,
	       struct buffer *buffer)
{
	(void)report;
	(void)event;
	if (row->file)
		buffer_add(buffer, row->file, strlen(row->file));
}

void cell_line(const struct report *report, const struct row *row, size_t event,
	       struct buffer *buffer)
{
	(void)report;
	(void)event;
	if (row->file && row->line)
		buffer_printf(buffer, "%" PRIu32, row->line);
}
