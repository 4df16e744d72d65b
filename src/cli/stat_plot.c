/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws rates over time: one panel per event, all over the same time axis, with the interval as a
 * band behind the line. The line is dashed where too little was counted for an interval, and
 * interrupted where the event was not counted.
 */
#include "stat_drawing.h"

#include <hpcprof/base/vector.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 110, GAP = 34, TICKS = 4 };

static const char style[] =
	".name { font-size: 13px; font-weight: bold }\n"
	".band { fill: #9ecae1; fill-opacity: 0.7; stroke: none }\n"
	".line { fill: none; stroke: #08519c; stroke-width: 1.6 }\n"
	".unsure { fill: none; stroke: #999; stroke-width: 1.2; stroke-dasharray: 3 3 }\n";

/* The rate of one event in one interval, per second; NaN: none. */
struct point {
	double begin_s;
	double end_s;
	double rate;
	bool sure; /* it has an interval, or needs none */
	double low;
	double high;
};

struct stat_plot {
	const struct stat_subject *subject;
	HP_VECTOR(struct point) points; /* by interval, then by event */
};

struct stat_plot *stat_plot_create(const struct stat_subject *subject)
{
	struct stat_plot *plot = calloc(1, sizeof(*plot));

	if (plot)
		plot->subject = subject;
	return plot;
}

void stat_plot_destroy(struct stat_plot *plot)
{
	if (!plot)
		return;
	hp_vector_free(&plot->points);
	free(plot);
}

bool stat_plot_add(struct stat_plot *plot, const struct hp_counting_report *report)
{
	double duration_s = (double)report->duration_ns / 1e9;

	for (size_t i = 0; i < plot->subject->events->count; i++) {
		const struct hp_mux_estimate *estimate = &report->estimates->events[i];
		bool counted = estimate->verdict != HP_MUX_NOT_COUNTED && duration_s > 0;
		struct point point = {
			.begin_s = (double)report->begin_ns / 1e9,
			.end_s = (double)report->begin_ns / 1e9 + duration_s,
			.rate = counted ? estimate->count / duration_s : NAN,
			.sure = estimate->verdict != HP_MUX_INSUFFICIENT,
			.low = counted ? estimate->low / duration_s : NAN,
			.high = counted ? estimate->high / duration_s : NAN,
		};

		if (!hp_vector_push(&plot->points, point))
			return false;
	}
	return true;
}

/* --- scales ----------------------------------------------------------------------------------- */

static void print_rate(FILE *stream, double value)
{
	static const char suffixes[] = { 0, 'k', 'M', 'G', 'T' };
	size_t which = 0;

	while (value >= 1000 && which + 1 < sizeof(suffixes)) {
		value /= 1000;
		which++;
	}
	fprintf(stream, "%.4g", value);
	if (suffixes[which])
		putc(suffixes[which], stream);
}

/* --- one panel -------------------------------------------------------------------------------- */

struct panel {
	FILE *stream;
	const struct stat_plot *plot;
	size_t event;
	double top;
	double most_s;
	double most; /* rate at the panel's top */
};

static double x_of(const struct panel *panel, double time_s)
{
	return STAT_DRAW_LEFT +
	       (STAT_DRAW_WIDTH - STAT_DRAW_LEFT - STAT_DRAW_RIGHT) * time_s / panel->most_s;
}

static double y_of(const struct panel *panel, double rate)
{
	return panel->top + PANEL * (1 - rate / panel->most);
}

static const struct point *point_at(const struct panel *panel, size_t interval)
{
	size_t each = panel->plot->subject->events->count;

	return &panel->plot->points.at[interval * each + panel->event];
}

static size_t intervals_of(const struct stat_plot *plot)
{
	return plot->subject->events->count ? plot->points.count / plot->subject->events->count : 0;
}

