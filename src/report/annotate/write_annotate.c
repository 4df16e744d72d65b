/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The annotated procedure as text: header, lines, legend, summary. */
#include "write_annotate.h"
#include "annotate_columns.h"
#include "../common/quantity.h"
#include "../common/sheet.h"
#include "../common/state.h"
#include "../tuning.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char plain[] = "\033[0m";
static const char bold[] = "\033[1m";
static const char hot[] = "\033[31m";
static const char warm[] = "\033[32m";
static const char *const colours[] = {
	[ANNOTATED_BLOCK] = bold,	 [ANNOTATED_INLINED] = "\033[35m",
	[ANNOTATED_SOURCE] = "\033[36m", [ANNOTATED_STALL] = "\033[33m",
	[ANNOTATED_FOLD] = "\033[2m",	 [ANNOTATED_BLANK] = "",
};

enum { WIDEST_LINE = 240 }; /* of lines with text from others, if it is not written to a terminal */

/* --- lines ------------------------------------------------------------------------------------ */

struct writer {
	const struct annotation *annotation;
	struct annotated_columns columns;
	struct gutter gutter;
	struct hp_buffer line;
	struct hp_buffer raw;
	struct hp_buffer cell;
	FILE *out;
};

static void writer_clear(struct writer *writer)
{
	gutter_clear(&writer->gutter);
	hp_buffer_free(&writer->line);
	hp_buffer_free(&writer->raw);
	hp_buffer_free(&writer->cell);
}

static void end_line(struct writer *writer)
{
	size_t size = writer->line.size;

	while (size && writer->line.text[size - 1] == ' ')
		size--;
	fwrite(hp_buffer_text(&writer->line), 1, size, writer->out);
	putc('\n', writer->out);
	hp_buffer_clear(&writer->line);
}

static bool has_colour(const struct writer *writer)
{
	return writer->annotation->report->options->colour;
}

static void add_coloured(struct writer *writer, const char *text, size_t columns,
			 const char *colour)
{
	bool is_coloured = colour && *colour && *text && has_colour(writer);

	if (is_coloured)
		hp_buffer_add(&writer->line, colour, strlen(colour));
	text_cut(&writer->line, text, columns);
	if (is_coloured)
		hp_buffer_add(&writer->line, plain, strlen(plain));
}

static void add_margin(struct writer *writer, size_t line)
{
	bool is_on_path = writer->annotation->lines.at[line].is_on_path;

	add_coloured(writer, is_on_path ? "*" : " ", 0, is_on_path ? hot : NULL);
	hp_buffer_add(&writer->line, gutter_line(&writer->gutter, line), writer->gutter.columns);
}

static size_t margin(const struct writer *writer)
{
	return 1 + writer->gutter.columns;
}

static bool is_right(enum annotated_column column)
{
	return column != COLUMN_TEXT && column != COLUMN_CONFIDENCE && column != COLUMN_SEEN;
}

static void add_cell(struct writer *writer, enum annotated_column column, const char *text,
		     const char *colour)
{
	size_t width = writer->columns.widths[column];
	size_t taken = hp_text_columns(text);
	bool is_cut = taken > width && writer->annotation->report->options->terminal_columns;

	if (!width)
		return;
	if (column)
		text_pad(&writer->line, ANNOTATED_GAP);
	if (is_right(column) && taken < width)
		text_pad(&writer->line, width - taken);
	add_coloured(writer, text, is_cut ? width : 0, colour);
	if (!is_right(column) && taken < width && column != COLUMN_SEEN)
		text_pad(&writer->line, width - taken);
}

static const char *colour_of(const struct writer *writer, const struct annotated_line *line,
			     enum annotated_column column)
{
	double share = annotation_share(writer->annotation, line->row);

	if (column != COLUMN_SAMPLES && column != COLUMN_SHARE && column != COLUMN_CPI)
		return NULL;
	return share >= hot_share ? hot : share >= warm_share ? warm : NULL;
}

static void write_instruction(struct writer *writer, const struct annotated_line *line)
{
	for (int i = 0; i < COLUMN_COUNT; i++) {
		enum annotated_column column = (enum annotated_column)i;

		hp_buffer_clear(&writer->raw);
		hp_buffer_clear(&writer->cell);
		annotated_cell(writer->annotation, line, column, &writer->raw);
		text_escape(&writer->cell, hp_buffer_text(&writer->raw));
		add_cell(writer, column, hp_buffer_text(&writer->cell),
			 colour_of(writer, line, column));
	}
}

