/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of a procedure as JSON; what the data does not say is null. */
#include "../common/json.h"
#include "../common/sheet.h"
#include "../common/state.h"

#include <hpcprof/infer/inference.h>

#include <math.h>

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static const struct hp_frequency unknown_frequency = { NAN, NAN, NAN, NAN, NAN, NAN, 0, 0 };

/* `more`: members that come before the figures. */
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

/* Causes, the likeliest first, as shares of the instruction's cycles. */
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

/* NULL: there is none. */
json_t *json_together(const struct hp_analysed_insn *insn)
{
	const struct hp_joint_cause *joint = insn ? insn->joint : NULL;
	json_t *kinds;

	if (!joint)
		return NULL;
	kinds = json_array();
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		if (joint->kinds >> kind & 1)
			json_array_append_new(kinds,
					      json_string(hp_cause_name((enum hp_cause_kind)kind)));
	return json_pack("{s:o, s:f, s:f, s:f, s:o}", "causes", kinds, "low", joint->low, "high",
			 joint->high, "likely", joint->likely, "culprit",
			 json_address(joint->has_culprit, joint->culprit.value));
}

/* --- the stack -------------------------------------------------------------------------------- */

static void add_exact_member(struct hp_buffer *out, const char *name, double value)
{
	json_add(out, name);
	json_add_exact(out, value);
}

/* In cycles, like the sheet. */
static void add_stack_line(struct hp_buffer *out, const struct hp_stall_sheet *sheet,
			   struct sheet_line line)
{
	const double unit = sheet->cycles / 100;

	add_exact_member(out, "{\"low\": ", unit * line.low);
	add_exact_member(out, ", \"high\": ", unit * line.high);
	add_exact_member(out, ", \"likely\": ", unit * line.likely);
	json_add(out, "}");
}

static void add_stack_head(struct hp_buffer *out, const struct hp_stall_sheet *sheet,
			   const struct sheet_line *execution, bool is_absolute)
{
	add_exact_member(out, "{\"samples\": ", sheet->samples);
	add_exact_member(out, ", \"medium_samples\": ", sheet->medium_samples);
	json_add(out, is_absolute ? ", \"absolute\": true" : ", \"absolute\": false");
	add_exact_member(out, ", \"cycles\": ", sheet->cycles);
	add_exact_member(out, ", \"counted_cycles\": ", sheet->counted_cycles);
	add_exact_member(out, ", \"execution\": ", sheet->execution);
	json_add(out, sheet_is_measured(sheet) ? ", \"execution_measured\": true"
					       : ", \"execution_measured\": false");
	add_exact_member(out, ", \"execution_low\": ", sheet->cycles / 100 * execution->low);
	add_exact_member(out, ", \"execution_high\": ", sheet->cycles / 100 * execution->high);
}

static void add_families(struct hp_buffer *out, const struct hp_stall_sheet *sheet)
{
	json_add(out, ", \"together\": [");
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		const char *between = "";

		json_add(out, family ? ", {\"causes\": [" : "{\"causes\": [");
		for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
			if (!(hp_summed_kinds(family) >> kind & 1))
				continue;
			json_add(out, between);
			json_add(out, "\"");
			json_add(out, hp_cause_name((enum hp_cause_kind)kind));
			json_add(out, "\"");
			between = ", ";
		}
		json_add(out, "], \"cycles\": ");
		add_stack_line(out, sheet, sheet_family(sheet, family));
		json_add(out, "}");
	}
	json_add(out, "]");
}

void json_add_stack(struct hp_buffer *out, const struct hp_stall_sheet *sheet, bool is_absolute)
{
	struct sheet_sums sums;

	if (!(sheet->cycles > 0)) {
		json_add(out, "null");
		return;
	}
	sums = sheet_sum(sheet);
	add_stack_head(out, sheet, &sums.execution, is_absolute);
	json_add(out, ", \"causes\": {");
	for (int i = 0; i < HP_CAUSE_COUNT; i++) {
		json_add(out, i ? ", \"" : "\"");
		json_add(out, hp_cause_name((enum hp_cause_kind)i));
		json_add(out, "\": ");
		add_stack_line(out, sheet, sheet_cause(sheet, (enum hp_cause_kind)i));
	}
	json_add(out, "}");
	add_families(out, sheet);
	json_add(out, ", \"dynamic_stalls\": ");
	add_stack_line(out, sheet, sums.dynamic);
	json_add(out, ", \"static_stalls\": ");
	add_stack_line(out, sheet, sums.fixed);
	json_add(out, ", \"total_stalls\": ");
	add_stack_line(out, sheet, sums.stalls);
	add_exact_member(out, ", \"unexplained_gain\": ", sheet->unexplained_gain);
	json_add(out, ", \"gain\": ");
	add_stack_line(out, sheet, sums.gain);
	add_exact_member(out, ", \"sampling_error\": ", sheet->sampling_error);
	json_add(out, "}");
}

json_t *json_stack(const struct hp_stall_sheet *sheet, bool is_absolute)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	json_add_stack(&text, sheet, is_absolute);
	return text.failed ? NULL : json_loads(hp_buffer_text(&text), JSON_DECODE_ANY, NULL);
}

