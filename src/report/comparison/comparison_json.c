/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "hpcprof-check/1" and "hpcprof-diff/1". What is not known, and what is infinite, is null. */
#include "comparison.h"

#include "../common/json.h"

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

/* Line 0: unknown. */
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

/* The object without its parts. */
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
	if (compared->share_change.high != 0) {
		json_object_set_new(object, "share_change",
				    measured_object(&compared->share_change));
		json_object_set_new(object, "share_p", json_number(compared->share_p));
	}
	return object;
}

static json_t *extent_object(const struct hp_compared_extent *extent)
{
	if (!extent->end)
		return json_null();
	return json_pack("{s:o, s:o}", "start", json_address(true, extent->start), "end",
			 json_address(true, extent->end));
}

/* Blocks only; lines are in the tree. */
static json_t *blocks_array(const struct comparison_writer *writer,
			    const struct hp_compared *compared)
{
	json_t *blocks = json_array();

	for (size_t i = 0; i < compared->block_count; i++) {
		const struct hp_compared *block = compared->blocks[i];
		json_t *object = compared_object(writer, block);

		json_object_set_new(object, "extent",
				    json_pack("{s:o, s:o}", "base",
					      extent_object(&block->extent[HP_BASE]), "candidate",
					      extent_object(&block->extent[HP_CANDIDATE])));
		json_array_append_new(blocks, object);
	}
	return blocks;
}

static json_t *caller_object(const struct hp_compared_caller *caller)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "name", json_text(caller->name),
			 "image", json_text(caller->image), "of_change",
			 measured_object(&caller->of_change), "base",
			 measured_object(&caller->cost[HP_BASE]), "candidate",
			 measured_object(&caller->cost[HP_CANDIDATE]), "p", json_number(caller->p),
			 "blamed", caller->is_blamed);
}

/* Null if nothing is known of callers. */
static json_t *callers_object(const struct hp_compared_callers *callers)
{
	json_t *list;

	if (!hp_blame_name(callers->blame))
		return json_null();
	list = json_array();
	for (size_t i = 0; i < callers->count; i++)
		json_array_append_new(list, caller_object(&callers->at[i]));
	return json_pack("{s:s, s:o, s:{s:o, s:o}, s:o}", "blame", hp_blame_name(callers->blame),
			 "through", json_text(callers->through), "samples", "base",
			 json_count(callers->samples[HP_BASE]), "candidate",
			 json_count(callers->samples[HP_CANDIDATE]), "callers", list);
}

static json_t *calls_array(const struct hp_compared *compared)
{
	json_t *calls = json_array();

	for (size_t i = 0; i < compared->call_count; i++) {
		const struct hp_compared_calls *one = &compared->calls[i];

		json_array_append_new(
			calls, json_pack("{s:o, s:o, s:o, s:o, s:o}", "caller",
					 json_text(one->name), "image", json_text(one->image),
					 "base", measured_object(&one->calls[HP_BASE]), "candidate",
					 measured_object(&one->calls[HP_CANDIDATE]), "ratio",
					 measured_object(&one->ratio)));
	}
	return calls;
}

/* Null if a side's cycles are not known by cause. */
static json_t *causes_array(const struct hp_compared *compared)
{
	json_t *causes;

	if (!compared->has_causes)
		return json_null();
	causes = json_array();
	for (size_t i = 0; i < compared->cause_count; i++) {
		const struct hp_compared_cause *one = &compared->causes[i];

		json_array_append_new(causes,
				      json_pack("{s:s, s:o, s:o}", "cause", one->name, "base",
						measured_object(&one->share[HP_BASE]), "candidate",
						measured_object(&one->share[HP_CANDIDATE])));
	}
	return causes;
}

/* The same as sentences. */
static json_t *sentences_array(const struct hp_comparison *comparison,
			       const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer sentence = { 0 };
	json_t *sentences = json_array();
	size_t next = 0;

	while (comparison_next_caller(&sentence, comparison, compared, &next)) {
		json_array_append_new(
			sentences, sentence.failed ? NULL : json_text(hp_buffer_text(&sentence)));
		hp_buffer_clear(&sentence);
	}
	return sentences;
}

static json_t *coded_object(const struct comparison_writer *writer,
			    const struct hp_compared *compared)
{
	json_t *object = compared_object(writer, compared);

	json_object_set_new(object, "code", code_array(writer, compared));
	json_object_set_new(object, "blocks", blocks_array(writer, compared));
	json_object_set_new(object, "callers", callers_object(&compared->callers));
	json_object_set_new(object, "calls", calls_array(compared));
	json_object_set_new(object, "causes", causes_array(compared));
	json_object_set_new(object, "sentences", sentences_array(writer->comparison, compared));
	return object;
}

