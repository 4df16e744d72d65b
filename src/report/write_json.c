/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON, whose members are a contract: hpcprof-report(1) describes them. Rows are written one by
 * one, so that a long report does not have to fit into memory as a tree.
 */
#include "json.h"
#include "listing.h"
#include "write.h"

#include <inttypes.h>

/* --- procedures and instructions: rows under their images ----------------------------------- */

/* Samples times period of the first event that counts cycles; unknown without one. */
static json_t *total_cycles(const struct report *report, const struct tally *tallies)
{
	for (size_t i = 0; i < report->events.count; i++)
		if (report->events.at[i].info->unit == HP_UNIT_CYCLES)
			return json_real(tallies[i].weight);
	return json_null();
}

static json_t *position(const struct row *row)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	if (!row->file || !row->line)
		return json_null();
	buffer_printf(&text, "%s:%" PRIu32, report_file_name(row->file), row->line);
	return text.failed ? NULL : json_text(buffer_text(&text));
}

/* What only the analysis can know is null. */
static json_t *instruction_object(const struct report *report, const struct row *row)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 };

	for (size_t i = 0; i < row->length; i++)
		buffer_printf(&bytes, "%02x", row->bytes[i]);
	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:{s:n, s:n, s:n, s:n, s:s},"
			 " s:{s:o, s:n, s:n}, s:[]}",
			 "address", json_address(row->has_address, row->address), "block",
			 row->has_block ? json_integer(row->block) : json_null(), "bytes",
			 buffer_text(&bytes), "text", json_text(row->text), "line", position(row),
			 "samples", json_samples(report, row->tallies), "executions", "estimate",
			 "low", "high", "relative", "confidence", "none", "cycles", "total",
			 total_cycles(report, row->tallies), "per_execution", "best_case",
			 "stalls");
}

static struct hp_error *write_instructions(const struct report *report,
					   const struct listing *listing, FILE *out)
{
	struct hp_error *error = NULL;

	fputs(", \"instructions\": [", out);
	for (size_t i = 0; i < listing->rows.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(instruction_object(report, &listing->rows.at[i]), false, out);
	}
	fputs("]", out);
	return error;
}

static json_t *cfg_object(const struct hp_cfg *cfg)
{
	return cfg ? json_pack("{s:o, s:o, s:b}", "blocks", json_integer(cfg->block_count), "edges",
			       json_integer(cfg->inner_edge_count), "missing_edges",
			       cfg->missing_edges)
		   : json_null();
}

/* A list of procedures does without graphs: of all its code only the names are read. */
static struct hp_error *write_procedure(struct report *report, const struct row *row, FILE *out)
{
	_cleanup_(listing_clear) struct listing listing = { 0 };
	bool has_instructions = report->options->view == HP_VIEW_INSTRUCTIONS;
	struct hp_error *error = NULL;
	json_t *object;

	if (has_instructions)
		error = listing_make(report, row, report->options->listed != NULL, &listing);
	if (!error && has_instructions)
		error = listing_add_blocks(row, &listing);
	if (error)
		return error;
	object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:[s]}", "name", json_text(row->name),
			   "address", json_address(row->has_address, row->address), "size",
			   row->has_address ? json_count(row->size) : json_null(), "samples",
			   json_samples(report, row->tallies), "cfg", cfg_object(listing.cfg),
			   "frequency_source", "time");
	error = json_write(object, true, out);
	if (!error && has_instructions)
		error = write_instructions(report, &listing, out);
	fputs("}", out);
	return error;
}

static struct hp_error *open_image(const struct report *report, const struct report_image *image,
				   FILE *out)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < report->events.count; i++)
		samples += image->tallies[i].samples;
	return json_write(json_pack("{s:o, s:o, s:o}", "path", json_text(image->id.path),
				    "build_id", json_text(image->build_id), "samples",
				    json_count(samples)),
			  true, out);
}

/* Row numbers with those of one image together, images in the order of their first row. */
static struct hp_error *group_rows(const struct report *report, size_t **order)
{
	size_t count = report->rows.count;
	size_t images = report->images.count;
	_cleanup_free_ size_t *start = calloc(images + 1, sizeof(*start)); /* rows, then position */
	_cleanup_free_ bool *seen = calloc(images + 1, sizeof(*seen));
	size_t next = 0;

	*order = calloc(count + 1, sizeof(**order));
	if (!start || !seen || !*order)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		start[report->rows.at[i]->image->index]++;
	for (size_t i = 0; i < count; i++) {
		size_t image = report->rows.at[i]->image->index;
		size_t rows = start[image];

		if (seen[image])
			continue;
		seen[image] = true;
		start[image] = next;
		next += rows;
	}
	for (size_t i = 0; i < count; i++)
		(*order)[start[report->rows.at[i]->image->index]++] = i;
	return NULL;
}

static struct hp_error *write_by_image(struct report *report, const char *schema, FILE *out)
{
	_cleanup_free_ size_t *order = NULL;
	const struct report_image *image = NULL;
	struct hp_error *error = group_rows(report, &order);

	if (!error)
		error = json_write(json_header(report, schema), true, out);
	fputs(",\n\"images\": [", out);
	for (size_t i = 0; i < report->rows.count && !error; i++) {
		const struct row *row = report->rows.at[order[i]];
		bool opens = row->image != image;

		if (opens) {
			fputs(image ? "]},\n" : "\n", out);
			error = open_image(report, row->image, out);
			fputs(", \"procedures\": [\n", out);
		} else {
			fputs(",\n", out);
		}
		image = row->image;
		if (!error)
			error = write_procedure(report, row, out);
	}
	fputs(image ? "]}]}\n" : "]}\n", out);
	return error;
}

/* --- images and lines: one list ------------------------------------------------------------- */

static json_t *image_object(const struct report *report, const struct row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "path", json_text(row->image->id.path),
			 "build_id", json_text(row->image->build_id), "samples",
			 json_samples(report, row->tallies), "share",
			 json_shares(report, row->tallies), "problem",
			 json_text(row->image->problem));
}

static json_t *line_object(const struct report *report, const struct row *row)
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
	json_t *(*object)(const struct report *report, const struct row *row), FILE *out)
{
	struct hp_error *error = json_write(json_header(report, schema), true, out);

	fprintf(out, ",\n\"%s\": [", name);
	for (size_t i = 0; i < report->rows.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(object(report, report->rows.at[i]), false, out);
	}
	fputs("]}\n", out);
	return error;
}

static struct hp_error *write_summary(const struct report *report, FILE *out)
{
	struct hp_error *error = json_write(json_summary(report), false, out);

	putc('\n', out);
	return error;
}

struct hp_error *write_json(struct report *report, FILE *out)
{
	switch (report->options->view) {
	case HP_VIEW_PROCEDURES:
		return write_by_image(report, "hpcprof-procedures/1", out);
	case HP_VIEW_INSTRUCTIONS:
		return write_by_image(report, "hpcprof-instructions/1", out);
	case HP_VIEW_IMAGES:
		return write_list(report, "hpcprof-images/1", "images", image_object, out);
	case HP_VIEW_LINES:
		return write_list(report, "hpcprof-lines/1", "lines", line_object, out);
	case HP_VIEW_SUMMARY:
		break;
	}
	return write_summary(report, out);
}
