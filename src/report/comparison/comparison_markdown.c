/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comment for a pull or merge request: the verdict, a table of the findings, what to know. */
#include "comparison.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* As character references, so that nothing becomes markup, a link, a mention or the end of a cell.
 * "www." becomes a link by its dot. */
static void add_text(struct hp_buffer *out, const char *text)
{
	const char *start = text;

	for (; *text; text++) {
		bool is_link = *text == '.' && text - start >= 3 &&
			       strncasecmp(text - 3, "www", 3) == 0;

		if (is_link || strchr("\\`*_[]#|<>&~@:$", *text))
			hp_buffer_printf(out, "&#%d;", (unsigned char)*text);
		else
			hp_buffer_add(out, text, 1);
	}
}

static void add_escaped(struct hp_buffer *out, const struct hp_buffer *text)
{
	add_text(out, hp_buffer_text(text));
	out->failed |= text->failed;
}

static void add_cell_cost(struct hp_buffer *out, const struct comparison_writer *writer,
			  double cost)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	comparison_add_cost(&text, writer->comparison, cost);
	add_escaped(out, &text);
	hp_buffer_printf(out, " | ");
}

static void add_change(struct hp_buffer *out, const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	comparison_add_change(&text, compared);
	hp_buffer_printf(out, "**");
	add_escaped(out, &text);
	hp_buffer_printf(out, "**");
	hp_buffer_clear(&text);
	comparison_add_change_interval(&text, compared);
	if (text.size) {
		hp_buffer_printf(out, " (");
		add_escaped(out, &text);
		hp_buffer_printf(out, ")");
	}
	hp_buffer_printf(out, " | ");
}

static const char *mark_of(const struct hp_compared *compared)
{
	if (compared->is_shift)
		return "\xe2\x86\x94\xef\xb8\x8f moved";
	return compared->lost.value > 0 ? "\xf0\x9f\x94\xba slower" : "\xf0\x9f\x94\xbd faster";
}

static void add_row(struct hp_buffer *out, const struct comparison_writer *writer,
		    const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer place = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer caller = { 0 };
	size_t next = 0;

	hp_buffer_printf(out, "| %s | ", mark_of(compared));
	comparison_add_name(&name, writer->comparison, compared);
	add_escaped(out, &name);
	while (comparison_next_caller(&caller, writer->comparison, compared, &next)) {
		hp_buffer_printf(out, "; ");
		add_escaped(out, &caller);
		hp_buffer_clear(&caller);
	}
	hp_buffer_printf(out, " | ");
	comparison_add_place(&place, writer, compared);
	add_escaped(out, &place);
	hp_buffer_printf(out, " | ");
	add_cell_cost(out, writer, compared->side[HP_BASE].cost.value);
	add_cell_cost(out, writer, compared->side[HP_CANDIDATE].cost.value);
	add_change(out, compared);
	if (isfinite(compared->q))
		hp_buffer_printf(out, "%.2g", compared->q);
	hp_buffer_printf(out, " |\n");
}

static void add_table(struct hp_buffer *out, const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	size_t most = comparison_most_findings(writer);

	if (!comparison->finding_count)
		return;
	hp_buffer_printf(out, "\n| | what | where | base | candidate | change (95 %%) | q |\n"
			      "|---|---|---|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < comparison->finding_count && i < most; i++)
		add_row(out, writer, comparison->findings[i]);
	if (comparison->finding_count > most)
		hp_buffer_printf(out, "\n%zu more findings are not shown.\n",
				 comparison->finding_count - most);
}

static void add_item(struct hp_buffer *out, const char *text)
{
	_cleanup_(hp_buffer_free) struct hp_buffer line = { 0 };

	text_escape(&line, text);
	hp_buffer_printf(out, "- ");
	add_escaped(out, &line);
	hp_buffer_printf(out, "\n");
}

static void add_small_print(struct hp_buffer *out, const struct hp_comparison *comparison)
{
	_cleanup_(hp_buffer_free) struct hp_buffer event = { 0 };
	const struct hp_compared_side *base = &comparison->sides[HP_BASE];
	const struct hp_compared_side *candidate = &comparison->sides[HP_CANDIDATE];

	for (size_t i = 0; i < comparison->shortage_count; i++) {
		_cleanup_(hp_buffer_free) struct hp_buffer line = { 0 };

		comparison_add_shortage(&line, &comparison->shortages[i]);
		add_item(out, hp_buffer_text(&line));
		out->failed |= line.failed;
	}
	for (size_t i = 0; i < comparison->note_count; i++)
		add_item(out, comparison->notes[i]);
	text_escape(&event, comparison->event);
	hp_buffer_printf(out, "\n<sub>");
	add_escaped(out, &event);
	hp_buffer_printf(
		out,
		"; base %zu epochs, candidate %zu epochs%s; changes below %.3g %% of a scope "
		"or %.3g %% of the program are no findings</sub>\n",
		base->epoch_count, candidate->epoch_count, comparison_way(comparison),
		100 * comparison->least_change, 100 * comparison->least_of_program);
}

static const char *sign_of(enum hp_verdict verdict)
{
	switch (verdict) {
	case HP_VERDICT_REGRESSION:
		return "\xe2\x9d\x8c";
	case HP_VERDICT_INSUFFICIENT:
		return "\xe2\x9a\xa0\xef\xb8\x8f";
	case HP_VERDICT_PASS:
	case HP_VERDICT_IMPROVEMENT:
		break;
	}
	return "\xe2\x9c\x85";
}

struct hp_error *comparison_write_markdown(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer out = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer headline = { 0 };

	comparison_add_headline(&headline, comparison);
	hp_buffer_printf(&out, "### %s hpcprof check\n\n", sign_of(comparison->verdict));
	add_escaped(&out, &headline);
	hp_buffer_printf(&out, "\n");
	add_table(&out, writer);
	if (comparison->shortage_count + comparison->note_count)
		hp_buffer_printf(&out, "\n");
	add_small_print(&out, comparison);
	return hp_buffer_write(&out, writer->out);
}