/* Lines above an instruction are indented to its column, except for those that begin a block. */
static void write_remark(struct writer *writer, const struct annotated_line *line)
{
	size_t room = writer->annotation->report->options->terminal_columns;
	size_t indent = line->kind == ANNOTATED_BLOCK
				? 0
				: writer->columns.widths[COLUMN_ADDRESS] + ANNOTATED_GAP;
	size_t taken = margin(writer) + indent;

	text_pad(&writer->line, indent);
	hp_buffer_clear(&writer->cell);
	if (line->kind == ANNOTATED_STALL)
		hp_buffer_printf(&writer->cell, "~~ ");
	text_escape(&writer->cell, line->text);
	add_coloured(writer, hp_buffer_text(&writer->cell),
		     !room		 ? WIDEST_LINE
		     : room > taken + 10 ? room - taken
					 : 10,
		     colours[line->kind]);
}

static void write_titles(struct writer *writer)
{
	text_pad(&writer->line, margin(writer));
	for (int i = 0; i < COLUMN_COUNT; i++)
		add_cell(writer, (enum annotated_column)i,
			 annotated_title(writer->annotation, (enum annotated_column)i), bold);
	end_line(writer);
}

static void write_lines(struct writer *writer)
{
	const struct annotation *annotation = writer->annotation;

	write_titles(writer);
	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.at[i];

		if (line->kind == ANNOTATED_BLANK) {
			text_pad(&writer->line, 1);
			hp_buffer_add(&writer->line, gutter_line(&writer->gutter, i),
				      writer->gutter.columns);
			end_line(writer);
			continue;
		}
		add_margin(writer, i);
		if (line->kind == ANNOTATED_INSTRUCTION)
			write_instruction(writer, line);
		else
			write_remark(writer, line);
		end_line(writer);
	}
}

/* --- what is known of the procedure ----------------------------------------------------------- */

static void put(FILE *out, const char *label, const struct hp_buffer *text)
{
	_cleanup_(hp_buffer_free) struct hp_buffer safe = { 0 };

	text_escape(&safe, hp_buffer_text(text));
	fprintf(out, "# %-10s %s\n", label, hp_buffer_text(&safe));
}

static void put_code(const struct annotation *annotation, FILE *out)
{
	const struct hp_cfg *cfg = annotation->listing->cfg;
	const struct hp_row *row = annotation->row;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(&text, "%s", row->image->id.path);
	if (row->has_address)
		hp_buffer_printf(&text, ", from 0x%" PRIx64 ", %" PRIu64 " bytes", row->address,
				 row->size);
	if (cfg)
		hp_buffer_printf(&text, ", %" PRIu32 " block%s, %" PRIu32 " edges",
				 cfg->block_count, cfg->block_count == 1 ? "" : "s",
				 cfg->inner_edge_count);
	put(out, "code", &text);
}

static void put_core(const struct annotation *annotation, FILE *out)
{
	const struct hp_core *core = annotation->analysis->core;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(&text, "%s%s", core->title,
			 core->is_generic ? " (generic: this CPU is not known)" : "");
	put(out, "core", &text);
}

static void put_measured_clock(const struct hp_epoch_meta *meta, struct hp_buffer *text)
{
	double share = hp_epoch_sampling_share(meta);

	hp_buffer_printf(text, "%.2f GHz, measured while recording",
			 hp_clock_percentile(&meta->clock, 50) / 1e9);
	if (share >= least_told_sampling)
		hp_buffer_printf(text,
				 "; cycles are without the %.1f %% of the time that samples took",
				 100 * share);
}

/* Writes the clock rate that turned time into cycles; sampled cycles need none. */
static void put_clock(const struct annotation *annotation, FILE *out)
{
	const struct report *report = annotation->report;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	size_t event = hp_profiles_time_event(report->profiles);
	double cycles_per_ns = hp_profiles_cycles_per_unit(report->profiles);

	if (event == report->profiles->events.count ||
	    report->profiles->events.at[event].info->unit != HP_UNIT_NS)
		return;
	if (!(cycles_per_ns > 0))
		return; /* a caution says that it is unknown */
	if (report->profiles->epochs.count > 1)
		hp_buffer_printf(&text,
				 "%.2f cycles per ns on average, without the time that samples "
				 "took; each epoch has its own rate",
				 cycles_per_ns);
	else
		put_measured_clock(report->profiles->epochs.at[0].meta, &text);
	put(out, "clock", &text);
}

static void put_quality(const struct annotation *annotation, FILE *out)
{
	const struct hp_analysis *analysis = annotation->analysis;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	/* Problems that the listing's caveats describe in detail. */
	const unsigned of_the_code = HP_PROBLEM_MISSING_EDGES | HP_PROBLEM_UNDECODABLE;
	const struct hp_stall_sheet *sheet = &analysis->sheet;
	double samples = fmax(sheet->samples, 1);

	hp_buffer_printf(
		&text,
		"%.0f %% of its samples are in blocks whose relative frequency has at least "
		"medium confidence",
		100 * sheet->medium_samples / samples);
	if (analysis->is_absolute)
		hp_buffer_printf(&text, ", %.0f %% in blocks whose executions have",
				 100 * sheet->executions_medium_samples / samples);
	put(out, "quality", &text);
	for (unsigned bit = 1; bit <= HP_PROBLEM_TOO_FAST; bit <<= 1) {
		if (!(analysis->problems & bit) || (bit & of_the_code))
			continue;
		hp_buffer_clear(&text);
		hp_buffer_printf(&text, "%s", quantity_problem((enum hp_analysis_problem)bit));
		put(out, "caution", &text);
	}
}

