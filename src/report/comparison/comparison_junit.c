/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JUnit XML as CI systems read it: one test suite, with a test case for the program, one for each
 * procedure that was tested and one for each other finding. A regression is a failure. If the data
 * is insufficient, the program's case is skipped, with the reason.
 */
#include "comparison.h"

#include <math.h>

struct totals {
	size_t cases;
	size_t failures;
	size_t skipped;
};

static void add_attribute(struct hp_buffer *out, const char *name, const struct hp_buffer *value)
{
	hp_buffer_printf(out, " %s=\"", name);
	comparison_add_markup(out, hp_buffer_text(value));
	hp_buffer_printf(out, "\"");
}

static void add_code_row(struct hp_buffer *text, const struct comparison_writer *writer,
			 const struct hp_compared_code *code)
{
	const char *instruction = code->text[HP_CANDIDATE] ? code->text[HP_CANDIDATE]
							   : code->text[HP_BASE];
	uint32_t line = code->line[HP_CANDIDATE] ? code->line[HP_CANDIDATE] : code->line[HP_BASE];

	hp_buffer_printf(text, "%s ", code->is_changed ? "*" : " ");
	comparison_add_cost(text, writer->comparison, code->cost[HP_BASE]);
	hp_buffer_printf(text, " -> ");
	comparison_add_cost(text, writer->comparison, code->cost[HP_CANDIDATE]);
	hp_buffer_printf(text, "  ");
	if (code->file)
		text_escape(text, comparison_base_name(code->file));
	if (code->file && line)
		hp_buffer_printf(text, ":%u", line);
	if (instruction) {
		hp_buffer_printf(text, "  ");
		text_escape(text, instruction);
	}
	hp_buffer_printf(text, "\n");
}

/* The text of a failure, for a person who opens it. */
static void add_details(struct hp_buffer *text, const struct comparison_writer *writer,
			const struct hp_compared *compared)
{
	const struct hp_compared *inner;
	size_t next = 0;

	comparison_add_finding(text, writer->comparison, compared);
	hp_buffer_printf(text, "\n");
	if (compared->file) {
		hp_buffer_printf(text, "at ");
		comparison_add_place(text, writer, compared);
		hp_buffer_printf(text, "\n");
	}
	for (size_t i = 0; i < compared->shift_count; i++) {
		comparison_add_shift(text, writer->comparison, &compared->shifts[i]);
		hp_buffer_printf(text, "\n");
	}
	while (comparison_next_caller(text, writer->comparison, compared, &next))
		hp_buffer_printf(text, "\n");
	next = 0;
	while ((inner = comparison_next_inner(compared, &next))) {
		comparison_add_inner(text, writer, inner);
		hp_buffer_printf(text, "\n");
	}
	if (compared->code_count)
		hp_buffer_printf(text, "the differences in cost (* the code differs):\n");
	for (size_t i = 0; i < compared->code_count; i++)
		add_code_row(text, writer, &compared->code[i]);
}

static void add_result(struct hp_buffer *out, const struct comparison_writer *writer,
		       const struct hp_compared *compared, struct totals *totals)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer message = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer details = { 0 };

	if (hp_comparison_is_regression(compared)) {
		totals->failures++;
		comparison_add_finding(&message, comparison, compared);
		add_details(&details, writer, compared);
		hp_buffer_printf(out, "<failure type=\"regression\"");
		add_attribute(out, "message", &message);
		hp_buffer_printf(out, ">");
		comparison_add_markup(out, hp_buffer_text(&details));
		hp_buffer_printf(out, "</failure>");
	} else if (compared == comparison->program &&
		   comparison->verdict == HP_VERDICT_INSUFFICIENT) {
		totals->skipped++;
		comparison_add_headline(&message, comparison);
		hp_buffer_printf(out, "<skipped");
		add_attribute(out, "message", &message);
		hp_buffer_printf(out, "/>");
	} else {
		add_details(&details, writer, compared);
		hp_buffer_printf(out, "<system-out>");
		comparison_add_markup(out, hp_buffer_text(&details));
		hp_buffer_printf(out, "</system-out>");
	}
	out->failed |= message.failed || details.failed;
}

static void add_case(struct hp_buffer *out, const struct comparison_writer *writer,
		     const struct hp_compared *compared, struct totals *totals)
{
	_cleanup_(hp_buffer_free) struct hp_buffer class = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer file = { 0 };

	totals->cases++;
	hp_buffer_printf(&class, "hpcprof.check.");
	text_escape(&class, compared->image ? comparison_base_name(compared->image) : "program");
	comparison_add_name(&name, writer->comparison, compared);
	hp_buffer_printf(out, "<testcase");
	add_attribute(out, "classname", &class);
	add_attribute(out, "name", &name);
	if (compared->file) {
		text_escape(&file, comparison_relative_path(writer, compared->file));
		add_attribute(out, "file", &file);
		if (compared->line)
			hp_buffer_printf(out, " line=\"%u\"", compared->line);
	}
	hp_buffer_printf(out, ">");
	add_result(out, writer, compared, totals);
	hp_buffer_printf(out, "</testcase>\n");
	out->failed |= class.failed || name.failed || file.failed;
}

static void add_cases(struct hp_buffer *out, const struct comparison_writer *writer,
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
	_cleanup_(hp_buffer_free) struct hp_buffer cases = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer headline = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer out = { 0 };
	struct totals totals = { 0 };

	add_cases(&cases, writer, &totals);
	comparison_add_headline(&headline, writer->comparison);
	hp_buffer_printf(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	hp_buffer_printf(&out,
			 "<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
			 "<testsuite name=\"hpcprof check\" tests=\"%zu\" failures=\"%zu\" "
			 "errors=\"0\" skipped=\"%zu\">\n<properties><property name=\"verdict\"",
			 totals.cases, totals.failures, totals.cases, totals.failures,
			 totals.skipped);
	add_attribute(&out, "value", &headline);
	hp_buffer_printf(&out, "/></properties>\n");
	hp_buffer_add(&out, hp_buffer_text(&cases), cases.size);
	hp_buffer_printf(&out, "</testsuite>\n</testsuites>\n");
	out.failed |= cases.failed || headline.failed;
	return hp_buffer_write(&out, writer->out);
}
