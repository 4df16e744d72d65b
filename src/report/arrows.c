/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "arrows.h"

#include <hpcprof/base/cleanup.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static size_t top_of(const struct arrow *arrow)
{
	return arrow->from < arrow->to ? arrow->from : arrow->to;
}

static size_t bottom_of(const struct arrow *arrow)
{
	return arrow->from < arrow->to ? arrow->to : arrow->from;
}

static int compare_length(const void *left, const void *right)
{
	const struct arrow *a = left;
	const struct arrow *b = right;
	size_t a_length = bottom_of(a) - top_of(a);
	size_t b_length = bottom_of(b) - top_of(b);

	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static char *cell(const struct gutter *gutter, size_t line, size_t column)
{
	return &gutter->cells[line * gutter->columns + column];
}

static bool is_free(const struct gutter *gutter, const struct arrow *arrow, size_t lane)
{
	for (size_t line = top_of(arrow); line <= bottom_of(arrow); line++)
		if (*cell(gutter, line, lane) != ' ')
			return false;
	return true;
}

/* From the lane to the text; what runs down in between stays visible. */
static void draw_end(const struct gutter *gutter, size_t line, size_t lane, bool is_head)
{
	for (size_t column = lane + 1; column + 1 < gutter->columns; column++)
		if (*cell(gutter, line, column) == ' ')
			*cell(gutter, line, column) = '-';
	if (is_head)
		*cell(gutter, line, gutter->columns - 1) = '>';
	else if (*cell(gutter, line, gutter->columns - 1) == ' ')
		*cell(gutter, line, gutter->columns - 1) = '-';
}

static void draw_arrow(const struct gutter *gutter, const struct arrow *arrow, size_t lane)
{
	size_t top = top_of(arrow);
	size_t bottom = bottom_of(arrow);

	for (size_t line = top + 1; line < bottom; line++)
		*cell(gutter, line, lane) = '|';
	/* A jump to itself. */
	*cell(gutter, bottom, lane) = top == bottom ? '@' : '\\';
	if (top != bottom)
		*cell(gutter, top, lane) = '/';
	draw_end(gutter, arrow->from, lane, false);
	draw_end(gutter, arrow->to, lane, true);
}

/* Lanes that nothing was drawn in are taken away, which are the leftmost. */
static void narrow(struct gutter *gutter)
{
	size_t unused = gutter->columns - 1;

	for (size_t line = 0; line < gutter->lines; line++)
		for (size_t column = 0; column < unused; column++)
			if (*cell(gutter, line, column) != ' ')
				unused = column;
	for (size_t line = 0; line < gutter->lines && unused; line++)
		memmove(&gutter->cells[line * (gutter->columns - unused)],
			&gutter->cells[line * gutter->columns + unused], gutter->columns - unused);
	gutter->columns -= unused;
	if (gutter->columns == 1)
		gutter->columns = 0;
}

struct hp_error *gutter_draw(struct arrow *arrows, size_t count, size_t lines, size_t lanes,
			     struct gutter *gutter)
{
	*gutter = (struct gutter){ .lines = lines, .columns = lanes + 1 };
	if (!count || !lanes || !lines) {
		gutter->columns = 0;
		return NULL;
	}
	if (lines > SIZE_MAX / gutter->columns ||
	    !(gutter->cells = malloc(lines * gutter->columns)))
		return hp_error_create_no_memory();
	memset(gutter->cells, ' ', lines * gutter->columns);
	qsort(arrows, count, sizeof(*arrows), compare_length);
	for (size_t i = 0; i < count; i++) {
		size_t lane = lanes;

		while (lane > 0 && !is_free(gutter, &arrows[i], lane - 1))
			lane--;
		if (lane)
			draw_arrow(gutter, &arrows[i], lane - 1);
		else
			gutter->left_out++;
	}
	narrow(gutter);
	return NULL;
}

void gutter_clear(struct gutter *gutter)
{
	free(gutter->cells);
	*gutter = (struct gutter){ 0 };
}

const char *gutter_line(const struct gutter *gutter, size_t line)
{
	return gutter->columns ? cell(gutter, line, 0) : "";
}
