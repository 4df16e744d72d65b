/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much time the program and its procedures would take if something were otherwise (what_if.h),
 * in each format. */
#ifndef REPORT_STALLS_WRITE_WHAT_IF_H
#define REPORT_STALLS_WRITE_WHAT_IF_H

#include "../common/state.h"

#include <stdio.h>

struct hp_error *write_what_if_text(struct report *report, FILE *out);
struct hp_error *write_what_if_csv(struct report *report, FILE *out);
struct hp_error *write_what_if_json(struct report *report, FILE *out);

#endif
