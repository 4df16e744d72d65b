/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	unknowns, directions, terms
 * provides	x: a starting point for the solve. It balances exactly, is positive everywhere, and is
 *		near what directions and counts give
 *
 * A few sweeps propagate the frequency of each block, or its count, along the edges as directions
 * say. Then each block is balanced: missing inflow is added along the shortest way from the entry,
 * missing outflow along the shortest way to the exit. This only adds, so nothing becomes zero. Later
 * rounds start from the previous result.
 */
#include "flow.h"
#include "tuning.h"

struct beginning {
	const struct flow *flow;
	double *blocks;
	double *edges;
	double *counts;	     /* by unknown; 0: none */
	double most;	     /* upper limit of all start values */
	double *slack;	     /* flow into blocks from outside, where edges are missing */
	uint32_t *to_here;   /* last edge of the shortest way from the entry */
	uint32_t *from_here; /* first edge of the shortest way to the exit */
	uint32_t *by_entry;  /* nodes by distance from the entry, ascending */
	uint32_t *by_exit;
	uint32_t entry_count;
	uint32_t exit_count;
};

static bool make_room(struct beginning *b)
{
	const struct hp_cfg *cfg = b->flow->cfg;
	struct hp_arena *arena = b->flow->analyzer->scratch;

	b->blocks = hp_arena_array(arena, cfg->node_count, sizeof(double));
	b->slack = hp_arena_array(arena, cfg->node_count, sizeof(double));
	b->counts = hp_arena_array(arena, (size_t)b->flow->unknown_count + 1, sizeof(double));
	b->edges = hp_arena_array(arena, (size_t)cfg->edge_count + 1, sizeof(double));
	b->to_here = hp_arena_array(arena, cfg->node_count, sizeof(uint32_t));
	b->from_here = hp_arena_array(arena, cfg->node_count, sizeof(uint32_t));
	b->by_entry = hp_arena_array(arena, cfg->node_count, sizeof(uint32_t));
	b->by_exit = hp_arena_array(arena, cfg->node_count, sizeof(uint32_t));
	return b->blocks && b->slack && b->counts && b->edges && b->to_here && b->from_here &&
	       b->by_entry && b->by_exit;
}

/* --- shortest ways ---------------------------------------------------------------------------- */

static void walk_from_entry(struct beginning *b)
{
	const struct hp_cfg *cfg = b->flow->cfg;

	for (uint32_t i = 0; i < cfg->node_count; i++)
		b->to_here[i] = b->from_here[i] = HP_CFG_NONE;
	b->by_entry[b->entry_count++] = cfg->entry;
	for (uint32_t at = 0; at < b->entry_count; at++) {
		const struct hp_block *block = &cfg->blocks[b->by_entry[at]];

		for (uint32_t i = 0; i < block->out_count; i++) {
			uint32_t edge = block->first_out + i;
			uint32_t to = cfg->edges[edge].to;

			if (to == cfg->entry || b->to_here[to] != HP_CFG_NONE ||
			    flow_edge(b->flow, edge) < 0)
				continue;
			b->to_here[to] = edge;
			b->by_entry[b->entry_count++] = to;
		}
	}
}

static void walk_from_exit(struct beginning *b)
{
	const struct hp_cfg *cfg = b->flow->cfg;

	b->by_exit[b->exit_count++] = cfg->exit;
	for (uint32_t at = 0; at < b->exit_count; at++) {
		const struct hp_block *block = &cfg->blocks[b->by_exit[at]];

		for (uint32_t i = 0; i < block->in_count; i++) {
			uint32_t edge = cfg->in_edges[block->first_in + i];
			uint32_t from = cfg->edges[edge].from;

			if (from == cfg->exit || b->from_here[from] != HP_CFG_NONE ||
			    flow_edge(b->flow, edge) < 0)
				continue;
			b->from_here[from] = edge;
			b->by_exit[b->exit_count++] = from;
		}
	}
}

/* --- what was counted ------------------------------------------------------------------------- */

/* Takes the counts of one source only, since another source may have another level. */
static void take_counts(struct beginning *b)
{
	const struct flow *flow = b->flow;
	const struct term *first = NULL;

	for (size_t i = 0; i < flow->terms.count; i++) {
		const struct term *term = &flow->terms.at[i];

		if (!term->is_count)
			continue;
		first = first ? first : term;
		if (term->unknowns[1] == first->unknowns[1])
			b->counts[term->unknowns[0]] = fmin(exp(term->expected), 1e100);
	}
	b->most = most_often;
	for (int i = 0; i < flow->unknown_count; i++)
		b->most = fmax(b->most, most_often * b->counts[i]);
}

static double counted_or(const struct beginning *b, int unknown, double other)
{
	return b->counts[unknown] > 0 ? b->counts[unknown] : other;
}

/* --- what directions say ---------------------------------------------------------------------- */

static double inflow(const struct beginning *b, uint32_t node, bool is_first)
{
	const struct hp_cfg *cfg = b->flow->cfg;
	const struct hp_block *block = &cfg->blocks[node];
	double sum = 0;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t edge = cfg->in_edges[block->first_in + i];
		uint32_t from = cfg->edges[edge].from;

		if (flow_edge(b->flow, edge) >= 0 &&
		    (!is_first || cfg->blocks[from].position < block->position))
			sum += b->blocks[from] * exp(b->flow->analyzer->directions[edge].log);
	}
	if (is_first && block->loop != HP_CFG_NONE && cfg->loops[block->loop].header == node)
		sum *= first_iterations;
	return fmin(sum, b->most);
}

