/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON, whose members are a contract: hpcprof-report(1) describes them. Rows are written one by
 * one, so that a long report does not have to fit into memory as a tree.
 */
#include "stalls/write_culprits.h"
#include "stalls/sampled_stack.h"
#include "stalls/write_stack.h"
#include "stalls/write_stalls.h"
#include "stalls/write_what_if.h"
#include "executions/write_executions.h"
#include "tables/breakdown.h"
#include "tables/columns_counts.h"
#include "common/json.h"
#include "common/parallel.h"
#include "annotate/listing.h"
#include "common/state.h"
#include "paths/write_paths.h"
#include "stalls/survey.h"
#include "write.h"

#include <hpcprof/infer/inference.h>

/* --- procedures and instructions: rows under their images ----------------------------------- */

/* `buffer`: what is in it is of no use any more. */
static struct hp_error *write_cfg(const struct hp_cfg *cfg, const struct hp_analysis *analysis,
				  struct hp_buffer *buffer, FILE *out)
{
	hp_buffer_clear(buffer);
	json_add(buffer, ", \"cfg\": ");
	json_add_cfg(buffer, cfg, analysis);
	return hp_buffer_write(buffer, out);
}

static struct hp_error *write_stack(const struct hp_analysis *analysis, struct hp_buffer *buffer,
				    FILE *out)
{
	hp_buffer_clear(buffer);
	json_add(buffer, ", \"stack\": ");
	if (analysis)
		json_add_stack(buffer, &analysis->sheet, analysis->is_absolute);
	else
		json_add(buffer, "null");
	return hp_buffer_write(buffer, out);
}

static struct hp_error *write_instructions(const struct report *report,
					   const struct listing *listing,
					   const struct hp_analysis *analysis,
					   struct hp_buffer *buffer, FILE *out)
{
	hp_buffer_clear(buffer);
	json_add(buffer, ", \"instructions\": [");
	json_add_instructions(buffer, report, listing->rows.at, listing->rows.count, analysis);
	json_add(buffer, "]");
	return hp_buffer_write(buffer, out);
}

