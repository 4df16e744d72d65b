/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stall_cells.h"

#include "../common/quantity.h"
#include "../common/sheet.h"
#include "../tables/columns_analysis.h"

#include <inttypes.h>
#include <string.h>

/* Tables write rows. In this view a row is the first member of a stall. The share is set in `local`
 * before, and the sum of shares in `cumulative`. */
const struct stall *stall_of_row(const struct hp_row *row)
{
	return (const struct stall *)(const void *)row;
}
_Static_assert(offsetof(struct stall, row) == 0, "a stall is a row");

const struct hp_frequency *stall_frequency(const struct hp_row *row)
{
	const struct stall *stall = stall_of_row(row);

	return &stall->analysis->blocks[stall->insn->block].frequency;
}

void stall_cell_percent(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%.2f", 100 * cell->row->local);
}

/* The 90 % interval. */
void stall_cell_range(const struct cell *cell, struct hp_buffer *text)
{
	const struct stall *stall = stall_of_row(cell->row);

	if (sheet_is_unknown(stall->share.low, stall->share.high))
		hp_buffer_printf(text, "unknown");
	else
		hp_buffer_printf(text, "%.1f-%.1f", 100 * stall->share.low,
				 100 * stall->share.high);
}

void stall_cell_cycles(const struct cell *cell, struct hp_buffer *text)
{
	quantity_add(text, stall_of_row(cell->row)->cycles);
}

/* A frequency relative to the procedure is not a number of executions. */
void stall_cell_executions(const struct cell *cell, struct hp_buffer *text)
{
	quantity_add_frequency(text, stall_frequency(cell->row), true);
}

/* Code without a name is named after its image, which need not be repeated then. */
static bool has_position(const struct hp_row *row)
{
	const char *image = hp_image_basename(row->image->id.path);
	size_t length = strlen(image);

	return row->file || strncmp(row->name, image, length) != 0 || row->name[length] != '+';
}

void stall_cell_position(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->file)
		hp_buffer_printf(text, "%s:%" PRIu32, hp_source_name(cell->row->file),
				 cell->row->line);
	else if (has_position(cell->row))
		hp_buffer_printf(text, "%s", cell->row->image->short_name);
}

void stall_cell_exact_percent(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, 100 * cell->row->local);
}

void stall_cell_exact_cycles(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, stall_of_row(cell->row)->cycles);
}

void stall_cell_percent_low(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, 100 * stall_of_row(cell->row)->share.low);
}

void stall_cell_percent_high(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, 100 * stall_of_row(cell->row)->share.high);
}

void stall_cell_estimate(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, stall_frequency(cell->row)->executions);
}
