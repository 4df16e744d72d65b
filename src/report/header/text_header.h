/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a report as text. */
#ifndef REPORT_HEADER_TEXT_HEADER_H
#define REPORT_HEADER_TEXT_HEADER_H

#include "../common/state.h"

#include <stdio.h>

/* How good the data is, each line behind a "# ". `left_out`: so many lines that matter had
 * no room, and stand in --summary. */
struct hp_error *write_text_header(const struct report *report, FILE *out, size_t *left_out);

#endif
