/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	gather
 * provides	directions: the expected shares of each block's edges, from the shape of the code
 *
 * Ball and Larus, "Branch Prediction for Free" (PLDI 1993): loops usually continue, and code that
 * ends the program, handles exceptions or was moved out of line is seldom executed. Each such fact
 * adds to the logarithm of an edge's odds (Wu and Larus, MICRO 1994, combine them in the same way).
 * The shares of a block's edges are then scaled to add up to one.
 */
#include "passes.h"
#include "tuning.h"

static bool ends_badly(const struct hp_cfg *cfg, uint32_t node)
{
	uint8_t end = cfg->blocks[node].end;

	return node < cfg->block_count &&
	       (end == HP_END_NO_RETURN || end == HP_END_TRAP || end == HP_END_UNDECODABLE);
}

/* True when the edge leaves the loop of its block. */
static bool leaves_loop(const struct hp_cfg *cfg, const struct hp_edge *edge)
{
	uint32_t from = cfg->blocks[edge->from].loop;

	return from != HP_CFG_NONE && !hp_cfg_is_in_loop(cfg, edge->to, from);
}

/* A logarithm of odds, by the shape of the code alone. Whether an edge falls through or returns is
 * not considered: it added nothing. */
static double weight_of(const struct hp_cfg *cfg, const struct hp_edge *edge)
{
	double sum = 0;

	if (edge->kind == HP_EDGE_LANDING)
		sum += direction_landing;
	if (edge->kind == HP_EDGE_ESCAPE)
		sum += direction_escape;
	if (edge->kind == HP_EDGE_ENTRY && edge->to != 0)
		sum += direction_orphan;
	if (edge->from < cfg->block_count && leaves_loop(cfg, edge))
		sum += direction_leaves_loop;
	if (ends_badly(cfg, edge->to))
		sum += direction_never_returns;
	return sum;
}

static void normalise(const struct hp_block *node, struct expectation *edges)
{
	double largest = -INFINITY;
	double sum = 0;

	for (uint32_t i = 0; i < node->out_count; i++)
		largest = fmax(largest, edges[node->first_out + i].log);
	for (uint32_t i = 0; i < node->out_count; i++)
		sum += exp(edges[node->first_out + i].log - largest);
	for (uint32_t i = 0; i < node->out_count; i++) {
		struct expectation *edge = &edges[node->first_out + i];

		edge->log -= largest + log(sum);
		edge->deviation = direction_deviation;
	}
}

struct hp_error *find_directions(struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;

	analyzer->directions = hp_arena_array(analyzer->scratch, (size_t)cfg->edge_count + 1,
					      sizeof(*analyzer->directions));
	if (!analyzer->directions)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		analyzer->directions[i].log = weight_of(cfg, &cfg->edges[i]);
	for (uint32_t i = 0; i < cfg->node_count; i++)
		if (cfg->blocks[i].out_count)
			normalise(&cfg->blocks[i], analyzer->directions);
	return NULL;
}
