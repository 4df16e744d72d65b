/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of stalls, in each format. */
#ifndef REPORT_STALLS_WRITE_STALLS_H
#define REPORT_STALLS_WRITE_STALLS_H

#include "../tables/columns.h"
#include "survey.h"

#include <stdio.h>

struct hp_error *write_stalls_text(struct report *report, FILE *out);
struct hp_error *write_stalls_csv(struct report *report, FILE *out);
struct hp_error *write_stalls_json(struct report *report, FILE *out);
/* Writes what the survey covers, and where its cycles went, for people. */
void write_text_stack(const struct report *report, const struct survey *survey, FILE *out);

/* Makes what lists of a survey share: the survey, or the error why there is none; its rows (owned
 * by the caller), with shares; and columns. */
struct hp_error *survey_stalls(struct report *report, enum survey_list list, struct survey *survey);
struct hp_error *stall_rows(struct survey *survey, struct hp_row ***rows);
struct hp_error *stall_columns(const struct column *from, size_t count, struct columns *columns);

#endif
