/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph (Gregg, The Flame Graph, CACM 2016): each procedure is as wide as its share of the
 * samples, and stands on its caller. One that is taller than a screen hangs from its root instead: a
 * browser opens it at the top, where a standing one has nothing but the tips of its deepest paths.
 * One SVG file without script, font or link; a browser shows the full name and figures of what the
 * pointer is on.
 */
#include "../common/svg.h"
#include "../tuning.h"
#include "paths_view.h"
#include "write_paths.h"

#include <hpcprof/base/hash.h>

#include <inttypes.h>
#include <string.h>

enum {
	WIDTH = 1200,
	MARGIN = 10,
	ROW = 17, /* height of a procedure, including the gap */
	HEAD = 58,
	FOOT = 14,
	FONT = 12,
};
/* width of a character in pixels; names are cut to fit */
static const double character = 7.25;

struct drawing {
	const struct report *report;
	const struct call_tree *tree;
	FILE *out;
	double scale; /* pixels per unit */
	uint32_t levels;
	bool hangs; /* the root is at the top */
	bool is_failed;
};

static void put_escaped(struct drawing *drawing, const char *text, size_t columns)
{
	drawing->is_failed = !svg_text(drawing->out, text, columns) || drawing->is_failed;
}

/* A procedure has the same colour everywhere. The kernel, and entries that are no code, have their
 * own. */
static void put_colour(struct drawing *drawing, const struct hp_called *procedure)
{
	uint64_t hash = XXH3_64bits(procedure->name, strlen(procedure->name));
	unsigned spread = (unsigned)(hash % 1000);
	bool is_kernel = procedure->image && hp_profiles_is_kernel(procedure->image);
	unsigned hue = is_kernel ? 200 + spread % 30 : 12 + spread % 40;

	if (!procedure->image)
		fputs("#cccccc", drawing->out);
	else
		fprintf(drawing->out, "hsl(%u,%u%%,%u%%)", hue, procedure->inlined ? 55 : 78,
			(procedure->inlined ? 78 : 66) + spread / 100);
}

static double width_of(const struct drawing *drawing, const struct call_node *node)
{
	return node->total.weight * drawing->scale;
}

static double top_of(const struct drawing *drawing, uint32_t depth)
{
	return HEAD + (double)(drawing->hangs ? depth : drawing->levels - depth) * ROW;
}

static void put_box(struct drawing *drawing, double x, uint32_t depth, double width)
{
	double y = top_of(drawing, depth);

	fprintf(drawing->out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", x,
		y, width, ROW - 1);
}

static void put_name(struct drawing *drawing, const char *name, double x, uint32_t depth,
		     double width)
{
	double y = top_of(drawing, depth) + FONT;
	size_t columns = width > 2 * character ? (size_t)((width - 4) / character) : 0;

	if (columns < 2)
		return;
	fprintf(drawing->out, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y);
	put_escaped(drawing, name, columns);
	fputs("</text>", drawing->out);
}

static void draw_node(struct drawing *drawing, const struct call_node *node, double x)
{
	const struct hp_called *procedure = node->procedure;
	double width = width_of(drawing, node);

	fputs("<g><title>", drawing->out);
	put_escaped(drawing, procedure->name, 0);
	if (procedure->inlined)
		fputs(" (inlined)", drawing->out);
	if (procedure->image) {
		fputs(" in ", drawing->out);
		put_escaped(drawing, procedure->image->short_name, 0);
	}
	fprintf(drawing->out, ": %" PRIu64 " sample%s, %.2f %%", node->total.samples,
		node->total.samples == 1 ? "" : "s",
		100 * paths_view_share(drawing->report, &node->total));
	if (node->own.samples)
		fprintf(drawing->out, "; itself %" PRIu64 ", %.2f %%", node->own.samples,
			100 * paths_view_share(drawing->report, &node->own));
	fputs("</title>", drawing->out);
	put_box(drawing, x, node->depth, width);
	put_colour(drawing, procedure);
	fputs("\"/>", drawing->out);
	put_name(drawing, procedure->shown, x, node->depth, width);
	fputs("</g>\n", drawing->out);
}

/* --- layout ----------------------------------------------------------------------------------- */

static bool is_drawn(const struct drawing *drawing, const struct call_node *node)
{
	return width_of(drawing, node) >= thinnest_flame &&
	       !paths_view_is_small(drawing->report, &node->total, 0);
}

/* Parents come before their children, so one pass places all nodes. Siblings are in order of their
 * names, so that they are easy to find. */