static json_t *caveats_array(const struct listing *listing)
{
	json_t *array = json_array();

	for (size_t i = 0; i < listing->caveats.count; i++)
		if (json_array_append_new(array, json_text(listing->caveats.at[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *counts_object(const struct report *report, const struct hp_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "calls", json_figure(&row->counts->calls),
			 "instructions", json_figure(&row->counts->instructions), "cycles_per_call",
			 json_number(counts_cycles_per_call(report, row)), "instructions_per_cycle",
			 json_number(counts_instructions_per_cycle(report, row)));
}

static struct hp_error *list(struct report *report, const struct hp_row *row,
			     struct listing *listing, const struct hp_analysis **analysis)
{
	bool is_analysed = listing_is_analysed(report, row);
	struct hp_error *error = listing_make(
		report, row, report->options->of.listed ? LISTING_ALL : LISTING_COSTLY, listing);

	if (!is_analysed)
		listing->no_graph = "it has few samples; if it is named, it is analysed";
	else if (!error)
		error = listing_add_blocks(report, row, listing);
	if (!error)
		error = listing_add_caveats(report, row, listing);
	if (!error && is_analysed)
		error = hp_inference_row(report->inference, row, analysis);
	if (!error && is_analysed)
		error = listing_add_analysis(report, row, listing);
	return error;
}

/* A list of procedures does without graphs: of all its code only the names are read. */
static struct hp_error *write_procedure(struct report *report, const struct hp_row *row,
					struct hp_buffer *buffer, FILE *out)
{
	_cleanup_(listing_clear) struct listing listing = { 0 };
	bool has_instructions = report->options->view == HP_VIEW_INSTRUCTIONS;
	const struct hp_analysis *analysis = NULL;
	struct hp_error *error = NULL;
	json_t *object;

	if (has_instructions)
		error = list(report, row, &listing, &analysis);
	if (error)
		return error;
	object = json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(row->name), "address",
			   json_address(row->has_address, row->address), "size",
			   row->has_address ? json_count(row->size) : json_null(), "samples",
			   json_samples(report, row->tallies));
	error = json_write(object, true, out);
	if (!error)
		error = write_cfg(listing.cfg, analysis, buffer, out);
	if (error)
		return error;
	error = json_write_more(json_pack("{s:o, s:o}", "not_analysed", caveats_array(&listing),
					  "frequency_source",
					  json_frequency_source(report, analysis)),
				out);
	if (!error && has_instructions)
		error = write_stack(analysis, buffer, out);
	if (!error && row->counts)
		error = json_write_more(json_pack("{s:o}", "counts", counts_object(report, row)),
					out);
	if (!error && has_instructions)
		error = write_instructions(report, &listing, analysis, buffer, out);
	fputs("}", out);
	return error;
}

static struct hp_error *open_image(const struct report *report, const struct hp_loaded_image *image,
				   FILE *out)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < report->profiles->events.count; i++)
		samples += image->tallies[i].samples;
	return json_write(json_pack("{s:o, s:o, s:o}", "path", json_text(image->id.path),
				    "build_id", json_text(image->build_id), "samples",
				    json_count(samples)),
			  true, out);
}

/* Row numbers with those of one image together, images in the order of their first row. */
static struct hp_error *group_rows(const struct report *report, size_t **order)
{
	size_t count = report->profiles->rows.count;
	size_t images = report->profiles->images.count;
	_cleanup_free_ size_t *start = calloc(images + 1, sizeof(*start)); /* rows, then position */
	_cleanup_free_ bool *seen = calloc(images + 1, sizeof(*seen));
	size_t next = 0;

	*order = calloc(count + 1, sizeof(**order));
	if (!start || !seen || !*order)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		start[report->profiles->rows.at[i]->image->index]++;
	for (size_t i = 0; i < count; i++) {
		size_t image = report->profiles->rows.at[i]->image->index;
		size_t rows = start[image];

		if (seen[image])
			continue;
		seen[image] = true;
		start[image] = next;
		next += rows;
	}
	for (size_t i = 0; i < count; i++)
		(*order)[start[report->profiles->rows.at[i]->image->index]++] = i;
	return NULL;
}

struct ordered {
	struct report *report;
	const size_t *order;
	struct hp_arena *arena;	  /* of the graph and the analysis of one row */
	struct hp_buffer *buffer; /* for texts of one row: its memory serves the next one, too */
};

static const struct hp_row *row_at(const struct ordered *ordered, size_t item)
{
	return ordered->report->profiles->rows.at[ordered->order[item]];
}

/* A parallel_item. */
static struct hp_error *write_item(void *context, size_t item, FILE *out)
{
	const struct ordered *ordered = context;
	const struct hp_row *row = row_at(ordered, item);
	struct hp_error *error;

	hp_inference_make_in(ordered->report->inference, ordered->arena);
	error = write_procedure(ordered->report, row, ordered->buffer, out);
	hp_inference_make_in(ordered->report->inference, NULL);
	if (row->code)
		hp_inference_forget(row->code);
	hp_arena_reset(ordered->arena);
	return error;
}

static struct hp_error *write_images(const struct ordered *ordered, struct parallel *parallel,
				     FILE *out)
{
	size_t count = ordered->report->profiles->rows.count;
	const struct hp_loaded_image *image = NULL;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < count && !error; i++) {
		const struct hp_row *row = row_at(ordered, i);

		if (row->image != image) {
			fputs(image ? "]},\n" : "\n", out);
			error = open_image(ordered->report, row->image, out);
			fputs(", \"procedures\": [\n", out);
		} else {
			fputs(",\n", out);
		}
		image = row->image;
		if (!error)
			error = parallel_next(parallel, out);
	}
	fputs(image ? "]}]}\n" : "]}\n", out);
	return error;
}

