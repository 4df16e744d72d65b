/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison on a terminal: the verdict, what was compared, the findings, and what changed in
 * each. */
#include "comparison.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- tables ----------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 7 };

struct table {
	size_t columns; /* all but the last are right-aligned, unless `left` has their bit */
	unsigned left;	/* one bit per column */
	struct hp_buffer cells; /* each cell ends with a NUL */
	size_t widths[MOST_COLUMNS];
	size_t column; /* column of the next cell */
};

static void end_cell(struct table *table, const struct hp_buffer *cell)
{
	size_t width = hp_text_columns(hp_buffer_text(cell));

	hp_buffer_add(&table->cells, hp_buffer_text(cell), cell->size + 1);
	table->cells.failed |= cell->failed;
	if (width > table->widths[table->column])
		table->widths[table->column] = width;
	table->column = (table->column + 1) % table->columns;
}

static void add_word(struct table *table, const char *word)
{
	_cleanup_(hp_buffer_free) struct hp_buffer cell = { 0 };

	hp_buffer_add(&cell, word, strlen(word));
	end_cell(table, &cell);
}

static void add_row(struct hp_buffer *out, const struct table *table, const char **cell)
{
	for (size_t i = 0; i < table->columns; i++) {
		size_t room = table->widths[i] - hp_text_columns(*cell);
		bool is_last = i + 1 == table->columns;
		bool is_left = is_last || (table->left >> i & 1);

		hp_buffer_printf(out, "  ");
		if (!is_left)
			text_pad(out, room);
		hp_buffer_add(out, *cell, strlen(*cell));
		if (is_left && !is_last)
			text_pad(out, room);
		*cell += strlen(*cell) + 1;
	}
	hp_buffer_printf(out, "\n");
}

static void add_table(struct hp_buffer *out, struct table *table)
{
	const char *cell = hp_buffer_text(&table->cells);
	const char *end = cell + table->cells.size;

	while (!table->cells.failed && cell < end)
		add_row(out, table, &cell);
	out->failed |= table->cells.failed;
	hp_buffer_free(&table->cells);
}

/* --- what was compared -------------------------------------------------------------------- */

/* Writes as many lines as needed. `before` begins the first one; the others are indented by its
 * width. All begin with `comment`. */
static void add_wrapped(struct hp_buffer *out, const struct comparison_writer *writer,
			const char *before, const char *comment, const struct hp_buffer *text)
{
	size_t columns = writer->options->columns;
	size_t indent = hp_text_columns(before);
	const char *rest = hp_buffer_text(text);

	hp_buffer_printf(out, "%s", before);
	while (true) {
		size_t length = hp_text_line(rest, columns > indent ? columns - indent : 0);

		hp_buffer_add(out, rest, length);
		hp_buffer_printf(out, "\n");
		rest += length;
		rest += *rest == ' ';
		if (!*rest)
			break;
		hp_buffer_printf(out, "%s", comment);
		text_pad(out, indent - strlen(comment));
	}
	out->failed |= text->failed;
}

static void add_line(struct hp_buffer *out, const struct comparison_writer *writer,
		     const char *label, struct hp_buffer *text)
{
	char before[32];

	snprintf(before, sizeof(before), "# %-10s ", label);
	add_wrapped(out, writer, before, "#", text);
	hp_buffer_clear(text);
}

static void add_side(struct hp_buffer *out, const struct comparison_writer *writer,
		     enum hp_side which)
{
	const struct hp_compared_side *side = &writer->comparison->sides[which];
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	if (side->command) {
		comparison_add_command(&text, side->command);
		hp_buffer_printf(&text, ": ");
	}
	hp_buffer_printf(&text, "%zu epoch%s, %" PRIu64 " run%s, %" PRIu64 " samples",
			 side->epoch_count, side->epoch_count == 1 ? "" : "s", side->runs,
			 side->runs == 1 ? "" : "s", side->samples);
	add_line(out, writer, hp_side_name(which), &text);
}