static void sweep(struct beginning *b)
{
	const struct hp_cfg *cfg = b->flow->cfg;

	for (unsigned round = 0; round < FIRST_SWEEPS; round++) {
		for (uint32_t i = 0; i < cfg->node_count; i++) {
			uint32_t node = cfg->order[i];
			int unknown = flow_block(b->flow, node);

			if (unknown >= 0)
				b->blocks[node] = counted_or(
					b, unknown,
					node == cfg->entry ? 1 : inflow(b, node, round == 0));
		}
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (flow_edge(b->flow, i) >= 0)
			b->edges[i] = counted_or(
				b, flow_edge(b->flow, i),
				fmax(b->blocks[cfg->edges[i].from], 1e-12) *
					exp(fmax(b->flow->analyzer->directions[i].log, -25)));
}

/* --- balance ---------------------------------------------------------------------------------- */

static void find_sums(const struct beginning *b, uint32_t node, double *in, double *out)
{
	const struct hp_cfg *cfg = b->flow->cfg;
	const struct hp_block *block = &cfg->blocks[node];

	*in = b->slack[node];
	*out = 0;
	for (uint32_t i = 0; i < block->in_count; i++)
		*in += b->edges[cfg->in_edges[block->first_in + i]];
	for (uint32_t i = 0; i < block->out_count; i++)
		*out += b->edges[block->first_out + i];
}

/* Goes through nodes from the farthest to the nearest, and adds what is missing at a node to the
 * edge from its predecessor on the shortest way. */
static void balance(struct beginning *b)
{
	const struct hp_cfg *cfg = b->flow->cfg;
	double in;
	double out;

	for (uint32_t i = b->entry_count; i-- > 0;) {
		uint32_t node = b->by_entry[i];

		find_sums(b, node, &in, &out);
		if (node != cfg->entry && node != cfg->exit && out > in)
			b->edges[b->to_here[node]] += out - in;
	}
	for (uint32_t i = b->exit_count; i-- > 0;) {
		uint32_t node = b->by_exit[i];

		find_sums(b, node, &in, &out);
		if (node != cfg->entry && node != cfg->exit && in > out)
			b->edges[b->from_here[node]] += in - out;
	}
}

static void give_out_hub(const struct beginning *b, const struct hub *hub)
{
	const struct hp_block *blocks = b->flow->cfg->blocks;
	const struct hp_block *first = &blocks[hub->sources[0]];
	double whole = 0;

	for (uint32_t i = 0; i < first->out_count; i++) {
		int arc = flow_edge(b->flow, first->first_out + i);
		double sum = 0;

		if (arc < 0)
			continue;
		for (uint32_t s = 0; s < hub->source_count; s++)
			sum += b->edges[blocks[hub->sources[s]].first_out + i];
		b->flow->x[arc] = log(sum);
		whole += sum;
	}
	b->flow->x[hub->whole] = log(whole);
}

static void give_out(const struct beginning *b)
{
	const struct flow *flow = b->flow;
	const struct hp_cfg *cfg = flow->cfg;

	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (flow_edge(flow, i) >= 0)
			flow->x[flow_edge(flow, i)] = log(b->edges[i]);
	for (size_t i = 0; i < flow->hubs.count; i++)
		give_out_hub(b, &flow->hubs.at[i]);
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		double in;
		double out;

		if (flow_block(flow, i) < 0)
			continue;
		find_sums(b, i, &in, &out);
		flow->x[flow_block(flow, i)] = log(i == cfg->exit ? in : out);
		if (flow->slack_of[i] >= 0)
			flow->x[flow->slack_of[i]] = log(b->slack[i]);
	}
}

/* Multiplies all flows by one factor, which keeps the balances, so that they match the counts on
 * the whole. Otherwise the levels would have to take the difference, and the solve to bring them
 * back. */
static void lift(struct flow *flow)
{
	double weights = 0;
	double sum = 0;

	for (size_t i = 0; i < flow->terms.count; i++) {
		const struct term *term = &flow->terms.at[i];
		double weight = 1 / (term->deviation * term->deviation);

		if (!term->is_count)
			continue;
		weights += weight;
		sum += weight * (term->expected - flow->x[term->unknowns[0]]);
	}
	for (int i = 0; i < flow->unknown_count && weights > 0; i++)
		if (!flow_is_shift(flow, i))
			flow->x[i] += sum / weights;
}

struct hp_error *flow_begin(struct flow *flow)
{
	struct beginning b = { .flow = flow };

	flow->x = hp_arena_array(flow->analyzer->scratch, (size_t)flow->unknown_count + 1,
				 sizeof(double));
	if (!flow->x || !make_room(&b))
		return hp_error_create_no_memory();
	if (flow->analyzer->flow_start) { /* the unknowns are the same ones in every round */
		for (int i = 0; i < flow->unknown_count; i++)
			flow->x[i] = flow->analyzer->flow_start[i];
		return NULL;
	}
	take_counts(&b);
	walk_from_entry(&b);
	walk_from_exit(&b);
	sweep(&b);
	for (uint32_t i = 0; i < flow->cfg->node_count; i++)
		if (flow->slack_of[i] >= 0)
			b.slack[i] = fmax(b.blocks[i], 1e-12) * exp(slack_log);
	balance(&b);
	give_out(&b);
	lift(flow);
	return NULL;
}
