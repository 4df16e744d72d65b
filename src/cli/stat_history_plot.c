/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws stacks over time: cycles per instruction, divided into areas. The component of completion
 * is at the bottom; cycles that no event claims are grey, at the top. A line marks the end of each
 * phase.
 */
#include "stat_drawing.h"
#include "stat_history.h"
#include "tuning.h"

#include <math.h>

enum { PANEL = 320, TICKS = 5, LEGEND_COLUMNS = 5, LEGEND_ROW = 20 };

static const char style[] = ".phase { stroke: #222; stroke-width: 1; stroke-dasharray: 4 3 }\n";

/* Completion blue, branches red, code orange, data green, the core violet. */
static const char *const colors[HP_STACK_COMPONENTS] = {
	[HP_STACK_BASE] = "#4292c6",	[HP_STACK_MISPREDICT] = "#cb181d",
	[HP_STACK_RESTART] = "#fb6a4a", [HP_STACK_ICACHE] = "#d94801",
	[HP_STACK_ITLB] = "#fd8d3c",	[HP_STACK_FETCH] = "#fdae6b",
	[HP_STACK_L1] = "#c7e9c0",	[HP_STACK_L2] = "#74c476",
	[HP_STACK_L3] = "#31a354",	[HP_STACK_MEMORY] = "#006d2c",
	[HP_STACK_DCACHE] = "#238b45",	[HP_STACK_DTLB] = "#66c2a4",
	[HP_STACK_STORE] = "#8c6d31",	[HP_STACK_LONG] = "#54278f",
	[HP_STACK_CORE] = "#9e9ac8",	[HP_STACK_SMT] = "#e7ba52",
	[HP_STACK_OTHER] = "#bdbdbd",
};

struct drawing {
	FILE *stream;
	const struct stat_history *history;
	double most_s, most_cpi;
};

static double x_of(const struct drawing *drawing, double time_s)
{
	return STAT_DRAW_LEFT +
	       (STAT_DRAW_WIDTH - STAT_DRAW_LEFT - STAT_DRAW_RIGHT) * time_s / drawing->most_s;
}

static double y_of(const struct drawing *drawing, double cpi)
{
	return STAT_DRAW_TOP + PANEL * (1 - fmin(1, cpi / drawing->most_cpi));
}

/* Returns the sums up to a component, without it and with it. */
static void edges(const struct stat_stretch *interval, unsigned component, double *below,
		  double *above)
{
	*below = 0;
	for (unsigned i = 0; i < component; i++)
		*below += fmax(0, isnan(interval->parts[i]) ? 0 : interval->parts[i]);
	*above = *below +
		 fmax(0, isnan(interval->parts[component]) ? 0 : interval->parts[component]);
}

static bool is_drawn(const struct stat_history *history, unsigned component)
{
	for (size_t i = 0; i < history->intervals.count; i++)
		if (history->intervals.at[i].parts[component] > 0)
			return true;
	return false;
}

/* Draws steps, as a stack is that of a whole interval. */
static void draw_area(const struct drawing *drawing, unsigned component)
{
	const struct stat_history *history = drawing->history;
	double below, above;

	fprintf(drawing->stream, "<path fill=\"%s\" d=\"", colors[component]);
	for (size_t i = 0; i < history->intervals.count; i++) {
		const struct stat_stretch *interval = &history->intervals.at[i];

		edges(interval, component, &below, &above);
		fprintf(drawing->stream, "%c%.1f %.1fH%.1f", i ? 'L' : 'M',
			x_of(drawing, interval->begin_s), y_of(drawing, above),
			x_of(drawing, interval->end_s));
	}
	for (size_t i = history->intervals.count; i-- > 0;) {
		const struct stat_stretch *interval = &history->intervals.at[i];

		edges(interval, component, &below, &above);
		fprintf(drawing->stream, "L%.1f %.1fH%.1f", x_of(drawing, interval->end_s),
			y_of(drawing, below), x_of(drawing, interval->begin_s));
	}
	fputs("Z\"/>\n", drawing->stream);
}

static void draw_grid(const struct drawing *drawing)
{
	double step = stat_draw_step(drawing->most_cpi, TICKS);

	for (double cpi = 0; cpi <= drawing->most_cpi * 1.0001; cpi += step)
		fprintf(drawing->stream,
			"<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n"
			"<text class=\"tick\" text-anchor=\"end\" x=\"%d\" "
			"y=\"%.1f\">%.3g</text>\n",
			STAT_DRAW_LEFT, STAT_DRAW_WIDTH - STAT_DRAW_RIGHT, y_of(drawing, cpi),
			y_of(drawing, cpi), STAT_DRAW_LEFT - 8, y_of(drawing, cpi) + 4, cpi);
}

static void draw_phases(const struct drawing *drawing)
{
	for (size_t i = 1; i < drawing->history->phases.count; i++) {
		double x = x_of(drawing, drawing->history->phases.at[i].begin_s);

		fprintf(drawing->stream,
			"<line class=\"phase\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x,
			x, STAT_DRAW_TOP, STAT_DRAW_TOP + PANEL);
	}
}

/* Draws the legend below the drawing; returns the number of its rows. */
static int draw_legend(FILE *stream, const struct stat_history *history, int top)
{
	const int column = (STAT_DRAW_WIDTH - STAT_DRAW_LEFT) / LEGEND_COLUMNS;
	int number = 0;

	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++) {
		int x = STAT_DRAW_LEFT + number % LEGEND_COLUMNS * column;
		int y = top + number / LEGEND_COLUMNS * LEGEND_ROW;

		if (!is_drawn(history, i))
			continue;
		if (stream)
			fprintf(stream,
				"<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
				"<text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n",
				x, y, colors[i], x + 18, y + 10,
				hp_stack_component_word((enum hp_stack_component)i));
		number++;
	}
	return (number + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
}

/* Returns the largest CPI, without outliers that would hide all other intervals. */
static double most_cpi(const struct stat_history *history)
{
	double most = 0, sum = 0;

	for (size_t i = 0; i < history->intervals.count; i++) {
		double below, above;

		edges(&history->intervals.at[i], HP_STACK_OTHER, &below, &above);
		most = fmax(most, above);
		sum += above;
	}
	return fmin(most, wild * sum / (double)history->intervals.count);
}

void stat_history_plot(FILE *stream, const struct stat_subject *subject,
		       const struct stat_history *history)
{
	size_t count = history->intervals.count;
	struct drawing drawing = {
		.stream = stream,
		.history = history,
		.most_s = count ? history->intervals.at[count - 1].end_s : 1,
		.most_cpi = count ? most_cpi(history) : 1,
	};
	int legend = STAT_DRAW_TOP + PANEL + STAT_DRAW_BOTTOM;
	int rows = draw_legend(NULL, history, 0);

	stat_draw_head(stream, subject, legend + rows * LEGEND_ROW + LEGEND_ROW / 2, style);
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		if (is_drawn(history, i))
			draw_area(&drawing, i);
	draw_grid(&drawing);
	draw_phases(&drawing);
	stat_draw_time_axis(stream, drawing.most_s,
			    "cycles per instruction; a dashed line begins a phase",
			    STAT_DRAW_TOP + PANEL + 18);
	draw_legend(stream, history, legend);
	fputs("</svg>\n", stream);
}