/* Leaves out the first `told` shortages. */
static void add_head(struct hp_buffer *out, const struct comparison_writer *writer, size_t told)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	add_side(out, writer, HP_BASE);
	add_side(out, writer, HP_CANDIDATE);
	text_escape(&text, comparison->event);
	hp_buffer_printf(
		&text, "; changes below %.3g %% of a scope or %.3g %% of the program are ignored%s",
		100 * comparison->least_change, 100 * comparison->least_of_program,
		comparison_way(comparison));
	add_line(out, writer, "event", &text);
	for (size_t i = 0; i < comparison->note_count; i++) {
		text_escape(&text, comparison->notes[i]);
		add_line(out, writer, i ? "" : "note", &text);
	}
	for (size_t i = told; i < comparison->shortage_count; i++) {
		comparison_add_shortage(&text, &comparison->shortages[i]);
		add_line(out, writer, i > told ? "" : "too little", &text);
	}
}

/* --- findings ----------------------------------------------------------------------------- */

/* If the sides may have drifted apart, shares are more reliable than costs. */
static bool shows_shares(const struct hp_comparison *comparison)
{
	return !comparison->is_interleaved && !comparison->is_relative;
}

static void add_finding(struct table *table, const struct comparison_writer *writer,
			const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer cell = { 0 };

	for (size_t side = 0; side < HP_SIDES; side++) {
		comparison_add_cost(&cell, writer->comparison, compared->side[side].cost.value);
		end_cell(table, &cell);
		hp_buffer_clear(&cell);
	}
	comparison_add_change(&cell, compared);
	end_cell(table, &cell);
	hp_buffer_clear(&cell);
	comparison_add_change_interval(&cell, compared);
	end_cell(table, &cell);
	hp_buffer_clear(&cell);
	if (isfinite(compared->q))
		hp_buffer_printf(&cell, "%.2g", compared->q);
	end_cell(table, &cell);
	hp_buffer_clear(&cell);
	if (shows_shares(writer->comparison)) {
		comparison_add_share_change(&cell, compared);
		end_cell(table, &cell);
		hp_buffer_clear(&cell);
	}
	comparison_add_name(&cell, writer->comparison, compared);
	if (compared->is_shift)
		hp_buffer_printf(&cell, " (cost that moved)");
	if (compared->file) {
		hp_buffer_printf(&cell, "  ");
		comparison_add_place(&cell, writer, compared);
	}
	end_cell(table, &cell);
}

/* Explains the columns whose titles do not. */
static void add_legend(struct hp_buffer *out, const struct comparison_writer *writer,
		       const struct hp_compared *const *items, size_t count)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	bool any_is_uncertain = false;

	for (size_t i = 0; i < count; i++)
		any_is_uncertain |= comparison_is_uncertain(items[i]);
	hp_buffer_printf(&text,
			 "95 %%: interval of the change%s; q: the share of false findings "
			 "among rows with this q or less",
			 any_is_uncertain ? " (uncertain: from a tenth or less to tenfold or more)"
					  : "");
	if (shows_shares(writer->comparison))
		hp_buffer_printf(&text, "; of the whole: change of the share of the program");
	add_wrapped(out, writer, "# ", "#", &text);
}

static void add_items(struct hp_buffer *out, const struct comparison_writer *writer,
		      const struct hp_compared *const *items, size_t count)
{
	static const char *const headings[] = { "base", "candidate",	"change", "95 %",
						"q",	"of the whole", "what" };
	bool has_shares = shows_shares(writer->comparison);
	struct table table = { .columns = HP_ARRAY_COUNT(headings) - !has_shares };
	size_t most = comparison_most_findings(writer);

	if (!count)
		return;
	for (size_t i = 0; i < HP_ARRAY_COUNT(headings); i++)
		if (has_shares || strcmp(headings[i], "of the whole") != 0)
			add_word(&table, headings[i]);
	for (size_t i = 0; i < count && i < most; i++)
		add_finding(&table, writer, items[i]);
	hp_buffer_printf(out, "\n");
	add_table(out, &table);
	if (count > most)
		hp_buffer_printf(out, "# not shown: %zu more; see --top\n", count - most);
	add_legend(out, writer, items, count < most ? count : most);
}

/* --- what changed in one -------------------------------------------------------------------- */

