/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts in SVG pictures. */
#ifndef REPORT_COMMON_SVG_H
#define REPORT_COMMON_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes a text escaped for people and for XML, cut to so many characters (0: not). False: out of
 * memory. */
bool svg_text(FILE *out, const char *text, size_t columns);
/* The title of a picture: the command that was recorded, or what was recorded otherwise. */
struct hp_epoch_meta;
bool svg_command(FILE *out, const struct hp_epoch_meta *meta);

#endif
