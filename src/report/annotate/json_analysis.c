/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the analysis found, as JSON: null is what the data does not say. */
#include "../common/json.h"
#include "../common/sheet.h"
#include "../common/state.h"

#include <hpcprof/infer/inference.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* With `more` members in front of the figures. */
static json_t *add_frequency(json_t *object, const struct hp_frequency *frequency)
{
	static const struct hp_frequency none = { NAN, NAN, NAN, NAN, NAN, NAN, 0, 0 };
	const struct hp_frequency *from = frequency ? frequency : &none;

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

json_t *json_cycles(const struct report *report, const struct hp_row *row,
		    const struct hp_analysis *analysis, const struct hp_analysed_insn *insn)
{
	size_t event = hp_profiles_time_event(report->profiles);
	double cycles_per_unit = hp_profiles_cycles_per_unit(report->profiles);
	double total = NAN;
	double per_execution = NAN;

	if (insn && cycles_per_unit > 0) {
		total = insn->cycles;
		per_execution = total / analysis->blocks[insn->block].frequency.executions;
	} else if (cycles_per_unit > 0) {
		total = row->tallies[event].cycles;
	}
	return json_pack("{s:o, s:o, s:o}", "total", json_number(total), "per_execution",
			 json_number(per_execution), "best_case",
			 json_number(insn ? insn->best_case_cycles : NAN));
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

/* --- the graph ---------------------------------------------------------------------------------
 *
 * Of a million edges most of a long report is: they are written as they come, in jansson's way.
 */

/* As jansson does: 17 digits, never without a point or an exponent, which has no plus and no zeros. */
static void write_number(double value, FILE *out)
{
	enum { MOST_EXACT = 1000000000 };
	char text[32];
	char *exponent;

	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	/* Printing digits is what takes the time, and many are few. */
	if (fabs(value) < MOST_EXACT && value == (double)(int64_t)value && !signbit(value)) {
		fprintf(out, "%" PRId64 ".0", (int64_t)value);
		return;
	}
	snprintf(text, sizeof(text), "%.17g", value);
	exponent = strchr(text, 'e');
	if (!exponent) {
		fputs(text, out);
		if (!strchr(text, '.'))
			fputs(".0", out);
		return;
	}
	fprintf(out, "%.*s%d", (int)(exponent + 1 - text), text, atoi(exponent + 1));
}

static void write_member(const char *name, double value, FILE *out)
{
	fputs(", \"", out);
	fputs(name, out);
	fputs("\": ", out);
	write_number(value, out);
}

static void write_frequency(const struct hp_frequency *frequency, FILE *out)
{
	write_member("estimate", frequency->executions, out);
	write_member("low", frequency->executions_low, out);
	write_member("high", frequency->executions_high, out);
	write_member("relative", frequency->relative, out);
	write_member("relative_low", frequency->relative_low, out);
	write_member("relative_high", frequency->relative_high, out);
	fprintf(out, ", \"relative_confidence\": \"%s\", \"confidence\": \"%s\"",
		hp_confidence_name(frequency->relative_confidence),
		hp_confidence_name(frequency->confidence));
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
