/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate_columns.h"
#include "../common/quantity.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	MOST_LANES = 6,
	NARROWEST_TEXT = 20,
	READABLE_TEXT = 34, /* columns are left out before the text becomes narrower than this */
	WIDEST_PADDED_TEXT = 60,
};

/* --- cells ------------------------------------------------------------------------------------ */

/* In generated code, addresses mean nothing to other tools. */
static void add_address(const struct annotation *annotation, const struct hp_row *row,
			struct hp_buffer *text)
{
	const struct hp_row_code *code = annotation->row->code;

	if (!row->has_address)
		return;
	if (annotation->row->has_address || !code || !code->procedure)
		hp_buffer_printf(text, "%" PRIx64, row->address);
	else
		hp_buffer_printf(text, "+%" PRIx64, row->address - code->procedure->address.value);
}

static const struct hp_frequency *frequency_of(const struct annotation *annotation,
					       const struct annotated_line *line)
{
	const struct hp_analysed_insn *insn = annotation->insns[line->row];

	return insn && line->shows_frequency ? &annotation->analysis->blocks[insn->block].frequency
					     : NULL;
}

/* Cycles of one execution; with relative frequencies only, their lower limit. */
static void add_cpi(const struct annotation *annotation, size_t row, struct hp_buffer *text)
{
	const struct hp_analysed_insn *insn = annotation->insns[row];
	const struct hp_analysed_block *block;
	double share;

	if (!insn || !(insn->cycles > 0))
		return;
	block = &annotation->analysis->blocks[insn->block];
	share = insn->cycles / block->cycles;
	if (share * block->cycles_per_execution < noticeable_cycles ||
	    (!(share * block->cycles_per_execution_low >= noticeable_cycles) &&
	     !isfinite(block->cycles_per_execution)))
		return;
	quantity_add_at_least(text, share * block->cycles_per_execution,
			      share * block->cycles_per_execution_low);
}

static void add_culprit(const struct annotation *annotation, size_t row, struct hp_buffer *text)
{
	const struct hp_analysed_insn *insn = annotation->insns[row];

	for (uint32_t i = 0; insn && i < insn->cause_count; i++) {
		const struct hp_cause *cause = &annotation->analysis->causes[insn->first_cause + i];

		if (!cause->has_culprit)
			continue;
		hp_buffer_printf(text, "%" PRIx64, cause->culprit.value);
		return;
	}
}

static double seen_share(const struct hp_happened *seen, enum hp_event_kind kind)
{
	return fmin(1, kind == HP_EVENT_L2_MISS	    ? hp_happened_l2_misses(seen)
		       : kind == HP_EVENT_TLB2_MISS ? hp_happened_walks(seen)
						    : seen->mean[kind]);
}

/* Events per execution in simulated windows, if they are worth showing. */
static void add_seen(const struct annotation *annotation, size_t row, struct hp_buffer *text)
{
	static const struct {
		enum hp_event_kind kind;
		const char *word;
	} words[] = {
		{ HP_EVENT_MISPREDICTED, "mispredicted" },
		{ HP_EVENT_L1_MISS, "L1 miss" },
		{ HP_EVENT_L2_MISS, "L2 miss" },
		{ HP_EVENT_TLB2_MISS, "page walk" },
		{ HP_EVENT_FORWARD_FAILED, "not forwarded" },
		{ HP_EVENT_L1I_MISS, "code miss" },
	};
	const struct hp_analysed_insn *insn = annotation->insns[row];
	const char *between = "";

	for (size_t i = 0; insn && insn->happened && i < HP_ARRAY_COUNT(words); i++) {
		double share = seen_share(insn->happened, words[i].kind);

		if (share < noticeable_seen)
			continue;
		hp_buffer_printf(text, share < 0.0995 ? "%s%s %.1f%%" : "%s%s %.0f%%", between,
				 words[i].word, 100 * share);
		between = ", ";
	}
}

void annotated_cell(const struct annotation *annotation, const struct annotated_line *line,
		    enum annotated_column column, struct hp_buffer *text)
{
	const struct hp_row *row = &annotation->listing->rows.at[line->row];
	uint64_t samples = row->tallies[annotation->report->profiles->sort_event].samples;
	const struct hp_frequency *frequency;
	double share;