/* Of procedures alone there is little to make. */
static struct hp_error *write_by_image(struct report *report, const char *schema, FILE *out)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	_cleanup_(parallel_end_scope) struct parallel *parallel = NULL;
	_cleanup_free_ size_t *order = NULL;
	_cleanup_(hp_buffer_free) struct hp_buffer buffer = { 0 };
	struct ordered ordered = { .report = report, .arena = arena, .buffer = &buffer };
	bool is_long = report->options->view == HP_VIEW_INSTRUCTIONS;
	struct hp_error *error = arena ? group_rows(report, &order) : hp_error_create_no_memory();

	ordered.order = order;
	if (!error)
		error = json_write(json_header(report, schema), true, out);
	fputs(",\n\"images\": [", out);
	if (!error)
		error = parallel_begin(report->profiles->rows.count, is_long ? 0 : 1, write_item,
				       &ordered, &parallel);
	return error ? error : write_images(&ordered, parallel, out);
}

/* --- images and lines: one list ------------------------------------------------------------- */

static json_t *image_object(const struct report *report, const struct hp_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "path", json_text(row->image->id.path),
			 "build_id", json_text(row->image->build_id), "samples",
			 json_samples(report, row->tallies), "share",
			 json_shares(report, row->tallies), "problem",
			 json_text(row->image->problem));
}

static json_t *line_object(const struct report *report, const struct hp_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "file", json_text(row->file),
			 "line", row->file && row->line ? json_integer(row->line) : json_null(),
			 "procedure", json_text(row->name), "inlined", row->inlined, "image",
			 json_text(row->image->id.path), "build_id",
			 json_text(row->image->build_id), "samples",
			 json_samples(report, row->tallies), "share",
			 json_shares(report, row->tallies));
}

static struct hp_error *write_list(
	const struct report *report, const char *schema, const char *name,
	json_t *(*object)(const struct report *report, const struct hp_row *row), FILE *out)
{
	struct hp_error *error = json_write(json_header(report, schema), true, out);

	fprintf(out, ",\n\"%s\": [", name);
	for (size_t i = 0; i < report->profiles->rows.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(object(report, report->profiles->rows.at[i]), false, out);
	}
	fputs("]}\n", out);
	return error;
}

static struct hp_error *write_summary(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	struct hp_error *error = survey_make(report, SURVEY_NO_LIST, &survey);
	json_t *summary = json_summary(report);

	if (!error) {
		json_object_set_new(summary, "stack", json_survey(&survey));
		error = json_write(summary, false, out);
	} else {
		json_decref(summary);
	}

	putc('\n', out);
	return error;
}

struct hp_error *write_json(struct report *report, FILE *out)
{
	switch (report->options->view) {
	case HP_VIEW_PROCEDURES:
		return write_by_image(report, "hpcprof-procedures/1", out);
	case HP_VIEW_INSTRUCTIONS:
	case HP_VIEW_ANNOTATE:
		return write_by_image(report, "hpcprof-instructions/1", out);
	case HP_VIEW_IMAGES:
		return write_list(report, "hpcprof-images/1", "images", image_object, out);
	case HP_VIEW_LINES:
		return write_list(report, "hpcprof-lines/1", "lines", line_object, out);
	case HP_VIEW_BREAKDOWN:
		return write_list(report, "hpcprof-breakdown/1", "rows", breakdown_object, out);
	case HP_VIEW_STALLS:
		return write_stalls_json(report, out);
	case HP_VIEW_MEMORY:
	case HP_VIEW_BRANCHES:
		return write_culprits_json(report, out);
	case HP_VIEW_STACK:
		return shows_sampled_stacks(report) ? write_sampled_stacks_json(report, out)
						    : write_stack_json(report, out);
	case HP_VIEW_WHAT_IF:
		return write_what_if_json(report, out);
	case HP_VIEW_CALLS:
		return write_calls_json(report, out);
	case HP_VIEW_EXECUTIONS:
		return write_executions_json(report, out);
	case HP_VIEW_CHILDREN:
	case HP_VIEW_CALLERS:
	case HP_VIEW_CALLEES:
	case HP_VIEW_TREE:
	case HP_VIEW_FLAME_GRAPH:
		return write_paths_json(report, out);
	case HP_VIEW_SUMMARY:
		break;
	}
	return write_summary(report, out);
}
