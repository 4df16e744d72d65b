/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "columns_analysis.h"
#include "../common/state.h"

#include <inttypes.h>
#include <math.h>

void columns_add_number(struct hp_buffer *text, double value)
{
	if (isfinite(value))
		hp_buffer_printf(text, "%.6g", value);
}

void columns_add_causes(struct hp_buffer *text, const struct hp_analysis *analysis,
			const struct hp_analysed_insn *insn)
{
	for (uint32_t i = 0; i < insn->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[insn->first_cause + i];

		hp_buffer_printf(text, "%s%s:%.6f:%.6f:", i ? ";" : "",
				 hp_cause_name((enum hp_cause_kind)cause->kind), cause->low,
				 cause->high);
		if (cause->has_culprit)
			hp_buffer_printf(text, "0x%" PRIx64, cause->culprit.value);
	}
}

static const struct hp_frequency *frequency_of(const struct hp_row *row)
{
	return &row->analysis->blocks[row->insn->block].frequency;
}

static bool has_clock(const struct report *report)
{
	return hp_profiles_cycles_per_unit(report->profiles) > 0;
}

static void cell_block(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->has_block)
		hp_buffer_printf(text, "%" PRIu32, cell->row->block);
}

static void cell_executions(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		columns_add_number(text, frequency_of(cell->row)->executions);
}

static void cell_executions_low(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		columns_add_number(text, frequency_of(cell->row)->executions_low);
}

static void cell_executions_high(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		columns_add_number(text, frequency_of(cell->row)->executions_high);
}

static void cell_relative(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		columns_add_number(text, frequency_of(cell->row)->relative);
}

static void cell_confidence(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		hp_buffer_printf(text, "%s",
				 hp_confidence_name(
					 (enum hp_confidence)frequency_of(cell->row)->confidence));
}

static void cell_cycles(const struct cell *cell, struct hp_buffer *text)
{
	size_t event = hp_profiles_time_event(cell->report->profiles);

	if (cell->row->insn && has_clock(cell->report))
		columns_add_number(text, cell->row->insn->cycles);
	else if (has_clock(cell->report))
		columns_add_number(text, cell->row->tallies[event].cycles);
}

static void cell_cycles_per_execution(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn && has_clock(cell->report))
		columns_add_number(text,
				   cell->row->insn->cycles / frequency_of(cell->row)->executions);
}

static void cell_best_case(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		columns_add_number(text, cell->row->insn->best_case_cycles);
}

static void cell_stalls(const struct cell *cell, struct hp_buffer *text)
{
	if (cell->row->insn)
		columns_add_causes(text, cell->row->analysis, cell->row->insn);
}

const struct column columns_of_analysis[] = {
	{ "block", true, false, NO_EVENT, cell_block },
	{ "executions", true, false, NO_EVENT, cell_executions },
	{ "executions_low", true, false, NO_EVENT, cell_executions_low },
	{ "executions_high", true, false, NO_EVENT, cell_executions_high },
	{ "relative", true, false, NO_EVENT, cell_relative },
	{ "confidence", true, false, NO_EVENT, cell_confidence },
	{ "cycles", true, false, NO_EVENT, cell_cycles },
	{ "cycles_per_execution", true, false, NO_EVENT, cell_cycles_per_execution },
	{ "best_case", true, false, NO_EVENT, cell_best_case },
	{ "stalls", true, false, NO_EVENT, cell_stalls },
	{ 0 },
};
