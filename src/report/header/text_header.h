/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a report as text. */
#ifndef REPORT_HEADER_TEXT_HEADER_H
#define REPORT_HEADER_TEXT_HEADER_H

#include "../common/state.h"

#include <stdio.h>

/* Writes how good the data is, as lines that begin with "# ". `left_out`: number of important lines
 * for which there was no room; --summary has them. */
struct hp_error *write_text_header(const struct report *report, FILE *out, size_t *left_out);

#endif
