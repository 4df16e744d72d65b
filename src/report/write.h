/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writers: one report, four formats. Errors of the stream are found once, at the end. */
#ifndef REPORT_WRITE_H
#define REPORT_WRITE_H

#include "columns.h"

#include <stdio.h>

struct hp_error *write_text(struct report *report, FILE *out);
struct hp_error *write_json(struct report *report, FILE *out);
struct hp_error *write_csv(struct report *report, FILE *out);
/* The instruction view as graphs. */
struct hp_error *write_dot(struct report *report, FILE *out);

/* How good the data is, each line behind a "# ". */
/* `left_out`: so many lines that matter had no room, and stand in --summary. */
struct hp_error *write_text_header(const struct report *report, FILE *out, size_t *left_out);
/* The body of --summary as text. */
struct hp_error *write_text_summary(struct report *report, FILE *out);

struct hp_error *write_csv_table(const struct report *report, const struct columns *columns,
				 struct hp_row *const *rows, size_t count, FILE *out);

/* --stalls, in each format. */
struct hp_error *write_stalls_text(struct report *report, FILE *out);
struct hp_error *write_stalls_csv(struct report *report, FILE *out);
struct hp_error *write_stalls_json(struct report *report, FILE *out);
/* What the survey covers, and where the cycles of that went, for people. */
struct survey;
void write_text_stack(const struct report *report, const struct survey *survey, FILE *out);

/* --calls and --executions. */
struct hp_error *write_calls_text(struct report *report, FILE *out);
struct hp_error *write_calls_csv(struct report *report, FILE *out);
struct hp_error *write_calls_json(struct report *report, FILE *out);
struct hp_error *write_executions_text(struct report *report, FILE *out);
struct hp_error *write_executions_csv(struct report *report, FILE *out);
struct hp_error *write_executions_json(struct report *report, FILE *out);

struct listing;
/* The body of --annotate as text: `listing` of all instructions with their blocks, `analysis` NULL
 * where there is none. */
struct hp_error *write_annotation(struct report *report, const struct hp_row *row,
				  const struct listing *listing, const struct hp_analysis *analysis,
				  FILE *out);

/* Rows as an aligned table, or as one with `grouped` titles above when there are several events. */
struct hp_error *write_text_table(const struct report *report, const struct columns *columns,
				  struct hp_row *const *rows, size_t count, FILE *out);

#endif
