/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the drawings of hpcprof stat share: SVG, time from left to right. */
#ifndef HPCPROF_CLI_STAT_DRAWING_H
#define HPCPROF_CLI_STAT_DRAWING_H

#include "stat.h"

/* Pixels of the frame. */
enum {
	STAT_DRAW_WIDTH = 960,
	STAT_DRAW_LEFT = 96,
	STAT_DRAW_RIGHT = 24,
	STAT_DRAW_TOP = 56,
	STAT_DRAW_BOTTOM = 48,
};

/* Returns a step of 1, 2 or 5 times a power of ten, so that about `count` steps reach `most`. */
double stat_draw_step(double most, int count);
/* Writes escaped text; bytes outside ASCII become '?'. */
void stat_draw_text(FILE *stream, const char *text);
/* Writes the document from <svg> to the title, which names the target. `style`: further CSS
 * rules. */
void stat_draw_head(FILE *stream, const struct stat_subject *subject, int height,
		    const char *style);
/* Draws the time axis, from 0 to `most_s` seconds, and a note below it. */
void stat_draw_time_axis(FILE *stream, double most_s, const char *note, double y);

#endif
