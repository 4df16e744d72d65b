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

/* --- which places are taken ---------------------------------------------------------------------
 * Each lane is a bit map with one bit per line. Above it are levels in which each bit says whether
 * a word of the level below is not zero, up to a single word. So finding whether a range is free
 * takes a few steps, however long the range is. A procedure may have as many long arrows as
 * lines. */

enum { WORD_BITS = 64, MOST_LEVELS = 11 };

struct drawing {
	struct gutter *gutter;
	uint64_t *words; /* of all lanes, one after the other */
	size_t lane_words;
	size_t levels[MOST_LEVELS]; /* offset of each level in the words of a lane */
	size_t level_count;
};

static struct hp_error *make_levels(struct drawing *drawing)
{
	size_t bits = drawing->gutter->lines;
	size_t lanes = drawing->gutter->columns - 1;

	do {
		drawing->levels[drawing->level_count++] = drawing->lane_words;
		bits = bits / WORD_BITS + (bits % WORD_BITS != 0);
		drawing->lane_words += bits;
	} while (bits > 1);
	drawing->words = calloc(lanes, drawing->lane_words * sizeof(*drawing->words));
	return drawing->words ? NULL : hp_error_create_no_memory();
}

static uint64_t *word_at(const struct drawing *drawing, size_t lane, size_t level, size_t number)
{
	return &drawing->words[lane * drawing->lane_words + drawing->levels[level] + number];
}

static void put(const struct drawing *drawing, size_t line, size_t column, char sign)
{
	uint64_t before = 0;

	*cell(drawing->gutter, line, column) = sign;
	if (column + 1 == drawing->gutter->columns)
		return; /* no lane has room */
	/* If the word was not zero before, the bits above it are set already. */
	for (size_t level = 0; !before && level < drawing->level_count; level++) {
		uint64_t *word = word_at(drawing, column, level, line / WORD_BITS);

		before = *word;
		*word |= UINT64_C(1) << line % WORD_BITS;
		line /= WORD_BITS;
	}
}

/* Bits of one word, from `first` to `last` inclusive. */
static uint64_t bits_between(size_t first, size_t last)
{
	return UINT64_MAX << first & UINT64_MAX >> (WORD_BITS - 1 - last);
}

static bool is_free(const struct drawing *drawing, const struct arrow *arrow, size_t lane)
{
	size_t first = top_of(arrow);
	size_t last = bottom_of(arrow);

	for (size_t level = 0;; level++) {
		size_t left = first / WORD_BITS;
		size_t right = last / WORD_BITS;
		uint64_t left_bits = *word_at(drawing, lane, level, left);

		if (left == right)
			return !(left_bits & bits_between(first % WORD_BITS, last % WORD_BITS));
		if (left_bits & bits_between(first % WORD_BITS, WORD_BITS - 1) ||
		    *word_at(drawing, lane, level, right) & bits_between(0, last % WORD_BITS))
			return false;
		if (left + 1 == right)
			return true;
		first = left + 1;
		last = right - 1;
	}
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Draws the end of an arrow from its lane to the text; vertical lines in between stay visible. */
static void draw_end(const struct drawing *drawing, size_t line, size_t lane, bool is_head)
{
	const struct gutter *gutter = drawing->gutter;
	size_t last = gutter->columns - 1;

	for (size_t column = lane + 1; column < last; column++)
		if (*cell(gutter, line, column) == ' ')
			put(drawing, line, column, '-');
	if (is_head)
		put(drawing, line, last, '>');
	else if (*cell(gutter, line, last) == ' ')
		put(drawing, line, last, '-');
}

static void draw_arrow(const struct drawing *drawing, const struct arrow *arrow, size_t lane)
{
	size_t top = top_of(arrow);
	size_t bottom = bottom_of(arrow);

	for (size_t line = top + 1; line < bottom; line++)
		put(drawing, line, lane, '|');
	/* '@': a jump to itself */
	put(drawing, bottom, lane, top == bottom ? '@' : '\\');
	if (top != bottom)
		put(drawing, top, lane, '/');
	draw_end(drawing, arrow->from, lane, false);
	draw_end(drawing, arrow->to, lane, true);
}

/* Removes lanes in which nothing was drawn; these are the leftmost ones. */
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
	struct drawing drawing = { .gutter = gutter };
	_cleanup_free_ uint64_t *words = NULL;
	struct hp_error *error;

	*gutter = (struct gutter){ .lines = lines, .columns = lanes + 1 };
	if (!count || !lanes || !lines) {
		gutter->columns = 0;
		return NULL;
	}
	if (lines > SIZE_MAX / gutter->columns ||
	    !(gutter->cells = malloc(lines * gutter->columns)))
		return hp_error_create_no_memory();
	memset(gutter->cells, ' ', lines * gutter->columns);
	error = make_levels(&drawing);
	if (error)
		return error;
	words = drawing.words;
	qsort(arrows, count, sizeof(*arrows), compare_length);
	for (size_t i = 0; i < count; i++) {
		size_t lane = lanes;

		while (lane > 0 && !is_free(&drawing, &arrows[i], lane - 1))
			lane--;
		if (lane)
			draw_arrow(&drawing, &arrows[i], lane - 1);
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