static int compare_names(const void *left, const void *right, void *context)
{
	const struct call_tree *tree = context;
	const struct call_node *a = &tree->nodes.at[*(const uint32_t *)left];
	const struct call_node *b = &tree->nodes.at[*(const uint32_t *)right];
	int order = (a->depth > b->depth) - (a->depth < b->depth);

	if (!order)
		order = strcmp(a->procedure->shown, b->procedure->shown);
	return order ? order
		     : (a->procedure->index > b->procedure->index) -
			       (a->procedure->index < b->procedure->index);
}

static struct hp_error *draw_nodes(struct drawing *drawing)
{
	const struct call_tree *tree = drawing->tree;
	size_t count = tree->nodes.count;
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));
	_cleanup_free_ double *next = calloc(count + 1, sizeof(*next));
	_cleanup_free_ bool *drawn = calloc(count + 1, sizeof(*drawn));

	if (!order || !next || !drawn)
		return hp_error_create_no_memory();
	for (size_t i = 1; i < count; i++)
		order[i - 1] = (uint32_t)i;
	qsort_r(order, count - 1, sizeof(*order), compare_names, (void *)(uintptr_t)tree);
	next[0] = MARGIN;
	drawn[0] = true;
	for (size_t i = 0; i + 1 < count; i++) {
		const struct call_node *node = &tree->nodes.at[order[i]];

		if (!drawn[node->parent] || !is_drawn(drawing, node))
			continue;
		drawn[order[i]] = true;
		next[order[i]] = next[node->parent];
		draw_node(drawing, node, next[order[i]]);
		next[node->parent] += width_of(drawing, node);
	}
	return NULL;
}

static void measure(struct drawing *drawing)
{
	const struct call_tree *tree = drawing->tree;

	drawing->scale = (WIDTH - 2 * MARGIN) / tree->nodes.at[0].total.weight;
	for (size_t i = 1; i < tree->nodes.count; i++)
		if (is_drawn(drawing, &tree->nodes.at[i]) &&
		    tree->nodes.at[i].depth > drawing->levels)
			drawing->levels = tree->nodes.at[i].depth;
	drawing->hangs = drawing->levels > most_standing;
}

static void put_title(struct drawing *drawing)
{
	const struct report *report = drawing->report;
	const struct hp_loaded_epoch *epoch = &report->profiles->epochs.at[0];
	const struct hp_loaded_event *event =
		&report->profiles->events.at[report->profiles->sort_event];
	const struct hp_tally *cut = &report->paths->truncated[report->profiles->sort_event];
	const struct call_node *root = &drawing->tree->nodes.at[0];

	fprintf(drawing->out, "<text x=\"%d\" y=\"22\" class=\"t\">", MARGIN);
	drawing->is_failed = !svg_command(drawing->out, epoch->meta) || drawing->is_failed;
	fprintf(drawing->out, "</text>\n<text x=\"%d\" y=\"42\">", MARGIN);
	put_escaped(drawing, event->info->name, 0);
	fprintf(drawing->out, ": %" PRIu64 " samples with call paths; each procedure %s its caller",
		root->total.samples, drawing->hangs ? "is below" : "stands on");
	if (cut->samples)
		fprintf(drawing->out, "; %.2f %% of them do not reach the root ([truncated])",
			100 * cut->weight /
				report->paths->all[report->profiles->sort_event].weight);
	fputs("</text>\n", drawing->out);
}

static struct hp_error *draw(struct drawing *drawing)
{
	struct hp_error *error;
	unsigned height;

	measure(drawing);
	height = HEAD + (drawing->levels + 1) * ROW + FOOT;
	fprintf(drawing->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\">\n"
		"<style>text{font:%dpx monospace;fill:#111;pointer-events:none}"
		".t{font-size:16px;font-weight:bold}"
		"g:hover rect{stroke:#000;stroke-width:1}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf7\"/>\n",
		WIDTH, height, WIDTH, height, FONT);
	put_title(drawing);
	put_box(drawing, MARGIN, 0, WIDTH - 2 * MARGIN);
	fputs("#e8e0d0\"/>", drawing->out);
	put_name(drawing, "all", MARGIN, 0, WIDTH - 2 * MARGIN);
	putc('\n', drawing->out);
	error = draw_nodes(drawing);
	fputs("</svg>\n", drawing->out);
	return !error && drawing->is_failed ? hp_error_create_no_memory() : error;
}

struct hp_error *write_flame_graph(struct report *report, FILE *out)
{
	struct call_tree tree;
	struct drawing drawing = { .report = report, .tree = &tree, .out = out };
	struct hp_error *error = paths_view_tree(report, false, &tree);

	if (!error)
		error = draw(&drawing);
	call_tree_clear(&tree);
	return error;
}