	switch (column) {
	case COLUMN_ADDRESS:
		add_address(annotation, row, text);
		break;
	case COLUMN_TEXT:
		hp_buffer_add(text, row->text, strlen(row->text));
		break;
	case COLUMN_SAMPLES:
		if (samples)
			hp_buffer_printf(text, "%" PRIu64, samples);
		break;
	case COLUMN_SHARE:
		share = 100 * annotation_share(annotation, line->row);
		if (share >= 0.05)
			hp_buffer_printf(text, "%.1f", share);
		break;
	case COLUMN_EXECUTIONS:
		frequency = frequency_of(annotation, line);
		if (frequency)
			quantity_add_frequency(text, frequency, annotation->analysis->is_absolute);
		break;
	case COLUMN_CONFIDENCE:
		frequency = frequency_of(annotation, line);
		if (frequency)
			hp_buffer_printf(
				text, "%s",
				hp_confidence_name((enum hp_confidence)frequency->confidence));
		break;
	case COLUMN_CPI:
		add_cpi(annotation, line->row, text);
		break;
	case COLUMN_CULPRIT:
		add_culprit(annotation, line->row, text);
		break;
	case COLUMN_SEEN:
		add_seen(annotation, line->row, text);
		break;
	case COLUMN_COUNT:
		break;
	}
}

const char *annotated_title(const struct annotation *annotation, enum annotated_column column)
{
	static const char *const titles[COLUMN_COUNT] = {
		[COLUMN_ADDRESS] = "address",
		[COLUMN_TEXT] = "instruction",
		[COLUMN_SAMPLES] = "samples",
		[COLUMN_SHARE] = "time%",
		[COLUMN_EXECUTIONS] = "executions",
		[COLUMN_CONFIDENCE] = "conf",
		[COLUMN_CPI] = "CPI",
		[COLUMN_CULPRIT] = "culprit",
		[COLUMN_SEEN] = "seen",
	};

	if (column == COLUMN_EXECUTIONS &&
	    !(annotation->analysis && annotation->analysis->is_absolute))
		return "frequency";
	return titles[column];
}

/* --- widths ----------------------------------------------------------------------------------- */

static struct hp_error *measure(const struct annotation *annotation,
				struct annotated_columns *columns)
{
	_cleanup_(hp_buffer_free) struct hp_buffer raw = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.at[i];

		for (int j = 0; line->kind == ANNOTATED_INSTRUCTION && j < COLUMN_COUNT; j++) {
			size_t width;

			hp_buffer_clear(&raw);
			hp_buffer_clear(&text);
			annotated_cell(annotation, line, (enum annotated_column)j, &raw);
			text_escape(&text, hp_buffer_text(&raw));
			width = hp_text_columns(hp_buffer_text(&text));
			if (width > columns->widths[j])
				columns->widths[j] = width;
		}
	}
	/* A column with only empty cells is not shown. */
	for (int i = 0; i < COLUMN_COUNT; i++) {
		size_t title = strlen(annotated_title(annotation, (enum annotated_column)i));

		if (columns->widths[i] && columns->widths[i] < title)
			columns->widths[i] = title;
	}
	return raw.failed || text.failed ? hp_error_create_no_memory() : NULL;
}

static size_t total_width(const struct annotated_columns *columns)
{
	size_t total = 1 + (columns->lanes ? columns->lanes + 1 : 0);

	for (int i = 0; i < COLUMN_COUNT; i++)
		if (columns->widths[i])
			total += columns->widths[i] + (i ? ANNOTATED_GAP : 0);
	return total;
}

static void shrink_text(struct annotated_columns *columns, size_t room, size_t least)
{
	while (total_width(columns) > room && columns->widths[COLUMN_TEXT] > least)
		columns->widths[COLUMN_TEXT]--;
}

/* Leaves out columns, the least important first. */
static void make_fit(struct annotated_columns *columns, size_t room)
{
	static const uint8_t dispensable[] = { COLUMN_SEEN,	  COLUMN_CULPRIT, COLUMN_CONFIDENCE,
					       COLUMN_EXECUTIONS, COLUMN_CPI,	  COLUMN_SHARE };

	shrink_text(columns, room, READABLE_TEXT);
	while (total_width(columns) > room && columns->lanes > 2)
		columns->lanes--;
	for (size_t i = 0; i < sizeof(dispensable) && total_width(columns) > room; i++) {
		shrink_text(columns, room, NARROWEST_TEXT + 8);
		if (total_width(columns) <= room)
			break;
		columns->is_left_out[dispensable[i]] = columns->widths[dispensable[i]] > 0;
		columns->widths[dispensable[i]] = 0;
	}
	while (total_width(columns) > room && columns->lanes > 0)
		columns->lanes--;
	shrink_text(columns, room, NARROWEST_TEXT);
}

struct hp_error *annotated_columns_fit(const struct annotation *annotation,
				       struct annotated_columns *columns)
{
	size_t room = annotation->report->options->terminal_columns;
	struct hp_error *error;

	*columns = (struct annotated_columns){ .lanes = annotation->arrows.count ? MOST_LANES : 0 };
	error = measure(annotation, columns);
	if (error)
		return error;
	if (!room && columns->widths[COLUMN_TEXT] > WIDEST_PADDED_TEXT)
		columns->widths[COLUMN_TEXT] = WIDEST_PADDED_TEXT;
	if (room)
		make_fit(columns, room);
	return NULL;
}
