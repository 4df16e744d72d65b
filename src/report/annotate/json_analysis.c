/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of a procedure as JSON; what the data does not say is null. */
#include "../common/json.h"
#include "../common/sheet.h"
#include "../common/state.h"

#include <hpcprof/base/buffer.h>
#include <hpcprof/infer/inference.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static const struct hp_frequency unknown_frequency = { NAN, NAN, NAN, NAN, NAN, NAN, 0, 0 };

/* With `more` members in front of the figures. */
static json_t *add_frequency(json_t *object, const struct hp_frequency *frequency)
{
	const struct hp_frequency *from = frequency ? frequency : &unknown_frequency;

	json_object_set_new(object, "estimate", json_number(from->executions));
	json_object_set_new(object, "low", json_number(from->executions_low));
	json_object_set_new(object, "high", json_number(from->executions_high));
	json_object_set_new(object, "relative", json_number(from->relative));
	json_object_set_new(object, "relative_low", json_number(from->relative_low));
	json_object_set_new(object, "relative_high", json_number(from->relative_high));
	json_object_set_new(object, "relative_confidence",
			    json_string(hp_confidence_name(from->relative_confidence)));
	json_object_set_new(object, "confidence",
			    json_string(hp_confidence_name(from->confidence)));
	return object;
}

json_t *json_executions(const struct hp_frequency *frequency)
{
	return add_frequency(json_object(), frequency);
}

/* Causes, the likeliest first: shares of the instruction's cycles. */
json_t *json_stalls(const struct hp_analysis *analysis, const struct hp_analysed_insn *insn)
{
	json_t *list = json_array();

	for (uint32_t i = 0; insn && i < insn->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[insn->first_cause + i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:f, s:f, s:f, s:o}", "cause",
				  hp_cause_name((enum hp_cause_kind)cause->kind), "low", cause->low,
				  "high", cause->high, "likely", cause->likely, "culprit",
				  json_address(cause->has_culprit, cause->culprit.value)));
	}
	return list;
}

/* --- the stack ---------------------------------------------------------------------------------
 */

/* In cycles, as the sheet is. */
static json_t *stack_line(const struct hp_stall_sheet *sheet, struct sheet_line line)
{
	const double unit = sheet->cycles / 100;

	return json_pack("{s:f, s:f, s:f}", "low", unit * line.low, "high", unit * line.high,
			 "likely", unit * line.likely);
}

json_t *json_stack(const struct hp_stall_sheet *sheet, bool is_absolute)
{
	struct sheet_sums sums = sheet_sum(sheet);
	json_t *causes;

	if (!(sheet->cycles > 0))
		return json_null();
	causes = json_object();
	for (int i = 0; i < HP_CAUSE_COUNT; i++)
		json_object_set_new(causes, hp_cause_name((enum hp_cause_kind)i),
				    stack_line(sheet, sheet_cause(sheet, (enum hp_cause_kind)i)));
	return json_pack(
		"{s:f, s:f, s:b, s:f, s:f, s:f, s:b, s:f, s:f, s:o, s:o, s:o, s:o, s:f, "
		"s:o, s:f}",
		"samples", sheet->samples, "medium_samples", sheet->medium_samples, "absolute",
		is_absolute, "cycles", sheet->cycles, "counted_cycles", sheet->counted_cycles,
		"execution", sheet->execution, "execution_measured", sheet_is_measured(sheet),
		"execution_low", sheet->cycles / 100 * sums.execution.low, "execution_high",
		sheet->cycles / 100 * sums.execution.high, "causes", causes, "dynamic_stalls",
		stack_line(sheet, sums.dynamic), "static_stalls", stack_line(sheet, sums.fixed),
		"total_stalls", stack_line(sheet, sums.stalls), "unexplained_gain",
		sheet->unexplained_gain, "gain", stack_line(sheet, sums.gain), "sampling_error",
		sheet->sampling_error);
}

/* --- edges and instructions --------------------------------------------------------------------
 *
 * Of a million of them most of a long report is: they are written as they come.
 */

