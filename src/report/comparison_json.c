/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "hpcprof-check/1". What is not known, and what is infinite, is null. */
#include "comparison.h"

#include "json.h"

#include <math.h>

static json_t *measured_object(const struct hp_measured *measured)
{
	return json_pack("{s:o, s:o, s:o}", "estimate", json_number(measured->value), "low",
			 json_number(measured->low), "high", json_number(measured->high));
}

static json_t *cost_object(const struct hp_compared_cost *cost)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "cost", json_number(cost->cost.value), "low",
			 json_number(cost->cost.low), "high", json_number(cost->cost.high),
			 "samples", json_count(cost->samples));
}

/* Line 0 is none. */
static json_t *line_value(uint32_t line)
{
	return line ? json_integer(line) : json_null();
}

static json_t *file_value(const struct comparison_writer *writer, const char *file)
{
	return json_text(file ? comparison_relative_path(writer, file) : NULL);
}

static json_t *shifts_array(const struct hp_compared *compared)
{
	json_t *shifts = json_array();

	for (size_t i = 0; i < compared->shift_count; i++) {
		const struct hp_cost_shift *shift = &compared->shifts[i];

		json_array_append_new(shifts, json_pack("{s:o, s:o, s:o, s:o}", "name",
							json_text(shift->partner->name), "image",
							json_text(shift->partner->image), "cost",
							json_number(shift->cost), "why",
							json_text(shift->why)));
	}
	return shifts;
}

static json_t *code_side(const struct hp_compared_code *code, enum hp_side side)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "line", line_value(code->line[side]),
			 "address", json_address(code->address[side] != 0, code->address[side]),
			 "text", json_text(code->text[side]), "samples",
			 json_count(code->samples[side]), "cost", json_number(code->cost[side]));
}

static json_t *code_array(const struct comparison_writer *writer,
			  const struct hp_compared *compared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < compared->code_count; i++) {
		const struct hp_compared_code *code = &compared->code[i];

		json_array_append_new(array,
				      json_pack("{s:o, s:b, s:o, s:o}", "file",
						file_value(writer, code->file), "changed",
						code->is_changed, "base", code_side(code, HP_BASE),
						"candidate", code_side(code, HP_CANDIDATE)));
	}
	return array;
}

/* Without its parts. */
static json_t *compared_object(const struct comparison_writer *writer,
			       const struct hp_compared *compared)
{
	json_t *object = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scope", hp_scope_name(compared->scope),
		"name", json_text(compared->name), "image", json_text(compared->image), "file",
		file_value(writer, compared->file), "line", line_value(compared->line),
		"former_name", json_text(compared->former_name), "base",
		cost_object(&compared->side[HP_BASE]), "candidate",
		cost_object(&compared->side[HP_CANDIDATE]));
	json_t *more = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "change",
		measured_object(&compared->change), "lost", measured_object(&compared->lost), "p",
		json_number(compared->p), "q", json_number(compared->q), "smallest_change",
		json_number(compared->smallest_change), "finding", compared->is_finding, "shift",
		compared->is_shift, "shifts", shifts_array(compared));

	json_object_update(object, more);
	json_decref(more);
	return object;
}

static json_t *findings_array(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	json_t *findings = json_array();

	for (size_t i = 0; i < comparison->finding_count; i++) {
		json_t *object = compared_object(writer, comparison->findings[i]);

		json_object_set_new(object, "code", code_array(writer, comparison->findings[i]));
		json_array_append_new(findings, object);
	}
	return findings;
}

/* Images, their procedures, their lines. */
static json_t *tree(const struct comparison_writer *writer, const struct hp_compared *compared)
{
	json_t *object = compared_object(writer, compared);
	json_t *parts = json_array();

	/* Three levels: no deeper than that. */
	for (size_t i = 0; i < compared->part_count; i++)
		json_array_append_new(parts, tree(writer, compared->parts[i]));
	json_object_set_new(object, "parts", parts);
	return object;
}

static json_t *epochs_array(const struct hp_compared_side *side)
{
	json_t *epochs = json_array();

	for (size_t i = 0; i < side->epoch_count; i++) {
		const struct hp_compared_epoch *epoch = &side->epochs[i];

		json_array_append_new(
			epochs,
			json_pack("{s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "epoch",
				  json_text(epoch->stamp), "label", json_text(epoch->label),
				  "start_s", (double)epoch->start_ns / 1e9, "runs",
				  json_count(epoch->runs), "work",
				  epoch->work > 0 ? json_number(epoch->work) : json_null(),
				  "elapsed_s", json_number(epoch->elapsed_ns / 1e9), "cpu_s",
				  json_number(epoch->cpu_ns / 1e9), "cost",
				  json_number(epoch->cost), "samples", json_count(epoch->samples)));
	}
	return epochs;
}

static json_t *side_object(const struct hp_compared_side *side)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "database",
			 json_text(side->database), "cpu", json_text(side->cpu_model), "command",
			 json_text(side->command), "runs", json_count(side->runs), "samples",
			 json_count(side->samples), "period", json_number(side->period), "epochs",
			 epochs_array(side));
}

static json_t *shortages_array(const struct hp_comparison *comparison)
{
	json_t *shortages = json_array();

	for (size_t i = 0; i < comparison->shortage_count; i++) {
		const struct hp_shortage *shortage = &comparison->shortages[i];

		json_array_append_new(
			shortages,
			json_pack("{s:o, s:o, s:o, s:o}", "reason", json_text(shortage->reason),
				  "advice", json_text(shortage->advice), "more_runs",
				  shortage->more_runs ? json_count(shortage->more_runs)
						      : json_null(),
				  "more_samples",
				  shortage->more_samples ? json_count(shortage->more_samples)
							 : json_null()));
	}
	return shortages;
}

static json_t *notes_array(const struct hp_comparison *comparison)
{
	json_t *notes = json_array();

	for (size_t i = 0; i < comparison->note_count; i++)
		json_array_append_new(notes, json_text(comparison->notes[i]));
	return notes;
}

json_t *comparison_document(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	json_t *document = json_pack("{s:s, s:s, s:o, s:s, s:b, s:o}", "schema", "hpcprof-check/1",
				     "verdict", hp_verdict_name(comparison->verdict), "event",
				     json_text(comparison->event), "unit",
				     hp_unit_name(comparison->unit), "relative",
				     comparison->is_relative, "per", json_text(comparison->per));
	json_t *more = json_pack(
		"{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "min_change",
		json_number(comparison->least_change), "min_of_program",
		json_number(comparison->least_of_program), "dispersion",
		json_number(comparison->dispersion), "run_deviation",
		json_number(comparison->run_deviation), "interleaved", comparison->is_interleaved,
		"base", side_object(&comparison->sides[HP_BASE]), "candidate",
		side_object(&comparison->sides[HP_CANDIDATE]), "findings", findings_array(writer),
		"program", tree(writer, comparison->program), "shortages",
		shortages_array(comparison), "notes", notes_array(comparison));

	if (json_object_update(document, more) < 0) {
		json_decref(document);
		document = NULL;
	}
	json_decref(more);
	return document;
}

struct hp_error *comparison_write_json(const struct comparison_writer *writer)
{
	struct hp_error *error = json_write(comparison_document(writer), false, writer->out);

	if (!error)
		putc('\n', writer->out);
	return error;
}
