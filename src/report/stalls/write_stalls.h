/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of stalls, in each format. */
#ifndef REPORT_STALLS_WRITE_STALLS_H
#define REPORT_STALLS_WRITE_STALLS_H

#include "survey.h"

#include <stdio.h>

struct hp_error *write_stalls_text(struct report *report, FILE *out);
struct hp_error *write_stalls_csv(struct report *report, FILE *out);
struct hp_error *write_stalls_json(struct report *report, FILE *out);
/* What the survey covers, and where the cycles of that went, for people. */
void write_text_stack(const struct report *report, const struct survey *survey, FILE *out);

#endif
