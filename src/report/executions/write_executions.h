/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --calls and --executions, in each format. */
#ifndef REPORT_EXECUTIONS_WRITE_EXECUTIONS_H
#define REPORT_EXECUTIONS_WRITE_EXECUTIONS_H

#include "../common/state.h"

#include <stdio.h>

struct hp_error *write_calls_text(struct report *report, FILE *out);
struct hp_error *write_calls_csv(struct report *report, FILE *out);
struct hp_error *write_calls_json(struct report *report, FILE *out);
struct hp_error *write_executions_text(struct report *report, FILE *out);
struct hp_error *write_executions_csv(struct report *report, FILE *out);
struct hp_error *write_executions_json(struct report *report, FILE *out);

#endif
