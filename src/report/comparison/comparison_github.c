/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workflow commands of GitHub Actions: lines that a runner takes from a step's output and shows at
 * the lines of the source. A step shows ten of a kind, so that the worst come first.
 */
#include "comparison.h"

#include <string.h>

/* The text after the second "::". Line ends are escaped already; % is the log's own escape. */
static void add_data(struct hp_buffer *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '%')
			hp_buffer_printf(out, "%%25");
		else if (*text == '\r')
			hp_buffer_printf(out, "%%0D");
		else if (*text == '\n')
			hp_buffer_printf(out, "%%0A");
		else
			hp_buffer_add(out, text, 1);
	}
}

/* The value of a property, which a comma or colon ends. */
static void add_property(struct hp_buffer *out, const char *name, const char *text)
{
	hp_buffer_printf(out, "%s=", name);
	for (; *text; text++) {
		if (*text == ':')
			hp_buffer_printf(out, "%%3A");
		else if (*text == ',')
			hp_buffer_printf(out, "%%2C");
		else
			add_data(out, (char[]){ *text, 0 });
	}
}

static void add_annotation(struct hp_buffer *out, const struct comparison_writer *writer,
			   const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer file = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer title = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer message = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer caller = { 0 };
	const struct hp_compared *inner;
	size_t next = 0;

	hp_buffer_printf(out, "::error ");
	if (compared->file) {
		text_escape(&file, comparison_relative_path(writer, compared->file));
		add_property(out, "file", hp_buffer_text(&file));
		if (compared->line)
			hp_buffer_printf(out, ",line=%u", compared->line);
		hp_buffer_printf(out, ",");
	}
	comparison_add_name(&title, writer->comparison, compared);
	hp_buffer_printf(&title, ": ");
	comparison_add_change(&title, compared);
	add_property(out, "title", hp_buffer_text(&title));
	comparison_add_finding(&message, writer->comparison, compared);
	for (size_t i = 0; i < compared->shift_count; i++) {
		hp_buffer_printf(&message, "\n");
		comparison_add_shift(&message, writer->comparison, &compared->shifts[i]);
	}
	while (comparison_next_caller(&caller, writer->comparison, compared, &next)) {
		hp_buffer_printf(&message, "\n%s", hp_buffer_text(&caller));
		hp_buffer_clear(&caller);
	}
	next = 0;
	while ((inner = comparison_next_inner(compared, &next))) {
		hp_buffer_printf(&message, "\n");
		comparison_add_inner(&message, writer, inner);
	}
	hp_buffer_printf(out, "::");
	add_data(out, hp_buffer_text(&message));
	hp_buffer_printf(out, "\n");
	out->failed |= file.failed || title.failed || message.failed || caller.failed;
}

static const char *kind_of(enum hp_verdict verdict)
{
	switch (verdict) {
	case HP_VERDICT_REGRESSION:
		return "error";
	case HP_VERDICT_INSUFFICIENT:
		return "warning";
	case HP_VERDICT_PASS:
	case HP_VERDICT_IMPROVEMENT:
		break;
	}
	return "notice";
}

struct hp_error *comparison_write_github(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer out = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer headline = { 0 };
	/* The verdict is one annotation, too. */
	size_t left = comparison_most_findings(writer) - 1;

	for (size_t i = 0; i < comparison->finding_count && left; i++) {
		if (!hp_comparison_is_regression(comparison->findings[i]))
			continue;
		add_annotation(&out, writer, comparison->findings[i]);
		left--;
	}
	comparison_add_headline(&headline, comparison);
	hp_buffer_printf(&out, "::%s ", kind_of(comparison->verdict));
	add_property(&out, "title", "hpcprof check");
	hp_buffer_printf(&out, "::");
	add_data(&out, hp_buffer_text(&headline));
	hp_buffer_printf(&out, "\n");
	out.failed |= headline.failed;
	return hp_buffer_write(&out, writer->out);
}
