/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps within a listing, drawn in a margin at its left; short ones are nearest to the text. Jumps
 * that do not fit are left out, the longest first.
 */
#ifndef REPORT_ANNOTATE_ARROWS_H
#define REPORT_ANNOTATE_ARROWS_H

#include <hpcprof/base/error.h>

#include <stddef.h>

struct arrow {
	size_t from; /* indices of lines in the listing */
	size_t to;
};

/* The drawing: lanes and a column for arrow heads, for each line of the listing. */
struct gutter {
	char *cells; /* one character for each line and column */
	size_t lines;
	size_t columns; /* lanes + 1; 0: there is nothing to draw */
	size_t left_out;
};

/* Sorts `arrows`, and uses as few lanes as possible. */
struct hp_error *gutter_draw(struct arrow *arrows, size_t count, size_t lines, size_t lanes,
			     struct gutter *gutter);
void gutter_clear(struct gutter *gutter);
/* The `columns` characters to the left of a line, not terminated. */
const char *gutter_line(const struct gutter *gutter, size_t line);

#endif