static json_t *findings_array(const struct comparison_writer *writer, size_t count)
{
	json_t *findings = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(findings,
				      coded_object(writer, writer->comparison->findings[i]));
	return findings;
}

static bool has_finding(const struct hp_compared *compared)
{
	bool found = compared->is_finding;

	for (size_t i = 0; i < compared->part_count && !found; i++)
		found = has_finding(compared->parts[i]);
	return found;
}

/* Images, their procedures and their lines: the `most` most expensive of each, and all findings. */
static json_t *tree(const struct comparison_writer *writer, const struct hp_compared *compared,
		    size_t most)
{
	json_t *object = compared_object(writer, compared);
	json_t *parts = json_array();

	/* There are only three levels. */
	for (size_t i = 0; i < compared->part_count; i++)
		if (i < most || has_finding(compared->parts[i]))
			json_array_append_new(parts, tree(writer, compared->parts[i], most));
	json_object_set_new(object, "parts_left_out",
			    json_count(compared->part_count - json_array_size(parts)));
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

/* --- documents ------------------------------------------------------------------------------- */

/* Releases both. NULL: out of memory. */
static json_t *join(json_t *document, json_t *more)
{
	if (json_object_update(document, more) < 0) {
		json_decref(document);
		document = NULL;
	}
	json_decref(more);
	return document;
}

/* What was compared, how, and notes about it. */
static json_t *header(const struct hp_comparison *comparison, const char *schema)
{
	return join(
		json_pack("{s:s, s:o, s:s, s:b, s:o, s:o, s:o, s:I, s:b, s:b}", "schema", schema,
			  "event", json_text(comparison->event), "unit",
			  hp_unit_name(comparison->unit), "relative", comparison->is_relative,
			  "per", json_text(comparison->per), "dispersion",
			  json_number(comparison->dispersion), "run_deviation",
			  json_number(comparison->run_deviation), "learned_epochs",
			  (json_int_t)comparison->learned_epochs, "interleaved",
			  comparison->is_interleaved, "side_by_side", comparison->is_side_by_side),
		json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "same_build", comparison->is_same_build,
			  "machine", json_number(comparison->machine), "base",
			  side_object(&comparison->sides[HP_BASE]), "candidate",
			  side_object(&comparison->sides[HP_CANDIDATE]), "shortages",
			  shortages_array(comparison), "notes", notes_array(comparison)));
}

json_t *comparison_document(const struct comparison_writer *writer, size_t most)
{
	const struct hp_comparison *comparison = writer->comparison;
	size_t count = comparison->finding_count < most ? comparison->finding_count : most;

	return join(header(comparison, "hpcprof-check/1"),
		    json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "verdict",
			      hp_verdict_name(comparison->verdict), "min_change",
			      json_number(comparison->least_change), "min_of_program",
			      json_number(comparison->least_of_program), "findings",
			      findings_array(writer, count), "findings_left_out",
			      json_count(comparison->finding_count - count), "program",
			      tree(writer, comparison->program, most)));
}

struct hp_error *comparison_write_json(const struct comparison_writer *writer)
{
	size_t most = writer->options->most_findings ? writer->options->most_findings : SIZE_MAX;
	struct hp_error *error = json_write(comparison_document(writer, most), false, writer->out);

	if (!error)
		putc('\n', writer->out);
	return error;
}

struct hp_error *comparison_write_differences_json(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	size_t most = comparison_most_findings(writer);
	size_t count;
	const struct hp_compared **list = comparison_differences(comparison, &count);
	json_t *procedures = json_array();
	json_t *document;
	struct hp_error *error;

	if (!list)
		return hp_error_create_no_memory();
	/* The first one is the program; only code was asked for. */
	for (size_t i = 1; i < count; i++)
		if (i <= most || list[i]->code_count)
			json_array_append_new(procedures, coded_object(writer, list[i]));
	free(list);
	document =
		join(header(comparison, "hpcprof-diff/1"),
		     json_pack("{s:o, s:o, s:o}", "program",
			       compared_object(writer, comparison->program), "procedures_left_out",
			       json_count(count - 1 - json_array_size(procedures)), "procedures",
			       procedures));
	error = json_write(document, false, writer->out);
	if (!error)
		putc('\n', writer->out);
	return error;
}
