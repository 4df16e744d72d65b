/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control-flow graphs for Graphviz: a box a block with its instructions and samples, redder the
 * more samples it has. One file holds all procedures that were asked for, each in a frame.
 */
#include "listing.h"
#include "text.h"
#include "write.h"

#include <inttypes.h>

enum { MOST_LINES = 24 }; /* of instructions in a box */

struct drawing {
	const struct report *report;
	const struct listing *listing;
	const struct hp_cfg *cfg;
	size_t number;	 /* of the procedure */
	double *weights; /* of the sorting event, by block */
	uint64_t *samples;
	double whole;
	double greatest;
	FILE *out;
};

/* A string between quotes, each byte of it as it should appear. */
static void write_quoted(const char *text, FILE *out)
{
	_cleanup_(buffer_free) struct buffer valid = { 0 };

	text_escape(&valid, text);
	for (const char *at = buffer_text(&valid); *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
}

static void write_instructions(const struct drawing *drawing, uint32_t block)
{
	const struct listing *listing = drawing->listing;
	unsigned lines = 0;
	unsigned more = 0;

	for (size_t i = 0; i < listing->rows.count; i++) {
		const struct row *row = &listing->rows.at[i];
		uint64_t samples = row->tallies[drawing->report->sort_event].samples;

		if (!row->has_block || row->block != block)
			continue;
		if (lines == MOST_LINES) {
			more++;
			continue;
		}
		lines++;
		fprintf(drawing->out, "%" PRIx64 "  ", row->address);
		write_quoted(row->text, drawing->out);
		if (samples)
			fprintf(drawing->out, "  [%" PRIu64 "]", samples);
		fputs("\\l", drawing->out);
	}
	if (more)
		fprintf(drawing->out, "and %u more\\l", more);
}

static void write_block(const struct drawing *drawing, uint32_t number)
{
	double weight = drawing->weights[number];

	fprintf(drawing->out, "\t\tp%zub%" PRIu32 " [label=\"block %" PRIu32, drawing->number,
		number, number);
	if (drawing->samples[number])
		fprintf(drawing->out, ": %" PRIu64 " samples, %.1f %%", drawing->samples[number],
			drawing->whole > 0 ? 100 * weight / drawing->whole : 0);
	fputs("\\l", drawing->out);
	write_instructions(drawing, number);
	fprintf(drawing->out, "\", fillcolor=\"0.02 %.3f 1.0\"%s];\n",
		drawing->greatest > 0 ? 0.7 * weight / drawing->greatest : 0,
		drawing->cfg->blocks[number].is_orphan ? ", style=\"filled,dashed\"" : "");
}

static const char *edge_style(enum hp_edge_kind kind)
{
	switch (kind) {
	case HP_EDGE_TABLE:
		return "style=dashed";
	case HP_EDGE_LANDING:
		return "style=dotted, color=red";
	case HP_EDGE_JUMP:
		return "color=blue";
	case HP_EDGE_FALL:
	case HP_EDGE_ENTRY:
	case HP_EDGE_EXIT:
	case HP_EDGE_ESCAPE:
		break;
	}
	return "style=solid";
}

static void write_node(const struct drawing *drawing, uint32_t node)
{
	if (node == drawing->cfg->entry)
		fprintf(drawing->out, "p%zuentry", drawing->number);
	else if (node == drawing->cfg->exit)
		fprintf(drawing->out, "p%zuexit", drawing->number);
	else
		fprintf(drawing->out, "p%zub%" PRIu32, drawing->number, node);
}

static void write_edge(const struct drawing *drawing, const struct hp_edge *edge)
{
	if (edge->kind == HP_EDGE_ESCAPE)
		return; /* never taken */
	fputs("\t\t", drawing->out);
	write_node(drawing, edge->from);
	fputs(" -> ", drawing->out);
	write_node(drawing, edge->to);
	fprintf(drawing->out, " [%s];\n", edge_style((enum hp_edge_kind)edge->kind));
}

static void write_graph(const struct drawing *drawing, const char *name)
{
	const struct hp_cfg *cfg = drawing->cfg;

	fprintf(drawing->out, "\tsubgraph cluster_%zu {\n\t\tlabel=\"", drawing->number);
	write_quoted(name, drawing->out);
	fprintf(drawing->out, "%s\";\n",
		cfg->missing_edges ? " (edges are missing: a jump could not be followed)" : "");
	fprintf(drawing->out,
		"\t\tp%zuentry [label=\"entry\", shape=plain];\n"
		"\t\tp%zuexit [label=\"exit\", shape=plain];\n",
		drawing->number, drawing->number);
	for (uint32_t i = 0; i < cfg->block_count; i++)
		write_block(drawing, i);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		write_edge(drawing, &cfg->edges[i]);
	fputs("\t}\n", drawing->out);
}

static struct hp_error *draw(struct drawing *drawing, const char *name)
{
	size_t event = drawing->report->sort_event;
	_cleanup_free_ double *weights = calloc(drawing->cfg->node_count, sizeof(*weights));
	_cleanup_free_ uint64_t *samples = calloc(drawing->cfg->node_count, sizeof(*samples));

	if (!weights || !samples)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < drawing->listing->rows.count; i++) {
		const struct row *row = &drawing->listing->rows.at[i];
		uint32_t block =
			row->has_address
				? hp_cfg_block_at(drawing->cfg, (hp_link_address){ row->address })
				: HP_CFG_NONE;

		drawing->whole += row->tallies[event].weight;
		if (block == HP_CFG_NONE)
			continue;
		weights[block] += row->tallies[event].weight;
		samples[block] += row->tallies[event].samples;
		if (weights[block] > drawing->greatest)
			drawing->greatest = weights[block];
	}
	drawing->weights = weights;
	drawing->samples = samples;
	write_graph(drawing, name);
	return NULL;
}

struct hp_error *write_dot(struct report *report, FILE *out)
{
	struct hp_error *error = NULL;
	size_t drawn = 0;

	fputs("digraph cfg {\n\tnode [shape=box, style=filled, fillcolor=white, "
	      "fontname=monospace, fontsize=10];\n",
	      out);
	for (size_t i = 0; i < report->rows.count && !error; i++) {
		_cleanup_(listing_clear) struct listing listing = { 0 };
		const struct row *row = report->rows.at[i];
		struct drawing drawing = {
			.report = report, .listing = &listing, .number = i, .out = out
		};

		error = listing_make(report, row, true, &listing);
		if (!error)
			error = listing_add_blocks(row, &listing);
		drawing.cfg = listing.cfg;
		if (error || !drawing.cfg)
			continue;
		drawn++;
		error = draw(&drawing, row->name);
	}
	fputs("}\n", out);
	if (!error && !drawn)
		error = hp_error_advise(
			hp_error_create(HP_ERROR_INSUFFICIENT,
					"the code of '%s' cannot be analysed",
					report->options->listed ? report->options->listed : "*"),
			"hpcprof report --instructions shows what there is of it");
	return error;
}