/* --- edges and instructions ---------------------------------------------------------------------
 * These make up most of a long report, so they are written without a tree of JSON values. */

static void add_member(struct hp_buffer *out, const char *name, double value)
{
	json_add(out, name);
	json_add_number(out, value);
}

/* Adds the members; NULL: nothing is known. */
static void add_frequency_members(struct hp_buffer *out, const struct hp_frequency *frequency)
{
	const struct hp_frequency *from = frequency ? frequency : &unknown_frequency;

	add_member(out, "\"estimate\": ", from->executions);
	add_member(out, ", \"low\": ", from->executions_low);
	add_member(out, ", \"high\": ", from->executions_high);
	add_member(out, ", \"relative\": ", from->relative);
	add_member(out, ", \"relative_low\": ", from->relative_low);
	add_member(out, ", \"relative_high\": ", from->relative_high);
	json_add(out, ", \"relative_confidence\": \"");
	json_add(out, hp_confidence_name(from->relative_confidence));
	json_add(out, "\", \"confidence\": \"");
	json_add(out, hp_confidence_name(from->confidence));
	json_add(out, "\"");
}

/* Adds edges between blocks, whose numbers the instructions have. */
static void add_edges(struct hp_buffer *out, const struct hp_analysis *analysis)
{
	const struct hp_cfg *cfg = analysis->cfg;
	const char *begin = "{\"from\": ";

	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];

		if (edge->from >= cfg->block_count || edge->to >= cfg->block_count)
			continue;
		json_add(out, begin);
		json_add_count(out, edge->from);
		json_add(out, ", \"to\": ");
		json_add_count(out, edge->to);
		json_add(out, ", \"kind\": \"");
		json_add(out, hp_edge_kind_name((enum hp_edge_kind)edge->kind));
		add_member(out, "\", \"probability\": ", hp_edge_probability(analysis, i));
		json_add(out, ", ");
		add_frequency_members(out, &analysis->edges[i]);
		json_add(out, "}");
		begin = ", {\"from\": ";
	}
}

static void add_loops(struct hp_buffer *out, const struct hp_analysis *analysis)
{
	const struct hp_cfg *cfg = analysis->cfg;

	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		json_add(out, i ? ", {\"header\": " : "{\"header\": ");
		json_add_count(out, cfg->loops[i].header);
		json_add(out, ", \"depth\": ");
		json_add_count(out, cfg->loops[i].depth);
		add_member(out, ", \"trips\": ", hp_loop_trips(analysis, i));
		json_add(out, "}");
	}
}

void json_add_cfg(struct hp_buffer *out, const struct hp_cfg *cfg,
		  const struct hp_analysis *analysis)
{
	if (!cfg) {
		json_add(out, "null");
		return;
	}
	json_add(out, "{\"blocks\": ");
	json_add_count(out, cfg->block_count);
	json_add(out, ", \"edges\": ");
	json_add_count(out, cfg->inner_edge_count);
	json_add(out,
		 cfg->missing_edges ? ", \"missing_edges\": true" : ", \"missing_edges\": false");
	if (analysis) {
		json_add(out, ", \"edge_list\": [");
		add_edges(out, analysis);
		json_add(out, "], \"loops\": [");
		add_loops(out, analysis);
		json_add(out, "]}");
	} else {
		json_add(out, ", \"edge_list\": null, \"loops\": null}");
	}
}

/* --- one instruction ------------------------------------------------------------------------------ */

static void add_bytes(struct hp_buffer *out, const struct hp_row *row)
{
	static const char digits[] = "0123456789abcdef";

	json_add(out, ", \"bytes\": \"");
	for (size_t i = 0; i < row->length; i++) {
		const char byte[] = { digits[row->bytes[i] >> 4], digits[row->bytes[i] & 15] };

		hp_buffer_add(out, byte, sizeof(byte));
	}
	json_add(out, "\"");
}

static void add_position(struct hp_buffer *out, const struct hp_row *row)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	json_add(out, ", \"line\": ");
	if (!row->file || !row->line) {
		json_add(out, "null");
		return;
	}
	json_add(&text, hp_source_name(row->file));
	json_add(&text, ":");
	json_add_count(&text, row->line);
	json_add_text(out, hp_buffer_text(&text));
	out->failed = out->failed || text.failed;
}

static void add_samples(struct hp_buffer *out, const struct report *report,
			const struct hp_row *row)
{
	json_add(out, ", \"samples\": [");
	for (size_t i = 0; i < report->profiles->events.count; i++) {
		json_add(out, i ? ", " : "");
		json_add_count(out, row->tallies[i].samples);
	}
	json_add(out, "]");
}

static void add_cycles(struct hp_buffer *out, const struct report *report, const struct hp_row *row,
		       const struct hp_analysis *analysis)
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
	add_member(out, ", \"cycles\": {\"total\": ", total);
	add_member(out, ", \"per_execution\": ", per_execution);
	add_member(out, ", \"best_case\": ", insn ? insn->best_case_cycles : NAN);
	json_add(out, "}");
}

