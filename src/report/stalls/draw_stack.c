/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks as a picture: one bar for the program, each procedure and each loop, divided into what its
 * cycles were spent on. Parts are always in the same order, so that bars can be compared. The lines
 * below a bar are ranges: the line of a part, in its colour, goes from where the part would end if
 * it were as small as possible to where it would end if it were as large as possible. One SVG file
 * without script, font or link, for light and dark pages; a browser shows the figures of the part
 * under the pointer.
 */
#include "../common/svg.h"
#include "../tuning.h"
#include "program_stack.h"
#include "write_stack.h"

#include <math.h>

/* in pixels */
enum {
	WIDTH = 1200,
	MARGIN = 16,
	SHARE_RIGHT = 448, /* right end of a row's share */
	CPI_RIGHT = 500,   /* right end of its cycles per instruction */
	BAR_LEFT = 536,	   /* left end of its bar */
	BAR_RIGHT = WIDTH - 2 * MARGIN,
	BAR = 20,
	RANGE = 5, /* distance between lines of ranges */
	GAP = 12,
	LEGEND_TOP = 74,
	LEGEND_ROW = 20,
	LEGEND_COLUMNS = 6,
	AXIS = 26,
	FONT = 12,
	NAME_COLUMNS = 52,
	MOST_RANGES = 4, /* per bar */
};
static const double character = 7.25; /* largest width of a character, in pixels */

static const char *const colours[HP_CPI_COMPONENTS] = {
	[HP_CPI_WIDTH] = "#c9ced6",
	[HP_CPI_DEPENDENCY] = "#9db4ca",
	[HP_CPI_PORT] = "#b9c6a0",
	[HP_CPI_DIVIDER] = "#86bb86",
	[HP_CPI_MULTIPLIER] = "#abd9a3",
	[HP_CPI_FP] = "#7accb0",
	[HP_CPI_SYNC] = "#d3b58d",
	[HP_CPI_MISPREDICT] = "#f29e50",
	[HP_CPI_ICACHE] = "#f0ca4a",
	[HP_CPI_ITLB] = "#e3df82",
	[HP_CPI_FETCH] = "#f6bba8",
	[HP_CPI_L2] = "#8cc4ee",
	[HP_CPI_FAR] = "#5e9fdb",
	[HP_CPI_DTLB] = "#b6a1de",
	[HP_CPI_STORE_BUFFER] = "#e59fc4",
	[HP_CPI_STORE_FORWARD] = "#dc8585",
	[HP_CPI_UNEXPLAINED] = "url(#unknown)",
};

struct drawing {
	FILE *out;
	const struct program_stack *program;
	double whole; /* the share that the full width stands for; at least 1 */
	bool has[HP_CPI_COMPONENTS];
	bool is_failed;
};

static double place(const struct drawing *drawing, double share)
{
	double left = fmax(0, fmin(1, share / drawing->whole));

	return BAR_LEFT + left * (BAR_RIGHT - BAR_LEFT);
}

/* Whether the part's range is drawn below the bar: it is one of the largest. */
static bool has_range(const struct hp_cpi_stack *stack, unsigned component)
{
	double likely = stack->parts[component].likely;
	unsigned larger = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		larger += stack->parts[i].likely > likely ||
			  (i < component && stack->parts[i].likely == likely);
	return likely >= least_drawn_range && larger < MOST_RANGES;
}

static unsigned ranges_of(const struct hp_cpi_stack *stack)
{
	unsigned count = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		count += has_range(stack, i);
	return count;
}

static unsigned height_of(const struct hp_cpi_stack *stack)
{
	return BAR + GAP + RANGE * ranges_of(stack);
}

/* --- bars ------------------------------------------------------------------------------------- */

/* Writes what fits: the word and its share, the share, or nothing. */
static void put_label(const struct drawing *drawing, unsigned component, double share, double x,
		      double width, double y)
{
	const char *word = hp_cpi_word((enum hp_cpi_component)component);
	char text[64];

	for (int with_word = 1; with_word >= 0; with_word--) {
		int length = snprintf(text, sizeof(text), "%s%s%.0f %%", with_word ? word : "",
				      with_word ? " " : "", 100 * share);

		if (length * character + 6 > width)
			continue;
		fprintf(drawing->out, "<text class=\"p\" x=\"%.1f\" y=\"%.0f\">%s</text>", x + 3,
			y + 15, text);
		return;
	}
}

