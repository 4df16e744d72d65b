/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One procedure by its instructions: as text, and as a graph. */
#ifndef REPORT_ANNOTATE_WRITE_ANNOTATE_H
#define REPORT_ANNOTATE_WRITE_ANNOTATE_H

#include "../common/state.h"

#include <stdio.h>

struct listing;
/* Writes the body of --annotate as text. `listing`: all instructions with their blocks. `analysis`:
 * NULL if there is none. */
struct hp_error *write_annotation(struct report *report, const struct hp_row *row,
				  const struct listing *listing, const struct hp_analysis *analysis,
				  FILE *out);

/* Writes the instruction view as graphs. */
struct hp_error *write_dot(struct report *report, FILE *out);

#endif
