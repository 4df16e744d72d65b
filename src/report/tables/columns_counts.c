/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "columns_analysis.h"
#include "columns_counts.h"
#include "../common/quantity.h"
#include "../common/state.h"

#include <math.h>

static double cycles_of(const struct report *report, const struct hp_row *row)
{
	size_t event = hp_profiles_time_event(report->profiles);

	return event < report->profiles->events.count ? row->tallies[event].cycles : 0;
}

double counts_cycles_per_call(const struct report *report, const struct hp_row *row)
{
	double cycles = cycles_of(report, row);

	return row->counts && cycles > 0 ? cycles / row->counts->calls.value : NAN;
}

double counts_instructions_per_cycle(const struct report *report, const struct hp_row *row)
{
	double cycles = cycles_of(report, row);

	return row->counts && cycles > 0 ? row->counts->instructions.value / cycles : NAN;
}

static void cell_calls(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->counts && isfinite(cell->row->counts->calls.value))
		quantity_add_interval(buffer, cell->row->counts->calls.value,
				      cell->row->counts->calls.low, cell->row->counts->calls.high);
}

static void cell_cycles_per_call(const struct cell *cell, struct hp_buffer *buffer)
{
	double cycles = counts_cycles_per_call(cell->report, cell->row);

	if (isfinite(cycles))
		quantity_add(buffer, cycles);
}

static void cell_ipc(const struct cell *cell, struct hp_buffer *buffer)
{
	double instructions = counts_instructions_per_cycle(cell->report, cell->row);

	if (isfinite(instructions))
		hp_buffer_printf(buffer, "%.2f", instructions);
}

static void cell_exact_calls(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->counts)
		columns_add_number(buffer, cell->row->counts->calls.value);
}

static void cell_calls_low(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->counts)
		columns_add_number(buffer, cell->row->counts->calls.low);
}

static void cell_calls_high(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->counts)
		columns_add_number(buffer, cell->row->counts->calls.high);
}

static void cell_instructions(const struct cell *cell, struct hp_buffer *buffer)
{
	if (cell->row->counts)
		columns_add_number(buffer, cell->row->counts->instructions.value);
}

static void cell_exact_cycles_per_call(const struct cell *cell, struct hp_buffer *buffer)
{
	columns_add_number(buffer, counts_cycles_per_call(cell->report, cell->row));
}

static void cell_exact_ipc(const struct cell *cell, struct hp_buffer *buffer)
{
	columns_add_number(buffer, counts_instructions_per_cycle(cell->report, cell->row));
}

const struct column columns_of_counts[] = {
	{ "calls", true, false, NO_EVENT, cell_calls },
	{ "cycles/call", true, false, NO_EVENT, cell_cycles_per_call },
	{ "IPC", true, false, NO_EVENT, cell_ipc },
	{ 0 },
};
const struct column columns_of_exact_counts[] = {
	{ "calls", true, false, NO_EVENT, cell_exact_calls },
	{ "calls_low", true, false, NO_EVENT, cell_calls_low },
	{ "calls_high", true, false, NO_EVENT, cell_calls_high },
	{ "instructions", true, false, NO_EVENT, cell_instructions },
	{ "cycles_per_call", true, false, NO_EVENT, cell_exact_cycles_per_call },
	{ "instructions_per_cycle", true, false, NO_EVENT, cell_exact_ipc },
	{ 0 },
};

bool columns_have_counts(const struct report *report)
{
	for (size_t i = 0; i < report->profiles->rows.count; i++)
		if (report->profiles->rows.at[i]->counts &&
		    isfinite(report->profiles->rows.at[i]->counts->instructions.value))
			return true;
	return false;
}