/* Causes, the likeliest first, as shares of the instruction's cycles. */
static void add_stalls(struct hp_buffer *out, const struct hp_analysis *analysis,
		       const struct hp_analysed_insn *insn)
{
	json_add(out, ", \"stalls\": [");
	for (uint32_t i = 0; insn && i < insn->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[insn->first_cause + i];

		json_add(out, i ? ", {\"cause\": \"" : "{\"cause\": \"");
		json_add(out, hp_cause_name((enum hp_cause_kind)cause->kind));
		add_member(out, "\", \"low\": ", cause->low);
		add_member(out, ", \"high\": ", cause->high);
		add_member(out, ", \"likely\": ", cause->likely);
		json_add(out, ", \"culprit\": ");
		json_add_address(out, cause->has_culprit, cause->culprit.value);
		json_add(out, "}");
	}
	json_add(out, "]");
}

static void add_together(struct hp_buffer *out, const struct hp_joint_cause *joint)
{
	const char *between = "\"";

	json_add(out, ", \"together\": {\"causes\": [");
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		if (!(joint->kinds >> kind & 1))
			continue;
		json_add(out, between);
		json_add(out, hp_cause_name((enum hp_cause_kind)kind));
		between = "\", \"";
	}
	add_member(out, "\"], \"low\": ", joint->low);
	add_member(out, ", \"high\": ", joint->high);
	add_member(out, ", \"likely\": ", joint->likely);
	json_add(out, ", \"culprit\": ");
	json_add_address(out, joint->has_culprit, joint->culprit.value);
	json_add(out, "}");
}

/* What an instruction's block executes, as text, for all instructions of the block. */
struct executions_text {
	const struct hp_frequency *of;
	struct hp_buffer text;
};

static void add_executions(struct hp_buffer *out, const struct hp_row *row,
			   const struct hp_analysis *analysis, struct executions_text *last)
{
	const struct hp_frequency *of = row->insn ? &analysis->blocks[row->insn->block].frequency
						  : &unknown_frequency;

	if (of != last->of) {
		hp_buffer_clear(&last->text);
		json_add(&last->text, ", \"executions\": {");
		add_frequency_members(&last->text, of);
		json_add(&last->text, "}");
		last->of = of;
	}
	hp_buffer_add(out, hp_buffer_text(&last->text), last->text.size);
	out->failed = out->failed || last->text.failed;
}

/* Footprints are not events, but sums over windows. */
static bool is_footprint(size_t kind)
{
	return kind == HP_EVENT_LINES || kind == HP_EVENT_PAGES || kind == HP_EVENT_MET;
}

static void add_happened(struct hp_buffer *out, const struct hp_happened *seen)
{
	const char *between = "";

	add_member(out, "\"simulated\": ", seen->runs);
	json_add(out, ", \"events\": {");
	for (size_t kind = 0; kind < HP_EVENT_KINDS; kind++) {
		if (!(seen->mean[kind] > 0) || is_footprint(kind))
			continue;
		json_add(out, between);
		json_add(out, "\"");
		json_add(out, hp_event_kind_name((enum hp_event_kind)kind));
		add_member(out, "\": {\"mean\": ", seen->mean[kind]);
		add_member(out, ", \"low\": ", seen->least[kind]);
		add_member(out, ", \"high\": ", seen->most[kind]);
		json_add(out, "}");
		between = ", ";
	}
	json_add(out, "}");
}

json_t *json_happened(const struct hp_happened *seen)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	json_add(&text, "{");
	add_happened(&text, seen);
	json_add(&text, "}");
	return text.failed ? NULL : json_loads(hp_buffer_text(&text), JSON_DECODE_ANY, NULL);
}

static void add_instruction(struct hp_buffer *out, const struct report *report,
			    const struct hp_row *row, const struct hp_analysis *analysis,
			    struct executions_text *executions)
{
	json_add(out, "{\"address\": ");
	json_add_address(out, row->has_address, row->address);
	json_add(out, ", \"block\": ");
	if (row->has_block)
		json_add_count(out, row->block);
	else
		json_add(out, "null");
	add_bytes(out, row);
	json_add(out, ", \"text\": ");
	json_add_text(out, row->text);
	add_position(out, row);
	add_samples(out, report, row);
	add_executions(out, row, analysis, executions);
	add_cycles(out, report, row, analysis);
	add_stalls(out, analysis, row->insn);
	if (row->insn && row->insn->joint)
		add_together(out, row->insn->joint);
	if (row->insn && row->insn->happened) {
		json_add(out, ", ");
		add_happened(out, row->insn->happened);
	}
	json_add(out, "}");
}

void json_add_instructions(struct hp_buffer *out, const struct report *report,
			   const struct hp_row *rows, size_t count,
			   const struct hp_analysis *analysis)
{
	struct executions_text executions = { 0 };

	for (size_t i = 0; i < count; i++) {
		json_add(out, i ? ",\n" : "\n");
		add_instruction(out, report, &rows[i], analysis, &executions);
	}
	hp_buffer_free(&executions.text);
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