static void put_sentence(FILE *out, const char *label, const char *sentence)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_add(&text, sentence, strlen(sentence));
	put(out, label, &text);
}

/* Writes why more is not known. Problems of the code are in the heading. */
static void put_cautions(const struct annotation *annotation, FILE *out)
{
	const struct listing *listing = annotation->listing;
	const struct hp_row *row = annotation->row;

	if (annotation->analysis)
		return;
	if (row->image->problem)
		put_sentence(out, "caution", row->image->problem);
	else if (listing->no_graph)
		put_sentence(out, "caution", listing->no_graph);
	else if (row->code && row->code->refusal)
		put_sentence(out, "caution", row->code->refusal);
	if (row->image->advice)
		put_sentence(out, "", row->image->advice);
	put_sentence(out, "", "so there are no frequencies, best cases and stalls");
}

/* For source that has changed or must not be shown: names the first such file and the number of
 * others. */
static bool is_newer(const struct source_file *file)
{
	return file->text && file->is_newer;
}

static bool is_absent(const struct source_file *file)
{
	return !file->text && !file->withheld;
}

static bool is_withheld(const struct source_file *file)
{
	return file->withheld;
}

static void put_sources_that(const struct annotation *annotation,
			     bool (*is_one)(const struct source_file *), const char *what,
			     FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < annotation->sources.files.count; i++) {
		const struct source_file *file = &annotation->sources.files.at[i];

		if (!is_one(file))
			continue;
		if (!count++)
			hp_buffer_printf(&text, "%s", file->path);
	}
	if (!count)
		return;
	if (count > 1)
		hp_buffer_printf(&text, " and %zu more", count - 1);
	hp_buffer_printf(&text, ": %s", what);
	put(out, "source", &text);
}

static void put_sources(const struct annotation *annotation, FILE *out)
{
	put_sources_that(
		annotation, is_newer,
		"changed after the recording: the source shown may differ from what was executed",
		out);
	put_sources_that(annotation, is_absent,
			 "not found, so only line numbers are shown (--symfs DIR looks below DIR)",
			 out);
	put_sources_that(annotation, is_withheld,
			 "not shown: its name or contents are not those of a source file, or the "
			 "user who recorded may not read it",
			 out);
}

/* Names the hottest places, by the addresses in the column. */
static void put_hottest(const struct annotation *annotation, FILE *out)
{
	size_t rows[HOTTEST_NAMED];
	size_t count = 0;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	for (size_t i = 0; i < annotation->listing->rows.count; i++) {
		size_t at = count;

		while (at &&
		       annotation_share(annotation, rows[at - 1]) < annotation_share(annotation, i))
			at--;
		if (at == HOTTEST_NAMED || !(annotation_share(annotation, i) > 0))
			continue;
		count += count < HOTTEST_NAMED;
		memmove(&rows[at + 1], &rows[at], (count - at - 1) * sizeof(*rows));
		rows[at] = i;
	}
	for (size_t i = 0; i < count; i++)
		hp_buffer_printf(&text, "%s%" PRIx64 " %.1f %%", i ? ", " : "",
				 annotation->listing->rows.at[rows[i]].address,
				 100 * annotation_share(annotation, rows[i]));
	if (count)
		put(out, "hottest", &text);
}

static void put_about(const struct annotation *annotation, FILE *out)
{
	put_code(annotation, out);
	put_hottest(annotation, out);
	if (annotation->analysis) {
		put_core(annotation, out);
		put_clock(annotation, out);
		put_quality(annotation, out);
	}
	put_cautions(annotation, out);
	put_sources(annotation, out);
}

/* --- legend ----------------------------------------------------------------------------------- */

