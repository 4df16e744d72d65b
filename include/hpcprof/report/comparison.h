/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a finished comparison for its readers: CI systems, reviewers, browsers.
 *
 *	TEXT		for people: verdict, findings, what changed there
 *	JSON		"hpcprof-check/1", all of it
 *	JUNIT		JUnit XML: a test case for the program and each procedure that was tested
 *	SARIF		SARIF 2.1.0, as code scanning services take it: a result for each regression
 *	GITHUB		workflow commands: an annotation at the line of each regression, the worst
 *			first, then the verdict
 *	MARKDOWN	the verdict and a table of the findings, for a comment
 *	DIFFERENCES	for people: everything that was compared, the greatest difference first, no
 *			verdict; code as far as the comparison has any
 *	DIFFERENCES_JSON	"hpcprof-diff/1", the same as data
 *	HTML		one page without anything outside itself: verdict, icicle view, table
 *
 * Names in a comparison may hold any bytes; each writer escapes them as its format requires.
 */
#ifndef HPCPROF_REPORT_COMPARISON_H
#define HPCPROF_REPORT_COMPARISON_H

#include <hpcprof/base/error.h>
#include <hpcprof/compare/compare.h>

#include <stdio.h>

enum hp_comparison_format {
	HP_COMPARISON_TEXT,
	HP_COMPARISON_JSON,
	HP_COMPARISON_JUNIT,
	HP_COMPARISON_SARIF,
	HP_COMPARISON_GITHUB,
	HP_COMPARISON_MARKDOWN,
	HP_COMPARISON_HTML,
	HP_COMPARISON_DIFFERENCES,
	HP_COMPARISON_DIFFERENCES_JSON,
};

/* By its name, "text", "json", ...; all but HTML, which goes beside another, and differences. */
bool hp_comparison_format_parse(const char *text, enum hp_comparison_format *format);

struct hp_comparison_options {
	/* The source directory: paths below it are written relative to it. An absolute path without
	 * a final slash, or NULL. */
	const char *source_root;
	/* The maximum number of annotations and of rows of text and of the Markdown table; 0: 10.
	 * In JSON the maximum number of findings, and of other images, procedures and lines of
	 * each, most expensive first; 0: all. */
	size_t most_findings;
	size_t columns; /* to which text is wrapped; 0: not */
};

struct hp_error *hp_comparison_write(const struct hp_comparison *comparison,
				     enum hp_comparison_format format,
				     const struct hp_comparison_options *options, FILE *out);

/* Why findings changed, as far as the epochs of both sides have windows: how often they are called,
 * and what their cycles were spent on. `epochs` and `options` are those of the comparison. */
struct hp_error *hp_comparison_add_reasons(struct hp_comparison *comparison,
					   const struct hp_compare_epochs epochs[HP_SIDES],
					   const struct hp_compare_options *options);

/* Whether the finding fails a check; not if it became cheaper, or if its cost moved. */
bool hp_comparison_is_regression(const struct hp_compared *compared);

#endif
