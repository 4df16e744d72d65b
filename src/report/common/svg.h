/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts in SVG pictures. */
#ifndef REPORT_COMMON_SVG_H
#define REPORT_COMMON_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Escaped for people and for XML, and cut to so many characters (0: never). false: memory is
 * short. */
bool svg_text(FILE *out, const char *text, size_t columns);
/* The title of a picture: the command that was recorded, or whatever was. */
struct hp_epoch_meta;
bool svg_command(FILE *out, const struct hp_epoch_meta *meta);

#endif