static void add_code_row(struct table *table, const struct comparison_writer *writer,
			 const struct hp_compared_code *code)
{
	uint32_t line = code->line[code->line[HP_CANDIDATE] ? HP_CANDIDATE : HP_BASE];
	const char *text = code->text[code->text[HP_CANDIDATE] ? HP_CANDIDATE : HP_BASE];
	_cleanup_(hp_buffer_free) struct hp_buffer cell = { 0 };

	for (size_t side = 0; side < HP_SIDES; side++) {
		comparison_add_cost(&cell, writer->comparison, code->cost[side]);
		end_cell(table, &cell);
		hp_buffer_clear(&cell);
	}
	if (code->file)
		text_escape(&cell, comparison_base_name(code->file));
	if (code->file && line)
		hp_buffer_printf(&cell, ":%" PRIu32, line);
	end_cell(table, &cell);
	hp_buffer_clear(&cell);
	hp_buffer_printf(&cell, "%s", code->is_changed ? "*" : "");
	end_cell(table, &cell);
	hp_buffer_clear(&cell);
	if (text)
		text_escape(&cell, text);
	end_cell(table, &cell);
}

static void add_callers(struct hp_buffer *out, const struct comparison_writer *writer,
			const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer sentence = { 0 };
	size_t next = 0;

	while (comparison_next_caller(&sentence, writer->comparison, compared, &next)) {
		add_wrapped(out, writer, "  ", "", &sentence);
		hp_buffer_clear(&sentence);
	}
}

static void add_code(struct hp_buffer *out, const struct comparison_writer *writer,
		     const struct hp_compared *compared)
{
	static const char *const headings[] = { "base", "candidate", "line", "",
						"code (* differs)" };
	struct table table = { .columns = HP_ARRAY_COUNT(headings), .left = 1 << 2 };
	const struct hp_compared *inner;
	size_t next = 0;

	if (!compared->code_count && !compared->shift_count && !compared->callers.blame &&
	    !compared->call_count && !compared->carrier)
		return;
	hp_buffer_printf(out, "\n");
	comparison_add_name(out, writer->comparison, compared);
	hp_buffer_printf(out, "\n");
	for (size_t i = 0; i < compared->shift_count; i++) {
		hp_buffer_printf(out, "  ");
		comparison_add_shift(out, writer->comparison, &compared->shifts[i]);
		hp_buffer_printf(out, "\n");
	}
	add_callers(out, writer, compared);
	while ((inner = comparison_next_inner(compared, &next))) {
		hp_buffer_printf(out, "  ");
		comparison_add_inner(out, writer, inner);
		hp_buffer_printf(out, "\n");
	}
	if (!compared->code_count)
		return;
	for (size_t i = 0; i < HP_ARRAY_COUNT(headings); i++)
		add_word(&table, headings[i]);
	for (size_t i = 0; i < compared->code_count; i++)
		add_code_row(&table, writer, &compared->code[i]);
	add_table(out, &table);
}

/* Where there is no finding: the program, and what may have changed most. False: out of memory. */
static bool add_estimates(struct hp_buffer *out, const struct comparison_writer *writer)
{
	size_t count;
	const struct hp_compared **list = comparison_differences(writer->comparison, &count);

	if (!list)
		return false;
	add_items(out, writer, list, count < MOST_ESTIMATES ? count : MOST_ESTIMATES);
	free(list);
	return true;
}

struct hp_error *comparison_write_text(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	size_t most = comparison_most_findings(writer);
	_cleanup_(hp_buffer_free) struct hp_buffer out = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer headline = { 0 };

	comparison_add_headline(&headline, comparison);
	add_wrapped(&out, writer, "", "", &headline);
	add_head(&out, writer, comparison->verdict == HP_VERDICT_INSUFFICIENT);
	add_items(&out, writer, (const struct hp_compared *const *)comparison->findings,
		  comparison->finding_count);
	if (!comparison->finding_count && !add_estimates(&out, writer))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < comparison->finding_count && i < most; i++)
		add_code(&out, writer, comparison->findings[i]);
	return hp_buffer_write(&out, writer->out);
}

/* --- all differences ------------------------------------------------------------------------ */

struct hp_error *comparison_write_differences(const struct comparison_writer *writer)
{
	_cleanup_(hp_buffer_free) struct hp_buffer out = { 0 };
	const struct hp_compared **list;
	size_t count;

	list = comparison_differences(writer->comparison, &count);
	if (!list)
		return hp_error_create_no_memory();
	add_head(&out, writer, 0);
	add_items(&out, writer, list, count);
	/* Without the program, whose carrier is one of the others. */
	for (size_t i = 1; i < count; i++)
		add_code(&out, writer, list[i]);
	free(list);
	return hp_buffer_write(&out, writer->out);
}
