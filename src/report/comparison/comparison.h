/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the writers of a comparison share: its figures and sentences. All text that is added to a
 * buffer is valid UTF-8 on one line, not yet escaped for a format. */
#ifndef REPORT_COMPARISON_COMPARISON_H
#define REPORT_COMPARISON_COMPARISON_H

#include "../common/text.h"

#include <hpcprof/report/comparison.h>

#include <jansson.h>

/* What one writer needs. */
struct comparison_writer {
	const struct hp_comparison *comparison;
	const struct hp_comparison_options *options;
	FILE *out;
};

struct hp_error *comparison_write_text(const struct comparison_writer *writer);
struct hp_error *comparison_write_differences(const struct comparison_writer *writer);
struct hp_error *comparison_write_differences_json(const struct comparison_writer *writer);
struct hp_error *comparison_write_json(const struct comparison_writer *writer);
struct hp_error *comparison_write_junit(const struct comparison_writer *writer);
struct hp_error *comparison_write_sarif(const struct comparison_writer *writer);
struct hp_error *comparison_write_github(const struct comparison_writer *writer);
struct hp_error *comparison_write_markdown(const struct comparison_writer *writer);
struct hp_error *comparison_write_html(const struct comparison_writer *writer);

/* --- figures -------------------------------------------------------------------------------- */

/* "1.23 s", "45.6 M cycles", "12.3 %" of a relative comparison. */
void comparison_add_cost(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			 double cost);
/* "+12.3 %", "new", "gone". */
void comparison_add_change(struct hp_buffer *buffer, const struct hp_compared *compared);
/* The change of its share of the program; nothing if that is unknown. */
void comparison_add_share_change(struct hp_buffer *buffer, const struct hp_compared *compared);
/* "+32.7 % to +179 %"; "at least +32.7 %" and "uncertain" where an end tells nothing; "" if unknown. */
void comparison_add_change_interval(struct hp_buffer *buffer, const struct hp_compared *compared);
/* Neither end of the interval tells anything. */
bool comparison_is_uncertain(const struct hp_compared *compared);

/* --- sentences ------------------------------------------------------------------------------ */

/* "procedure sort_rows in app", "block 0x1180-0x11a3 of sort_rows in app"; the program is "the
 * program". */
void comparison_add_name(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			 const struct hp_compared *compared);
/* "app.c:12", relative to the source's root; nothing if the file is unknown. */
void comparison_add_place(struct hp_buffer *buffer, const struct comparison_writer *writer,
			  const struct hp_compared *compared);
/* The headline without the verdict. */
void comparison_add_summary(struct hp_buffer *buffer, const struct hp_comparison *comparison);
/* "regression: the program costs 1.20 s -> 1.31 s of cpu-clock per run, +9.2 % (+8.0 % to +10.4 %);
 * 2 regressions" */
void comparison_add_headline(struct hp_buffer *buffer, const struct hp_comparison *comparison);
/* "procedure f in app costs 120 ms -> 141 ms per run, +17.5 % (+15.0 % to +20.1 %), q = 0.0002" */
void comparison_add_finding(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			    const struct hp_compared *compared);
/* Iterates over findings within a procedure, blocks first, then lines: returns the next one, from
 * `*at` 0 on, and NULL after the last. */
const struct hp_compared *comparison_next_inner(const struct hp_compared *compared, size_t *at);
/* Like a finding, with its place. */
void comparison_add_inner(struct hp_buffer *buffer, const struct comparison_writer *writer,
			  const struct hp_compared *inner);
/* "40.2 ms of it came from g (inlined into)" */
void comparison_add_shift(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			  const struct hp_cost_shift *shift);
/* Adds the next sentence about the callers that caused the procedure's change, from `*at` 0 on;
 * false after the last: "of the growth, 81 % (74 % to 88 %) is below parse", "parse calls it 2.1
 * times as often", "branch-mispredict grew from 12-18 % to 41-52 % of its cycles". */
bool comparison_next_caller(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			    const struct hp_compared *compared, size_t *at);
/* "; the sides were recorded in turns", or another statement about that; "" if nothing is known. */
const char *comparison_way(const struct hp_comparison *comparison);
/* Adds a command line, cut with "…" to what fits on a line. */
void comparison_add_command(struct hp_buffer *buffer, const char *command);
/* "too few samples; record 5 more runs of each side" */
void comparison_add_shortage(struct hp_buffer *buffer, const struct hp_shortage *shortage);

/* Escapes for XML and HTML: for elements, and for attributes in double quotes. */
void comparison_add_markup(struct hp_buffer *out, const char *text);

/* --- what else is shared ---------------------------------------------------------------------- */

/* The path relative to the source's root if it is below that; without a leading "./". */
const char *comparison_relative_path(const struct comparison_writer *writer, const char *path);
/* The part after the last slash. */
const char *comparison_base_name(const char *path);
size_t comparison_most_findings(const struct comparison_writer *writer);
/* The program, followed by its procedures, the largest difference first. The caller frees it. NULL:
 * out of memory. */
const struct hp_compared **comparison_differences(const struct hp_comparison *comparison,
						  size_t *count);

/* The "hpcprof-check/1" document: the `most` first findings, and of everything else the most
 * expensive images, procedures of each, and lines of each. SIZE_MAX: all. NULL: out of memory. */
json_t *comparison_document(const struct comparison_writer *writer, size_t most);

#endif