static void write_member(const char *name, double value, FILE *out)
{
	fputs(", \"", out);
	fputs(name, out);
	fputs("\": ", out);
	json_write_number(value, out);
}

/* NULL: nothing is known. */
static void write_frequency(const struct hp_frequency *frequency, FILE *out)
{
	const struct hp_frequency *from = frequency ? frequency : &unknown_frequency;

	fputs("\"estimate\": ", out);
	json_write_number(from->executions, out);
	write_member("low", from->executions_low, out);
	write_member("high", from->executions_high, out);
	write_member("relative", from->relative, out);
	write_member("relative_low", from->relative_low, out);
	write_member("relative_high", from->relative_high, out);
	fprintf(out, ", \"relative_confidence\": \"%s\", \"confidence\": \"%s\"",
		hp_confidence_name(from->relative_confidence),
		hp_confidence_name(from->confidence));
}

/* Between blocks, those numbers that instructions have. */
static void write_edges(const struct hp_analysis *analysis, FILE *out)
{
	const struct hp_cfg *cfg = analysis->cfg;
	const char *separator = "";

	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];

		if (edge->from >= cfg->block_count || edge->to >= cfg->block_count)
			continue;
		fprintf(out, "%s{\"from\": %" PRIu32 ", \"to\": %" PRIu32 ", \"kind\": \"%s\"",
			separator, edge->from, edge->to,
			hp_edge_kind_name((enum hp_edge_kind)edge->kind));
		write_member("probability", hp_edge_probability(analysis, i), out);
		fputs(", ", out);
		write_frequency(&analysis->edges[i], out);
		putc('}', out);
		separator = ", ";
	}
}

static void write_loops(const struct hp_analysis *analysis, FILE *out)
{
	const struct hp_cfg *cfg = analysis->cfg;

	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		fprintf(out, "%s{\"header\": %" PRIu32 ", \"depth\": %" PRIu32, i ? ", " : "",
			cfg->loops[i].header, (uint32_t)cfg->loops[i].depth);
		write_member("trips", hp_loop_trips(analysis, i), out);
		putc('}', out);
	}
}

void json_write_cfg(const struct hp_cfg *cfg, const struct hp_analysis *analysis, FILE *out)
{
	if (!cfg) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"blocks\": %" PRIu32 ", \"edges\": %" PRIu32 ", \"missing_edges\": %s",
		cfg->block_count, cfg->inner_edge_count, cfg->missing_edges ? "true" : "false");
	fputs(", \"edge_list\": ", out);
	if (analysis) {
		putc('[', out);
		write_edges(analysis, out);
		fputs("], \"loops\": [", out);
		write_loops(analysis, out);
		fputs("]}", out);
	} else {
		fputs("null, \"loops\": null}", out);
	}
}

/* --- one instruction ------------------------------------------------------------------------------ */

static void write_address(const char *name, bool known, uint64_t address, FILE *out)
{
	if (known)
		fprintf(out, "\"%s\": \"0x%" PRIx64 "\"", name, address);
	else
		fprintf(out, "\"%s\": null", name);
}

static void write_bytes(const struct hp_row *row, FILE *out)
{
	static const char digits[] = "0123456789abcdef";

	fputs(", \"bytes\": \"", out);
	for (size_t i = 0; i < row->length; i++) {
		putc(digits[row->bytes[i] >> 4], out);
		putc(digits[row->bytes[i] & 15], out);
	}
	putc('"', out);
}

static struct hp_error *write_position(const struct hp_row *row, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	fputs(", \"line\": ", out);
	if (!row->file || !row->line)
		return json_write_text(NULL, out);
	hp_buffer_printf(&text, "%s:%" PRIu32, hp_source_name(row->file), row->line);
	return text.failed ? hp_error_create_no_memory()
			   : json_write_text(hp_buffer_text(&text), out);
}

