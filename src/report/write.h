/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writers: one report in each format. Errors of the stream are found once, at the end. */
#ifndef REPORT_WRITE_H
#define REPORT_WRITE_H

#include "common/state.h"

#include <stdio.h>

struct hp_error *write_text(struct report *report, FILE *out);
struct hp_error *write_json(struct report *report, FILE *out);
struct hp_error *write_csv(struct report *report, FILE *out);
/* The body of --summary as text. */
struct hp_error *write_text_summary(struct report *report, FILE *out);

#endif