static void draw_grid(const struct panel *panel)
{
	FILE *stream = panel->stream;
	double step = stat_draw_step(panel->most, TICKS);

	for (double rate = 0; rate <= panel->most * 1.0001; rate += step) {
		double y = y_of(panel, rate);

		fprintf(stream,
			"<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			STAT_DRAW_LEFT, STAT_DRAW_WIDTH - STAT_DRAW_RIGHT, y, y);
		fprintf(stream, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">",
			STAT_DRAW_LEFT - 8, y + 4);
		print_rate(stream, rate);
		fputs("</text>\n", stream);
	}
}

/* Draws steps, as a rate is that of a whole interval; neighbouring intervals with a band make one
 * shape. */
static void draw_band(const struct panel *panel)
{
	size_t count = intervals_of(panel->plot);

	for (size_t first = 0; first < count; first++) {
		size_t last = first;

		while (last < count && isfinite(point_at(panel, last)->low))
			last++;
		if (last == first)
			continue;
		fputs("<path class=\"band\" d=\"", panel->stream);
		for (size_t i = first; i < last; i++) {
			const struct point *point = point_at(panel, i);
			double y = y_of(panel, point->high);

			fprintf(panel->stream, "%c%.1f %.1fH%.1f", i == first ? 'M' : 'L',
				x_of(panel, point->begin_s), y, x_of(panel, point->end_s));
		}
		for (size_t i = last; i-- > first;) {
			const struct point *point = point_at(panel, i);

			fprintf(panel->stream, "L%.1f %.1fH%.1f", x_of(panel, point->end_s),
				y_of(panel, point->low), x_of(panel, point->begin_s));
		}
		fputs("Z\"/>\n", panel->stream);
		first = last;
	}
}

static void draw_line(const struct panel *panel, bool sure)
{
	size_t count = intervals_of(panel->plot);
	bool down = false;

	fprintf(panel->stream, "<path class=\"%s\" d=\"", sure ? "line" : "unsure");
	for (size_t i = 0; i < count; i++) {
		const struct point *point = point_at(panel, i);

		if (!isfinite(point->rate) || point->sure != sure) {
			down = false;
			continue;
		}
		fprintf(panel->stream, "%c%.1f %.1fH%.1f", down ? 'L' : 'M',
			x_of(panel, point->begin_s), y_of(panel, point->rate),
			x_of(panel, point->end_s));
		down = true;
	}
	fputs("\"/>\n", panel->stream);
}

/* Returns the largest rate, band included, without outliers that would hide all others. */
static double most_of(const struct stat_plot *plot, size_t event)
{
	size_t each = plot->subject->events->count;
	double most = 0;

	for (size_t i = event; i < plot->points.count; i += each) {
		const struct point *point = &plot->points.at[i];

		if (isfinite(point->rate))
			most = fmax(most, point->rate);
		if (isfinite(point->high))
			most = fmax(most, fmin(point->high, 3 * point->rate));
	}
	return most > 0 ? most : 1;
}

static void draw_panel(const struct panel *panel)
{
	const struct hp_event *event = &panel->plot->subject->events->events[panel->event];

	fprintf(panel->stream, "<text class=\"name\" x=\"%d\" y=\"%.1f\">", STAT_DRAW_LEFT,
		panel->top - 7);
	stat_draw_text(panel->stream, event->name);
	fputs(event->unit == HP_UNIT_NS ? " (ns per second)</text>\n" : " (per second)</text>\n",
	      panel->stream);
	draw_grid(panel);
	fprintf(panel->stream,
		"<clipPath id=\"p%zu\"><rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>"
		"</clipPath>\n<g clip-path=\"url(#p%zu)\">\n",
		panel->event, STAT_DRAW_LEFT, panel->top - 2,
		STAT_DRAW_WIDTH - STAT_DRAW_LEFT - STAT_DRAW_RIGHT, PANEL + 4, panel->event);
	draw_band(panel);
	draw_line(panel, false);
	draw_line(panel, true);
	fputs("</g>\n", panel->stream);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool is_drawn(const struct stat_plot *plot, size_t event)
{
	return !plot->subject->events->events[event].absent;
}

void stat_plot_write(FILE *stream, const struct stat_plot *plot)
{
	size_t each = plot->subject->events->count;
	double most_s = plot->points.count ? plot->points.at[plot->points.count - 1].end_s : 1;
	int panels = 0;
	int drawn = 0;

	for (size_t i = 0; i < each; i++)
		panels += is_drawn(plot, i);
	stat_draw_head(stream, plot->subject,
		       STAT_DRAW_TOP + panels * (PANEL + GAP) + STAT_DRAW_BOTTOM - GAP, style);
	for (size_t i = 0; i < each; i++) {
		struct panel panel = {
			.stream = stream,
			.plot = plot,
			.event = i,
			.top = STAT_DRAW_TOP + drawn * (PANEL + GAP),
			.most_s = most_s,
			.most = most_of(plot, i),
		};

		if (!is_drawn(plot, i))
			continue;
		draw_panel(&panel);
		drawn++;
	}
	stat_draw_time_axis(stream, most_s, "band: 95 %; dashed: too little data",
			    STAT_DRAW_TOP + panels * (PANEL + GAP) - GAP + 18);
	fputs("</svg>\n", stream);
}
