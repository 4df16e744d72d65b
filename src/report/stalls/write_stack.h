/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The view of how the cycles of the program and of its procedures were spent, where windows were
 * simulated, in each format.
 */
#ifndef REPORT_STALLS_WRITE_STACK_H
#define REPORT_STALLS_WRITE_STACK_H

#include "../common/state.h"

#include <stdio.h>

struct hp_error *write_stack_text(struct report *report, FILE *out);
struct hp_error *write_stack_csv(struct report *report, FILE *out);
struct hp_error *write_stack_json(struct report *report, FILE *out);
/* Draws bars of shares as one SVG picture. */
struct hp_error *draw_stack(struct report *report, FILE *out);

#endif
