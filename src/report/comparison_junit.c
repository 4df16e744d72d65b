/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JUnit XML as CI systems read it: one test suite, a test case for the program, one for each
 * procedure that was tested and one for each other finding. A regression is a failure; where the
 * data did not do, the program's case is skipped, with the reason.
 */
#include "comparison.h"

#include <math.h>

struct totals {
	size_t cases;
	size_t failures;
	size_t skipped;
};

static void add_attribute(struct buffer *out, const char *name, const struct buffer *value)
{
	buffer_printf(out, " %s=\"", name);
	comparison_add_markup(out, buffer_text(value));
	buffer_printf(out, "\"");
}

static void add_code_row(struct buffer *text, const struct comparison_writer *writer,
			 const struct hp_compared_code *code)
{
	const char *instruction = code->text[HP_CANDIDATE] ? code->text[HP_CANDIDATE]
							   : code->text[HP_BASE];
	uint32_t line = code->line[HP_CANDIDATE] ? code->line[HP_CANDIDATE] : code->line[HP_BASE];

	buffer_printf(text, "%s ", code->is_changed ? "*" : " ");
	comparison_add_cost(text, writer->comparison, code->cost[HP_BASE]);
	buffer_printf(text, " -> ");
	comparison_add_cost(text, writer->comparison, code->cost[HP_CANDIDATE]);
	buffer_printf(text, "  ");
	if (code->file)
		text_escape(text, comparison_base_name(code->file));
	if (code->file && line)
		buffer_printf(text, ":%u", line);
	if (instruction) {
		buffer_printf(text, "  ");
		text_escape(text, instruction);
	}
	buffer_printf(text, "\n");
}

/* What a person reads who opens the failure. */
static void add_details(struct buffer *text, const struct comparison_writer *writer,
			const struct hp_compared *compared)
{
	const struct hp_compared *inner;
	size_t next = 0;

	comparison_add_finding(text, writer->comparison, compared);
	buffer_printf(text, "\n");
	if (compared->file) {
		buffer_printf(text, "at ");
		comparison_add_place(text, writer, compared);
		buffer_printf(text, "\n");
	}
	for (size_t i = 0; i < compared->shift_count; i++) {
		comparison_add_shift(text, writer->comparison, &compared->shifts[i]);
		buffer_printf(text, "\n");
	}
	while ((inner = comparison_next_inner(compared, &next))) {
		comparison_add_inner(text, writer, inner);
		buffer_printf(text, "\n");
	}
	if (compared->code_count)
		buffer_printf(text, "what costs more or less there (* the code differs):\n");
	for (size_t i = 0; i < compared->code_count; i++)
		add_code_row(text, writer, &compared->code[i]);
}

static void add_result(struct buffer *out, const struct comparison_writer *writer,
		       const struct hp_compared *compared, struct totals *totals)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(buffer_free) struct buffer message = { 0 };
	_cleanup_(buffer_free) struct buffer details = { 0 };

	if (hp_comparison_is_regression(compared)) {
		totals->failures++;
		comparison_add_finding(&message, comparison, compared);
		add_details(&details, writer, compared);
		buffer_printf(out, "<failure type=\"regression\"");
		add_attribute(out, "message", &message);
		buffer_printf(out, ">");
		comparison_add_markup(out, buffer_text(&details));
		buffer_printf(out, "</failure>");
	} else if (compared == comparison->program &&
		   comparison->verdict == HP_VERDICT_INSUFFICIENT) {
		totals->skipped++;
		comparison_add_headline(&message, comparison);
		buffer_printf(out, "<skipped");
		add_attribute(out, "message", &message);
		buffer_printf(out, "/>");
	} else {
		add_details(&details, writer, compared);
		buffer_printf(out, "<system-out>");
		comparison_add_markup(out, buffer_text(&details));
		buffer_printf(out, "</system-out>");
	}
	out->failed |= message.failed || details.failed;
}

static void add_case(struct buffer *out, const struct comparison_writer *writer,
		     const struct hp_compared *compared, struct totals *totals)
{
	_cleanup_(buffer_free) struct buffer class = { 0 };
	_cleanup_(buffer_free) struct buffer name = { 0 };
	_cleanup_(buffer_free) struct buffer file = { 0 };

	totals->cases++;
	buffer_printf(&class, "hpcprof.check.");
	text_escape(&class, compared->image ? comparison_base_name(compared->image) : "program");
	comparison_add_name(&name, writer->comparison, compared);
	buffer_printf(out, "<testcase");
	add_attribute(out, "classname", &class);
	add_attribute(out, "name", &name);
	if (compared->file) {
		text_escape(&file, comparison_relative_path(writer, compared->file));
		add_attribute(out, "file", &file);
		if (compared->line)
			buffer_printf(out, " line=\"%u\"", compared->line);
	}
	buffer_printf(out, ">");
	add_result(out, writer, compared, totals);
	buffer_printf(out, "</testcase>\n");
	out->failed |= class.failed || name.failed || file.failed;
}

static void add_cases(struct buffer *out, const struct comparison_writer *writer,
		      struct totals *totals)
{
	const struct hp_comparison *comparison = writer->comparison;
	const struct hp_compared *program = comparison->program;

	add_case(out, writer, program, totals);
	for (size_t i = 0; i < comparison->finding_count; i++)
		if (comparison->findings[i] != program)
			add_case(out, writer, comparison->findings[i], totals);
	for (size_t i = 0; i < program->part_count; i++) {
		const struct hp_compared *image = program->parts[i];

		for (size_t j = 0; j < image->part_count; j++)
			if (!image->parts[j]->is_finding && isfinite(image->parts[j]->p))
				add_case(out, writer, image->parts[j], totals);
	}
}

struct hp_error *comparison_write_junit(const struct comparison_writer *writer)
{
	_cleanup_(buffer_free) struct buffer cases = { 0 };
	_cleanup_(buffer_free) struct buffer headline = { 0 };
	_cleanup_(buffer_free) struct buffer out = { 0 };
	struct totals totals = { 0 };

	add_cases(&cases, writer, &totals);
	comparison_add_headline(&headline, writer->comparison);
	buffer_printf(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buffer_printf(&out,
		      "<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
		      "<testsuite name=\"hpcprof check\" tests=\"%zu\" failures=\"%zu\" "
		      "errors=\"0\" skipped=\"%zu\">\n<properties><property name=\"verdict\"",
		      totals.cases, totals.failures, totals.cases, totals.failures, totals.skipped);
	add_attribute(&out, "value", &headline);
	buffer_printf(&out, "/></properties>\n");
	buffer_add(&out, buffer_text(&cases), cases.size);
	buffer_printf(&out, "</testsuite>\n</testsuites>\n");
	out.failed |= cases.failed || headline.failed;
	return comparison_put(&out, writer->out);
}