static void put_legend(const struct writer *writer)
{
	const struct annotation *annotation = writer->annotation;
	const struct hp_analysis *analysis = annotation->analysis;
	FILE *out = writer->out;

	fputs("\nLegend\n"
	      "  samples  as recorded: they land a little after the instruction that took the "
	      "time\n",
	      out);
	if (!analysis)
		return;
	fputs("  time%    of the procedure, after samples were moved back by the skid; CPI and "
	      "stalls too\n",
	      out);
	if (analysis->is_absolute)
		fputs("  executions of the block in the whole recording, with a 90 % interval\n",
		      out);
	else
		fputs("  frequency\n"
		      "           executions of the block relative to the procedure's hottest "
		      "block, which has 1.\n"
		      "           Time alone does not give their number. Cycles per execution are "
		      "then a lower\n"
		      "           limit (\xe2\x89\xa5), which assumes that no block is faster than "
		      "its best case\n",
		      out);
	fputs("  conf     of these: high (error below 10 %), medium (probably), low, none\n"
	      "  CPI      cycles by which one execution of the instruction delays the following "
	      "code\n"
	      "  culprit  address of the instruction that most likely caused the stall\n"
	      "  ~~       a possible cause of the next instruction's stall and its share of the "
	      "time,\n"
	      "           likeliest first\n"
	      "  ***      a block begins: its best case, with the stalls that the code itself "
	      "causes,\n"
	      "           and its actual cost\n",
	      out);
	if (writer->columns.widths[COLUMN_SEEN])
		fputs("  seen     what happened in so many of 100 executions, by models of this "
		      "core "
		      "that\n"
		      "           followed shadow windows\n",
		      out);
	if (annotation->path.blocks)
		fputs("  *        the hottest path: from entry to exit through the hottest block "
		      "and its loop\n",
		      out);
	if (writer->gutter.left_out)
		fprintf(out, "  %zu jumps are not drawn for lack of room\n",
			writer->gutter.left_out);
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (writer->columns.is_left_out[i])
			fprintf(out, "  the terminal is too narrow for: %s\n",
				annotated_title(writer->annotation, (enum annotated_column)i));
}

/* For all executions if they are known; otherwise relative to one execution of the hottest
 * block. */
static void put_cpi(const struct hp_analysis *analysis, FILE *out)
{
	double best = 0;
	double instructions = 0;
	double cycles = 0;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	for (uint32_t i = 0; i < analysis->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[i];

		if (!isfinite(block->frequency.relative))
			return;
		best += block->frequency.relative * block->best_case_cycles;
		instructions += block->frequency.relative * block->insn_count;
		cycles += block->cycles;
	}
	if (!(instructions > 0))
		return;
	hp_buffer_printf(&text, "*** Best-case ");
	quantity_add_cycles(&text, analysis->is_absolute ? best * analysis->scale : best);
	hp_buffer_printf(&text, "/");
	quantity_add(&text, analysis->is_absolute ? instructions * analysis->scale : instructions);
	hp_buffer_printf(&text, " = %.2f CPI\n*** Actual", best / instructions);
	if (isfinite(analysis->scale) || cycles / analysis->scale_high >= best) {
		hp_buffer_printf(&text, " ");
		quantity_add_at_least(&text, cycles / instructions / analysis->scale,
				      cycles / instructions / analysis->scale_high);
		hp_buffer_printf(&text, " CPI");
	} else {
		hp_buffer_printf(&text, ": not known");
	}
	fprintf(out, "%s\n***\n", hp_buffer_text(&text));
}

static void put_summary(const struct annotation *annotation, FILE *out)
{
	const struct hp_analysis *analysis = annotation->analysis;
	size_t event = hp_profiles_time_event(annotation->report->profiles);

	fputs("\nSummary of ", out);
	{
		_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };

		text_escape(&name, annotation->row->shown ? annotation->row->shown
							  : annotation->row->name);
		fprintf(out, "%s\n", hp_buffer_text(&name));
	}
	put_cpi(analysis, out);
	if (!analysis->is_absolute)
		fputs("***   executions were not counted: only the ranges of execution and stalls "
		      "are known\n",
		      out);
	sheet_write(&analysis->sheet, (double)annotation->row->tallies[event].samples, out);
}

struct hp_error *write_annotation(struct report *report, const struct hp_row *row,
				  const struct listing *listing, const struct hp_analysis *analysis,
				  FILE *out)
{
	_cleanup_(annotation_clear) struct annotation annotation = { 0 };
	_cleanup_(writer_clear) struct writer writer = { .annotation = &annotation, .out = out };
	struct hp_error *error = annotation_make(report, row, listing, analysis, &annotation);

	if (!error)
		error = annotated_columns_fit(&annotation, &writer.columns);
	if (!error)
		error = gutter_draw(annotation.arrows.at, annotation.arrows.count,
				    annotation.lines.count, writer.columns.lanes, &writer.gutter);
	if (error)
		return error;
	put_about(&annotation, out);
	if (analysis && analysis->sheet.cycles > 0)
		put_summary(&annotation, out);
	putc('\n', out);
	write_lines(&writer);
	put_legend(&writer);
	return writer.line.failed || writer.cell.failed || writer.raw.failed
		       ? hp_error_create_no_memory()
		       : NULL;
}
