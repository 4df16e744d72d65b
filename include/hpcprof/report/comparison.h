/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A finished comparison for those who read it: CI systems, reviewers, browsers.
 *
 *	TEXT		for people: verdict, findings, what changed there
 *	JSON		"hpcprof-check/1", all of it (CLI.md)
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
 * Names in a comparison may hold any bytes; they come out escaped as the format wants it.
 */
#ifndef HPCPROF_REPORT_COMPARISON_H
#define HPCPROF_REPORT_COMPARISON_H

#include <hpcprof/base/error.h>
#include <hpcprof/compare/comparison.h>

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
	/* Where the source is: paths below it are written relative to it. An absolute path without
	 * a slash at its end, or NULL. */
	const char *source_root;
	/* Annotations, rows of text and of the Markdown table; 0: 10. In JSON findings, and of
	 * what is no finding the dearest images, procedures and lines of each; 0: all. */
	size_t most_findings;
	size_t columns; /* of text, sentences are wrapped to; 0: never */
};

struct hp_error *hp_comparison_write(const struct hp_comparison *comparison,
				     enum hp_comparison_format format,
				     const struct hp_comparison_options *options, FILE *out);

/* A finding that fails a check, rather than one that got cheaper, or whose cost went elsewhere. */
bool hp_comparison_is_regression(const struct hp_compared *compared);

#endif
