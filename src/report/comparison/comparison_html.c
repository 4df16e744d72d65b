/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One page that contains everything: the document of comparison_json.c as data, the script that
 * draws it, and the verdict as plain text for browsers that run no scripts. Its
 * Content-Security-Policy forbids the browser to load anything else.
 */
#include "comparison.h"

#include "report/comparison/page_check_css.h"
#include "report/comparison/page_check_js.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <stdlib.h>
#include <string.h>

static void add_lines(struct hp_buffer *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hp_buffer_add(out, lines[i], strlen(lines[i]));
}

/* Inside a script element only "<" could end it, and in JSON "<" occurs only in strings. */
static struct hp_error *add_data(struct hp_buffer *out, const struct comparison_writer *writer)
{
	json_t *document = comparison_document(writer, MOST_PARTS_DRAWN);
	_cleanup_free_ char *text =
		document ? json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(document);
	if (!text)
		return hp_error_create_no_memory();
	hp_buffer_printf(out,
			 "<script type=\"application/json\" id=\"data\" "
			 "data-telling-factor=\"%g\">",
			 telling_factor);
	for (const char *at = text; *at; at++) {
		if (*at == '<')
			hp_buffer_printf(out, "\\u003c");
		else
			hp_buffer_add(out, at, 1);
	}
	hp_buffer_printf(out, "</script>\n");
	return NULL;
}

static void add_markup(struct hp_buffer *out, const struct hp_buffer *text)
{
	comparison_add_markup(out, hp_buffer_text(text));
	out->failed |= text->failed;
}

static const char *word_of(enum hp_verdict verdict)
{
	switch (verdict) {
	case HP_VERDICT_PASS:
		return "\xe2\x9c\x93 Pass";
	case HP_VERDICT_IMPROVEMENT:
		return "\xe2\x96\xbc Improvement";
	case HP_VERDICT_REGRESSION:
		return "\xe2\x96\xb2 Regression";
	case HP_VERDICT_INSUFFICIENT:
		break;
	}
	return "? Not enough data";
}

static void add_side(struct hp_buffer *out, const struct hp_compared_side *side, enum hp_side which)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	comparison_add_command(&text, side->command ? side->command : "");
	hp_buffer_printf(out, "<dt>%s</dt><dd><code>", hp_side_name(which));
	add_markup(out, &text);
	hp_buffer_printf(out, "</code> <span class=\"soft\">%zu epoch%s, %llu samples, ",
			 side->epoch_count, side->epoch_count == 1 ? "" : "s",
			 (unsigned long long)side->samples);
	hp_buffer_clear(&text);
	text_escape(&text, side->cpu_model ? side->cpu_model : "unknown CPU");
	add_markup(out, &text);
	hp_buffer_printf(out, "</span></dd>");
}

static void add_head(struct hp_buffer *out, const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(out,
			 "<header class=\"%s\">\n<h1>hpcprof check</h1>\n"
			 "<p class=\"verdict\">%s</p>\n<p class=\"headline\">",
			 hp_verdict_name(comparison->verdict), word_of(comparison->verdict));
	comparison_add_summary(&text, comparison);
	add_markup(out, &text);
	hp_buffer_printf(out, "</p>\n<dl class=\"sides\">");
	add_side(out, &comparison->sides[HP_BASE], HP_BASE);
	add_side(out, &comparison->sides[HP_CANDIDATE], HP_CANDIDATE);
	hp_buffer_clear(&text);
	text_escape(&text, comparison->event);
	hp_buffer_printf(out, "<dt>event</dt><dd><code>");
	add_markup(out, &text);
	hp_buffer_printf(out,
			 "</code> <span class=\"soft\">changes below %.3g %% of a scope or %.3g %% "
			 "of the program are ignored%s</span></dd></dl>\n</header>\n",
			 100 * comparison->least_change, 100 * comparison->least_of_program,
			 comparison_way(comparison));
}

static void add_item(struct hp_buffer *out, const struct hp_buffer *text)
{
	hp_buffer_printf(out, "<li>");
	add_markup(out, text);
	hp_buffer_printf(out, "</li>\n");
}

static void add_notes(struct hp_buffer *out, const struct hp_comparison *comparison)
{
	if (!comparison->shortage_count && !comparison->note_count)
		return;
	hp_buffer_printf(out, "<section><h2>Notes</h2>\n<ul>\n");
	for (size_t i = 0; i < comparison->shortage_count; i++) {
		_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

		comparison_add_shortage(&text, &comparison->shortages[i]);
		add_item(out, &text);
	}
	for (size_t i = 0; i < comparison->note_count; i++) {
		_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

		text_escape(&text, comparison->notes[i]);
		add_item(out, &text);
	}
	hp_buffer_printf(out, "</ul></section>\n");
}

static const char page_start[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>";

static const char page_body[] =
	"<noscript><section>The pictures and the table need the scripts in this page. Without "
	"scripts use: hpcprof check --format=markdown.</section></noscript>\n<div "
	"class=\"pair\">\n<section><h2>Recorded epochs</h2><p class=\"soft\">The cost of a run. "
	"The distances between the dots of one side are the scale for a difference between the "
	"sides.</p><div id=\"runs\"></div></section>\n<section><h2>Changes and their 95 % "
	"intervals</h2><p class=\"soft\">Changes to the right are slower. Changes in the shaded "
	"band are ignored.</p><div id=\"intervals\"></div></section>\n</div>\n<section><h2>Where "
	"the cost is, and where it changed</h2>\n<p class=\"soft\">Each row consists of the parts "
	"of the row above: the program, its images, their procedures, their lines. Width is cost "
	"(the mean of both sides), colour is change; bold with an arrow is significant. Click or "
	"Enter selects and zooms; arrow keys move.</p>\n<div class=\"bar\"><div id=\"path\" "
	"class=\"path\"></div><div class=\"legend\">25 % faster<div id=\"ramp\" "
	"class=\"ramp\"></div>25 % slower</div></div>\n<div id=\"icicle\" role=\"group\" "
	"aria-label=\"icicle view of the program\"></div>\n<div id=\"detail\" "
	"aria-live=\"polite\"></div></section>\n<section><div class=\"bar\"><h2>Findings and "
	"procedures</h2><label class=\"soft\">filter <input type=\"search\" "
	"id=\"filter\"></label><span id=\"count\" class=\"soft\"></span></div>\n<div "
	"class=\"scroll\"><table><thead><tr id=\"head\"></tr></thead><tbody "
	"id=\"rows\"></tbody></table></div></section>\n";

struct hp_error *comparison_write_html(const struct comparison_writer *writer)
{
	_cleanup_(hp_buffer_free) struct hp_buffer out = { 0 };
	struct hp_error *error;

	hp_buffer_printf(&out, "%shpcprof check: %s</title>\n<style>\n", page_start,
			 hp_verdict_name(writer->comparison->verdict));
	add_lines(&out, page_check_css, HP_ARRAY_COUNT(page_check_css));
	hp_buffer_printf(&out, "</style>\n</head>\n<body>\n<main>\n");
	add_head(&out, writer);
	add_lines(&out, (const char *const[]){ page_body }, 1);
	add_notes(&out, writer->comparison);
	hp_buffer_printf(&out, "</main>\n");
	error = add_data(&out, writer);
	if (error)
		return error;
	hp_buffer_printf(&out, "<script>\n");
	add_lines(&out, page_check_js, HP_ARRAY_COUNT(page_check_js));
	hp_buffer_printf(&out, "</script>\n</body>\n</html>\n");
	return hp_buffer_write(&out, writer->out);
}
