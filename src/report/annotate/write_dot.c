/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control-flow graphs for Graphviz: one box per block with its instructions, samples, frequency and
 * stalls, the redder the more samples it has; edges with their frequency, the thicker the higher it
 * is; the hottest path in red. One file holds all procedures that the user named, each in a frame.
 */
#include "write_annotate.h"
#include "hot_path.h"
#include "listing.h"
#include "../common/quantity.h"
#include "../common/state.h"
#include "../common/text.h"
#include "../tuning.h"

#include <hpcprof/infer/inference.h>

#include <inttypes.h>
#include <math.h>

struct drawing {
	const struct report *report;
	const struct listing *listing;
	const struct hp_cfg *cfg;
	const struct hp_analysis *analysis; /* NULL: there is none */
	struct hot_path path;
	size_t number;	 /* index of the procedure */
	double *weights; /* by block: weight of the sorting event */
	uint64_t *samples;
	/* by block: index of its first row in `rows`; one more element for the end */
	size_t *first_row;
	size_t *rows; /* rows of the listing, sorted by block, then by position */
	double whole;
	double greatest;
	FILE *out;
};

/* Writes a string in quotes, so that each byte is shown as it is. */
static void write_quoted(const char *text, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer valid = { 0 };

	text_escape(&valid, text);
	for (const char *at = hp_buffer_text(&valid); *at; at++) {
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

	for (size_t i = drawing->first_row[block]; i < drawing->first_row[block + 1]; i++) {
		const struct hp_row *row = &listing->rows.at[drawing->rows[i]];
		uint64_t samples = row->tallies[drawing->report->profiles->sort_event].samples;

		if (lines == MOST_LINES_DRAWN) {
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

/* Adds the causes that explain most of the block's time, and their share. */
static void add_stalls(const struct drawing *drawing, const struct hp_analysed_block *block,
		       struct hp_buffer *text)
{
	const struct hp_analysis *analysis = drawing->analysis;
	double cycles[HP_CAUSE_COUNT] = { 0 };
	double sum = 0;

	for (uint32_t i = 0; i < block->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[block->first_insn + i];

		for (uint32_t j = 0; j < insn->cause_count; j++) {
			const struct hp_cause *cause = &analysis->causes[insn->first_cause + j];

			cycles[cause->kind] += cause->likely * insn->cycles;
			sum += cause->likely * insn->cycles;
		}
	}
	if (!(sum > 0))
		return;
	hp_buffer_printf(text, "stalls %.0f %%", 100 * fmin(sum / block->cycles, 1));
	for (int told = 0; told < MOST_CAUSES_DRAWN; told++) {
		int most = 0;

		for (int i = 1; i < HP_CAUSE_COUNT; i++)
			if (cycles[i] > cycles[most])
				most = i;
		if (cycles[most] < noticeable_cause * block->cycles)
			break;
		hp_buffer_printf(text, "%s%s", told ? ", " : ": ",
				 quantity_cause((enum hp_cause_kind)most));
		cycles[most] = 0;
	}
	hp_buffer_printf(text, "\\l");
}

/* Writes our own words and figures, with line ends in Graphviz's form. */
static void write_estimates(const struct drawing *drawing, uint32_t number)
{
	const struct hp_analysed_block *block = &drawing->analysis->blocks[number];
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	if (isfinite(drawing->analysis->is_absolute ? block->frequency.executions
						    : block->frequency.relative)) {
		hp_buffer_printf(&text,
				 drawing->analysis->is_absolute ? "executions " : "frequency ");
		quantity_add_frequency(&text, &block->frequency, drawing->analysis->is_absolute);
		hp_buffer_printf(
			&text, " (%s)\\l",
			hp_confidence_name((enum hp_confidence)block->frequency.confidence));
	}
	if (block->cycles > 0) {
		hp_buffer_printf(&text, "best case ");
		quantity_add_cycles(&text, block->best_case_cycles);
		hp_buffer_printf(&text, " cycles");
		if (isfinite(block->cycles_per_execution_low)) {
			hp_buffer_printf(&text, ", took ");
			quantity_add_at_least(&text, block->cycles_per_execution,
					      block->cycles_per_execution_low);
		}
		hp_buffer_printf(&text, "\\l");
		add_stalls(drawing, block, &text);
	}
	fputs(hp_buffer_text(&text), drawing->out);
}

static void write_block(const struct drawing *drawing, uint32_t number)
{
	double weight = drawing->weights[number];

	fprintf(drawing->out, "\t\tp%zub%" PRIu32 " [label=\"block %" PRIu32, drawing->number,
		number, number);
	if (drawing->samples[number])
		fprintf(drawing->out, ": %" PRIu64 " sample%s, %.1f %%", drawing->samples[number],
			drawing->samples[number] == 1 ? "" : "s",
			drawing->whole > 0 ? 100 * weight / drawing->whole : 0);
	fputs("\\l", drawing->out);
	if (drawing->analysis)
		write_estimates(drawing, number);
	write_instructions(drawing, number);
	fprintf(drawing->out, "\", fillcolor=\"0.02 %.3f 1.0\"%s%s];\n",
		drawing->greatest > 0 ? 0.7 * weight / drawing->greatest : 0,
		drawing->cfg->blocks[number].is_orphan ? ", style=\"filled,dashed\"" : "",
		drawing->path.blocks && drawing->path.blocks[number] ? ", color=red, penwidth=2"
								     : "");
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

/* The line's width tells how often an edge was executed; thin: unknown. */
static void write_traffic(const struct drawing *drawing, uint32_t number)
{
	const struct hp_frequency *frequency = &drawing->analysis->edges[number];
	double share = hp_edge_probability(drawing->analysis, number);
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	if (!isfinite(frequency->relative))
		return;
	quantity_add(&text,
		     drawing->analysis->is_absolute ? frequency->executions : frequency->relative);
	/* The share is shown only if it was counted; otherwise it is a guess. */
	if (drawing->analysis->sources && isfinite(share) && share < 1)
		hp_buffer_printf(&text, " (%.3g %%)", 100 * share);
	/* with room between the label and its edge */
	fprintf(drawing->out, ", label=\" %s\", penwidth=%.1f", hp_buffer_text(&text),
		0.5 + 3 * sqrt(fmin(fmax(frequency->relative, 0), 1)));
}

static void write_edge(const struct drawing *drawing, uint32_t number)
{
	const struct hp_edge *edge = &drawing->cfg->edges[number];
	bool is_hot = drawing->path.edges && drawing->path.edges[number];

	if (edge->kind == HP_EDGE_ESCAPE)
		return; /* the edge is never taken */
	fputs("\t\t", drawing->out);
	write_node(drawing, edge->from);
	fputs(" -> ", drawing->out);
	write_node(drawing, edge->to);
	fprintf(drawing->out, " [%s", edge_style((enum hp_edge_kind)edge->kind));
	if (drawing->analysis)
		write_traffic(drawing, number);
	/* The last colour attribute counts. */
	fprintf(drawing->out, "%s];\n", is_hot ? ", color=red" : "");
}

/* Under the name: what the graph lacks, and what makes its figures less certain. */
static void write_caveats(const struct drawing *drawing)
{
	/* Problems that the listing's caveats describe in detail. */
	const unsigned of_the_code = HP_PROBLEM_MISSING_EDGES | HP_PROBLEM_UNDECODABLE;
	unsigned problems = drawing->analysis ? drawing->analysis->problems & ~of_the_code : 0;

	for (; problems; problems &= problems - 1) {
		unsigned bit = problems & -problems;

		fputs("\\ncaution: ", drawing->out);
		write_quoted(quantity_problem((enum hp_analysis_problem)bit), drawing->out);
	}
	for (size_t i = 0; i < drawing->listing->caveats.count; i++) {
		fputs("\\n", drawing->out);
		write_quoted(drawing->listing->caveats.at[i], drawing->out);
	}
}

static void write_graph(const struct drawing *drawing, const char *name)
{
	const struct hp_cfg *cfg = drawing->cfg;

	fprintf(drawing->out, "\tsubgraph cluster_%zu {\n\t\tlabel=\"", drawing->number);
	write_quoted(name, drawing->out);
	if (drawing->analysis)
		fputs(drawing->analysis->is_absolute
			      ? "\\nbeside edges: their executions"
			      : "\\nran, and beside edges: how often; 1 is the hottest block",
		      drawing->out);
	fputs("\\nred: the hottest path; blue: jumps; [ ]: samples", drawing->out);
	write_caveats(drawing);
	fputs("\";\n", drawing->out);
	fprintf(drawing->out,
		"\t\tp%zuentry [label=\"entry\", shape=plain];\n"
		"\t\tp%zuexit [label=\"exit\", shape=plain];\n",
		drawing->number, drawing->number);
	for (uint32_t i = 0; i < cfg->block_count; i++)
		write_block(drawing, i);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		write_edge(drawing, i);
	fputs("\t}\n", drawing->out);
}

/* Sorts rows by block, so that each block finds its own at once. */
static void sort_rows(const struct drawing *drawing)
{
	const struct listing *listing = drawing->listing;
	/* by block: where its next row goes; in the end the start of the next block */
	size_t *next = drawing->first_row + 1;

	for (size_t i = 0; i < listing->rows.count; i++)
		if (listing->rows.at[i].has_block)
			next[listing->rows.at[i].block + 1]++;
	for (uint32_t block = 0; block < drawing->cfg->block_count; block++)
		next[block + 1] += next[block];
	for (size_t i = 0; i < listing->rows.count; i++)
		if (listing->rows.at[i].has_block)
			drawing->rows[next[listing->rows.at[i].block]++] = i;
}

static struct hp_error *draw(struct drawing *drawing, const char *name)
{
	size_t event = drawing->report->profiles->sort_event;
	size_t nodes = drawing->cfg->node_count;
	_cleanup_free_ double *weights = calloc(nodes, sizeof(*weights));
	_cleanup_free_ uint64_t *samples = calloc(nodes, sizeof(*samples));
	_cleanup_free_ size_t *first_row = calloc(nodes + 2, sizeof(*first_row));
	_cleanup_free_ size_t *rows = calloc(drawing->listing->rows.count + 1, sizeof(*rows));

	if (!weights || !samples || !first_row || !rows)
		return hp_error_create_no_memory();
	drawing->first_row = first_row;
	drawing->rows = rows;
	sort_rows(drawing);
	for (size_t i = 0; i < drawing->listing->rows.count; i++) {
		const struct hp_row *row = &drawing->listing->rows.at[i];
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
	const char *why = NULL; /* not drawn: only the graph's first reason counts */
	size_t drawn = 0;

	for (size_t i = 0; i < report->profiles->rows.count && !error; i++) {
		_cleanup_(listing_clear) struct listing listing = { 0 };
		const struct hp_row *row = report->profiles->rows.at[i];
		struct drawing drawing = {
			.report = report, .listing = &listing, .number = i, .out = out
		};

		error = listing_make(report, row, LISTING_ALL, &listing);
		if (!error)
			error = listing_add_blocks(report, row, &listing);
		if (!error)
			error = listing_add_caveats(report, row, &listing);
		drawing.cfg = listing.cfg;
		if (!error && !drawing.cfg && !why && listing.no_graph)
			why = hp_profiles_intern(report->profiles, listing.no_graph);
		if (!error && drawing.cfg)
			error = hp_inference_row(report->inference, row, &drawing.analysis);
		if (!error && drawing.analysis)
			error = hot_path_find(drawing.analysis, listing.arena, &drawing.path);
		if (error || !drawing.cfg)
			continue;
		if (drawn++ == 0)
			fputs("digraph cfg {\n\tnode [shape=box, style=filled, fillcolor=white, "
			      "fontname=monospace, fontsize=10];\n"
			      "\tedge [fontname=monospace, fontsize=9];\n",
			      out);
		error = draw(&drawing, row->name);
	}
	if (drawn)
		fputs("}\n", out);
	if (!error && !drawn)
		error = hp_error_advise(
			hp_error_create(
				HP_ERROR_INSUFFICIENT, "the code of '%s' cannot be analysed: %s",
				report->options->of.listed ? report->options->of.listed : "*",
				why ? why : "there is none"),
			"hpcprof report --instructions shows what is known of it");
	return error;
}