static void write_samples(const struct report *report, const struct hp_row *row, FILE *out)
{
	fputs(", \"samples\": [", out);
	for (size_t i = 0; i < report->profiles->events.count; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", row->tallies[i].samples);
	putc(']', out);
}

static void write_cycles(const struct report *report, const struct hp_row *row,
			 const struct hp_analysis *analysis, FILE *out)
{
	const struct hp_analysed_insn *insn = row->insn;
	bool is_known = hp_profiles_cycles_per_unit(report->profiles) > 0;
	double total = NAN;
	double per_execution = NAN;

	if (insn && is_known) {
		total = insn->cycles;
		per_execution = total / analysis->blocks[insn->block].frequency.executions;
	} else if (is_known) {
		total = row->tallies[hp_profiles_time_event(report->profiles)].cycles;
	}
	fputs(", \"cycles\": {\"total\": ", out);
	json_write_number(total, out);
	write_member("per_execution", per_execution, out);
	write_member("best_case", insn ? insn->best_case_cycles : NAN, out);
	putc('}', out);
}

/* Causes, the likeliest first: shares of the instruction's cycles. */
static void write_stalls(const struct hp_analysis *analysis, const struct hp_analysed_insn *insn,
			 FILE *out)
{
	fputs(", \"stalls\": [", out);
	for (uint32_t i = 0; insn && i < insn->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[insn->first_cause + i];

		fprintf(out, "%s{\"cause\": \"%s\"", i ? ", " : "",
			hp_cause_name((enum hp_cause_kind)cause->kind));
		write_member("low", cause->low, out);
		write_member("high", cause->high, out);
		write_member("likely", cause->likely, out);
		fputs(", ", out);
		write_address("culprit", cause->has_culprit, cause->culprit.value, out);
		putc('}', out);
	}
	putc(']', out);
}

struct hp_error *json_write_instruction(const struct report *report, const struct hp_row *row,
					const struct hp_analysis *analysis, FILE *out)
{
	const struct hp_analysed_insn *insn = row->insn;
	struct hp_error *error;

	putc('{', out);
	write_address("address", row->has_address, row->address, out);
	if (row->has_block)
		fprintf(out, ", \"block\": %" PRIu32, row->block);
	else
		fputs(", \"block\": null", out);
	write_bytes(row, out);
	fputs(", \"text\": ", out);
	error = json_write_text(row->text, out);
	if (!error)
		error = write_position(row, out);
	write_samples(report, row, out);
	fputs(", \"executions\": {", out);
	write_frequency(insn ? &analysis->blocks[insn->block].frequency : NULL, out);
	putc('}', out);
	write_cycles(report, row, analysis, out);
	write_stalls(analysis, insn, out);
	putc('}', out);
	return error;
}

json_t *json_figure(const struct hp_counted_figure *figure)
{
	static const struct hp_counted_figure none = { NAN, NAN, NAN };
	const struct hp_counted_figure *from = figure ? figure : &none;

	return json_pack("{s:o, s:o, s:o}", "estimate", json_number(from->value), "low",
			 json_number(from->low), "high", json_number(from->high));
}

json_t *json_frequency_source(const struct report *report, const struct hp_analysis *analysis)
{
	static const char *const sources[HP_SOURCE_COUNT] = {
		[HP_SOURCE_GIVEN] = "counts",	   [HP_SOURCE_SHADOW] = "shadow",
		[HP_SOURCE_PROBES] = "probes",	   [HP_SOURCE_REGISTERS] = "registers",
		[HP_SOURCE_COUNTERS] = "counters",
	};
	json_t *list = json_array();

	if (!analysis)
		return list;
	switch (report->options->how.estimator) {
	case HP_ESTIMATOR_FLOW:
		json_array_append_new(list, json_string("time"));
		json_array_append_new(list, json_string("flow"));
		break;
	case HP_ESTIMATOR_DCPI:
		json_array_append_new(list, json_string("time"));
		break;
	case HP_ESTIMATOR_CONTROL:
		json_array_append_new(list, json_string("shape"));
		break;
	}
	for (unsigned i = 0; i < HP_SOURCE_COUNT; i++)
		if (analysis->sources >> i & 1)
			json_array_append_new(list, json_string(sources[i]));
	return list;
}
