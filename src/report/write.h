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
struct hp_error *write_text_header(const struct report *report, FILE *out);
/* The body of --summary as text. */
struct hp_error *write_text_summary(const struct report *report, FILE *out);

/* Rows as an aligned table, or as one with `grouped` titles above when there are several events. */
struct hp_error *write_text_table(const struct report *report, const struct columns *columns,
				  struct row *const *rows, size_t count, FILE *out);

#endif
