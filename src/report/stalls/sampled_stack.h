/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The view of stall stacks by the core's counters, in each format: of the program, then of each row
 * of the profiles (procedures, or what --by tells apart).
 */
#ifndef REPORT_STALLS_SAMPLED_STACK_H
#define REPORT_STALLS_SAMPLED_STACK_H

#include "../common/state.h"

#include <stdio.h>

/* Whether stacks come from sampled counters: if events of stalls were sampled, or if cycles and
 * instructions were and there are no windows; unless options say otherwise. */
bool shows_sampled_stacks(const struct report *report);

struct hp_error *write_sampled_stacks_text(struct report *report, FILE *out);
struct hp_error *write_sampled_stacks_csv(struct report *report, FILE *out);
struct hp_error *write_sampled_stacks_json(struct report *report, FILE *out);

#endif