static void draw_part(const struct drawing *drawing, const struct hp_cpi_part *part,
		      unsigned component, double start, double y)
{
	double left = place(drawing, start);
	double width = place(drawing, start + part->likely) - left;

	fprintf(drawing->out,
		"<g><title>%s: %.0f %%, from %.0f to %.0f</title><rect x=\"%.1f\" y=\"%.0f\" "
		"width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
		hp_cpi_word((enum hp_cpi_component)component), 100 * part->likely, 100 * part->low,
		100 * part->high, left, y, width, BAR, colours[component]);
	put_label(drawing, component, part->likely, left, width, y);
	fputs("</g>\n", drawing->out);
}

static void draw_range(const struct drawing *drawing, const struct hp_cpi_part *part,
		       unsigned component, double start, double y)
{
	double left = place(drawing, start + fmax(0, part->low));
	double right = place(drawing, start + part->high);

	fprintf(drawing->out,
		"<g class=\"r\"><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"3\" "
		"fill=\"%s\"/><rect x=\"%.1f\" y=\"%.0f\" width=\"2\" height=\"5\" "
		"class=\"m\"/></g>\n",
		left, y, fmax(1, right - left), colours[component],
		place(drawing, start + part->likely) - 1, y - 1);
}

static void draw_bar(const struct drawing *drawing, const struct hp_cpi_stack *stack, double y)
{
	double below = y + BAR + 2;
	unsigned ranges = 0;
	double start = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		const struct hp_cpi_part *part = &stack->parts[i];

		if (!(part->likely > 0))
			continue;
		draw_part(drawing, part, i, start, y);
		if (has_range(stack, i))
			draw_range(drawing, part, i, start, below + RANGE * ranges++);
		start += part->likely;
	}
}

static void draw_row(struct drawing *drawing, const struct stacked *one, double y)
{
	_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };

	stacked_name(one, &name);
	fprintf(drawing->out, "<text x=\"%d\" y=\"%.0f\"%s>", MARGIN, y + 15,
		one->loop ? "" : " class=\"b\"");
	/* The name is escaped already; doing it again changes nothing. */
	drawing->is_failed = !svg_text(drawing->out, hp_buffer_text(&name), NAME_COLUMNS) ||
			     drawing->is_failed;
	fprintf(drawing->out, "</text><text class=\"n\" x=\"%d\" y=\"%.0f\">%.1f %%</text>",
		SHARE_RIGHT, y + 15, 100 * one->share);
	if (isfinite(one->stack.cpi))
		fprintf(drawing->out, "<text class=\"n\" x=\"%d\" y=\"%.0f\">%.2f</text>",
			CPI_RIGHT, y + 15, one->stack.cpi);
	putc('\n', drawing->out);
	draw_bar(drawing, &one->stack, y);
}

/* --- what is around them ---------------------------------------------------------------------- */

static void measure(struct drawing *drawing)
{
	drawing->whole = 1;
	for (size_t i = 0; i < drawing->program->all.count; i++) {
		const struct stacked *one = &drawing->program->all.at[i];
		double sum = 0;

		for (unsigned j = 0; j < HP_CPI_COMPONENTS && !one->is_minor; j++) {
			double likely = fmax(0, one->stack.parts[j].likely);

			sum += likely;
			drawing->has[j] = drawing->has[j] || likely >= least_stack_share;
		}
		drawing->whole = fmin(most_drawn, fmax(drawing->whole, sum));
	}
}

static void put_legend(const struct drawing *drawing)
{
	unsigned count = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		unsigned x =
			MARGIN + count % LEGEND_COLUMNS * ((WIDTH - 2 * MARGIN) / LEGEND_COLUMNS);
		unsigned y = LEGEND_TOP + count / LEGEND_COLUMNS * LEGEND_ROW;

		if (!drawing->has[i])
			continue;
		fprintf(drawing->out,
			"<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"14\" fill=\"%s\"/>"
			"<text x=\"%u\" y=\"%u\">%s</text>\n",
			x, y, colours[i], x + 20, y + 12, hp_cpi_word((enum hp_cpi_component)i));
		count++;
	}
}

