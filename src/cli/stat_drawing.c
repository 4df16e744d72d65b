/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stat_drawing.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_TICKS = 8 };

double stat_draw_step(double most, int count)
{
	double raw = most / count;
	double power = pow(10, floor(log10(raw)));
	double lead = raw / power;

	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

void stat_draw_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", stream);
		else if (*text == '&')
			fputs("&amp;", stream);
		else if ((unsigned char)*text >= 0x20 && (unsigned char)*text < 0x7f)
			putc(*text, stream);
		else
			putc('?', stream);
	}
}

void stat_draw_time_axis(FILE *stream, double most_s, const char *note, double y)
{
	double step = stat_draw_step(most_s, TIME_TICKS);

	for (double time_s = 0; time_s <= most_s * 1.0001; time_s += step)
		fprintf(stream,
			"<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" "
			"y=\"%.1f\">%.4g</text>\n",
			STAT_DRAW_LEFT + (STAT_DRAW_WIDTH - STAT_DRAW_LEFT - STAT_DRAW_RIGHT) *
						 time_s / most_s,
			y, time_s);
	fprintf(stream, "<text class=\"tick\" x=\"%d\" y=\"%.1f\">%s</text>\n", STAT_DRAW_LEFT,
		y + 18, note);
	fprintf(stream,
		"<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">seconds</text>\n",
		STAT_DRAW_WIDTH - STAT_DRAW_RIGHT, y + 18);
}

/* Draws the target as the title, cut to the width of the drawing. */
static void draw_title(FILE *stream, const struct stat_subject *subject)
{
	enum { MOST_CHARACTERS = 86 };
	_cleanup_free_ char *title = NULL;
	size_t size = 0;
	size_t characters = 0;
	FILE *text = open_memstream(&title, &size);

	if (!text)
		return;
	if (subject->target)
		fputs(subject->target, text);
	for (char *const *word = subject->command; word && *word; word++)
		fprintf(text, "%s%s", word != subject->command ? " " : "", *word);
	if (fclose(text) != 0)
		return;
	for (size_t i = 0; i < size; i++) {
		/* Counts the first byte of each UTF-8 character. */
		characters += (title[i] & 0xc0) != 0x80;
		if (characters > MOST_CHARACTERS)
			title[i] = 0;
	}
	fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"24\">", STAT_DRAW_LEFT);
	stat_draw_text(stream, title);
	fprintf(stream, "%s</text>\n", characters > MOST_CHARACTERS ? "…" : "");
}

void stat_draw_head(FILE *stream, const struct stat_subject *subject, int height, const char *style)
{
	fprintf(stream,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n",
		STAT_DRAW_WIDTH, height, STAT_DRAW_WIDTH, height);
	fputs("<style>\n"
	      "text { font-family: sans-serif; fill: #222 }\n"
	      ".title { font-size: 16px; font-weight: bold }\n"
	      ".tick { font-size: 11px; fill: #555 }\n"
	      ".grid { stroke: #ddd; stroke-width: 1 }\n",
	      stream);
	fprintf(stream, "%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		style);
	draw_title(stream, subject);
}