static unsigned legend_bottom(const struct drawing *drawing)
{
	unsigned count = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		count += drawing->has[i];
	return LEGEND_TOP + (count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS * LEGEND_ROW;
}

static void put_axis(const struct drawing *drawing, unsigned top, unsigned bottom)
{
	enum { STEP = 25 };

	fprintf(drawing->out,
		"<text class=\"n\" x=\"%d\" y=\"%u\">of all</text>"
		"<text class=\"n\" x=\"%d\" y=\"%u\">CPI</text>\n",
		SHARE_RIGHT, top - 8, CPI_RIGHT, top - 8);
	for (unsigned percent = 0; percent <= 100 * drawing->whole; percent += STEP) {
		double x = place(drawing, percent / 100.0);

		fprintf(drawing->out,
			"<line x1=\"%.1f\" y1=\"%u\" x2=\"%.1f\" y2=\"%u\" class=\"%s\"/>"
			"<text class=\"c\" x=\"%.1f\" y=\"%u\">%u %%</text>\n",
			x, top - 4, x, bottom, percent == 100 ? "a h" : "a", x, top - 8, percent);
	}
}

static void put_head(struct drawing *drawing, const struct report *report, unsigned height)
{
	fprintf(drawing->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" xml:space=\"preserve\">\n"
		"<style>text{font:%dpx monospace;fill:#16181d}.t{font-size:16px}"
		".t,.b{font-weight:bold}.n{text-anchor:end}.c{text-anchor:middle}"
		".p{fill:#16181d;pointer-events:none}.bg{fill:#ffffff}.m{fill:#16181d}"
		".a{stroke:#d4d8de}.h{stroke:#7b828c}"
		"@media (prefers-color-scheme:dark){text,.m{fill:#e8eaee}.p{fill:#16181d}"
		".bg{fill:#16181d}.a{stroke:#3a3f48}.h{stroke:#8c939e}}</style>\n"
		"<defs><pattern id=\"unknown\" width=\"6\" height=\"6\" "
		"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"6\" height=\"6\" fill=\"#ececec\"/>"
		"<rect width=\"2\" height=\"6\" fill=\"#b4b4b4\"/></pattern></defs>\n"
		"<rect width=\"100%%\" height=\"100%%\" class=\"bg\"/>\n"
		"<text x=\"%d\" y=\"26\" class=\"t\">",
		WIDTH, height, WIDTH, height, FONT, MARGIN);
	drawing->is_failed = !svg_command(drawing->out, report->profiles->epochs.at[0].meta);
	fprintf(drawing->out,
		"</text>\n<text x=\"%d\" y=\"48\">What cycles were spent on: shares of the "
		"measured "
		"cycles, by a model of the core that followed the program's path. Lines below a "
		"bar: where the part of</text>\n<text x=\"%d\" y=\"64\">that colour may "
		"end.%s</text>\n",
		MARGIN, MARGIN,
		drawing->whole > 1 ? " Behind 100 %: predicted, but not measured." : "");
}

static struct hp_error *draw(struct drawing *drawing, const struct report *report)
{
	unsigned top, bottom;
	double y;

	measure(drawing);
	top = bottom = legend_bottom(drawing) + AXIS;
	for (size_t i = 0; i < drawing->program->all.count; i++)
		if (!drawing->program->all.at[i].is_minor)
			bottom += height_of(&drawing->program->all.at[i].stack);
	put_head(drawing, report, bottom + MARGIN);
	put_legend(drawing);
	put_axis(drawing, top, bottom - GAP);
	y = top;
	for (size_t i = 0; i < drawing->program->all.count; i++) {
		const struct stacked *one = &drawing->program->all.at[i];

		if (one->is_minor)
			continue;
		draw_row(drawing, one, y);
		y += height_of(&one->stack);
	}
	fputs("</svg>\n", drawing->out);
	return drawing->is_failed ? hp_error_create_no_memory() : NULL;
}

struct hp_error *draw_stack(struct report *report, FILE *out)
{
	_cleanup_(program_stack_clear) struct program_stack program = { 0 };
	struct drawing drawing = { .out = out, .program = &program };
	struct hp_error *error = program_stack_make(report, &program);

	return error ? error : draw(&drawing, report);
}
