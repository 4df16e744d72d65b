/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	gather
 * provides	the unknowns of the flow, one per class of the graph, and the balances between
 *		them
 *
 * Unknowns are logarithms, and 0 executions have none. So classes that evidence shows never to be
 * executed are removed first, with everything that is reached only through them or leads only to
 * them. Where edges are missing from the graph, every block gets a slack arc from outside: an
 * unknown way to enter it.
 */
#include "flow.h"

#include <stdlib.h>

/* --- what never ran --------------------------------------------------------------------------- */

struct dead {
	const struct hp_cfg *cfg;
	bool *class; /* of each class: it never runs */
	bool *from_entry;
	bool *to_exit;
	uint32_t *stack;
	bool is_grown;
};

static void bury(struct dead *dead, uint32_t class)
{
	dead->is_grown |= !dead->class[class];
	dead->class[class] = true;
}

/* Marks what can be reached through live blocks and edges only: forwards from the entry, or
 * backwards from the exit. */
static void reach(const struct dead *dead, uint32_t from, bool is_backward, bool *reached,
		  uint32_t *stack)
{
	const struct hp_cfg *cfg = dead->cfg;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < cfg->node_count; i++)
		reached[i] = i == from;
	stack[depth++] = from;
	while (depth > 0) {
		const struct hp_block *block = &cfg->blocks[stack[--depth]];
		uint32_t count = is_backward ? block->in_count : block->out_count;

		for (uint32_t i = 0; i < count; i++) {
			const struct hp_edge *edge =
				&cfg->edges[is_backward ? cfg->in_edges[block->first_in + i]
							: block->first_out + i];
			uint32_t to = is_backward ? edge->from : edge->to;

			if (reached[to] || dead->class[edge->class] ||
			    dead->class[cfg->blocks[to].class])
				continue;
			reached[to] = true;
			stack[depth++] = to;
		}
	}
}

/* Marks as dead what lies on no live way from the entry to the exit. */
static void spread(struct dead *dead)
{
	const struct hp_cfg *cfg = dead->cfg;

	while (dead->is_grown) {
		dead->is_grown = false;
		reach(dead, cfg->entry, false, dead->from_entry, dead->stack);
		reach(dead, cfg->exit, true, dead->to_exit, dead->stack);
		for (uint32_t i = 0; i < cfg->node_count; i++)
			if (!dead->from_entry[i] || !dead->to_exit[i])
				bury(dead, cfg->blocks[i].class);
		for (uint32_t i = 0; i < cfg->edge_count; i++)
			if (dead->class[cfg->blocks[cfg->edges[i].from].class] ||
			    dead->class[cfg->blocks[cfg->edges[i].to].class])
				bury(dead, cfg->edges[i].class);
	}
}

static bool names_class(const struct hp_cfg *cfg, const struct hp_evidence *one, uint32_t *class)
{
	uint32_t block = hp_cfg_block_at(cfg, one->address);
	uint32_t edge;

	if (!flow_is_of_executions(one) || block == HP_CFG_NONE)
		return false;
	*class = cfg->blocks[block].class;
	if (one->kind != HP_EVIDENCE_EDGE)
		return true;
	edge = hp_cfg_edge_between(cfg, one->address, one->to);
	if (edge == HP_CFG_NONE)
		return false;
	*class = cfg->edges[edge].class;
	return true;
}

/* Marks as dead what was counted as exactly zero. If that makes something dead that did run, the
 * evidence contradicts itself, and those zeros count as very small instead. */
static void bury_zeros(struct flow *flow, struct dead *dead)
{
	const struct hp_analysis_input *input = flow->analyzer->input;
	const struct hp_cfg *cfg = flow->cfg;
	uint32_t class;

	for (size_t i = 0; i < input->evidence_count; i++)
		if (input->evidence[i].value <= 0 && input->evidence[i].deviation <= 0 &&
		    names_class(cfg, &input->evidence[i], &class))
			bury(dead, class);
	spread(dead);
	for (size_t i = 0; i < input->evidence_count; i++)
		if (input->evidence[i].value > 0 && names_class(cfg, &input->evidence[i], &class))
			flow->is_contradictory |= dead->class[class];
	for (uint32_t i = 0; flow->is_contradictory && i < cfg->class_count; i++)
		dead->class[i] = false;
}

/* --- balances --------------------------------------------------------------------------------- */

static bool add_balance(struct flow *flow, int whole, const uint32_t *edges, uint32_t first,
			uint32_t count, int slack)
{
	struct balance balance = { .whole = whole, .first = (uint32_t)flow->balance_parts.count };

	for (uint32_t i = 0; i < count; i++) {
		uint32_t edge = edges ? edges[first + i] : first + i;
		const struct hub *hub = flow_hub(flow, edge);
		int part = flow_edge(flow, edge);

		if (hub && flow->cfg->edges[edge].from != hub->sources[0])
			continue; /* the arc is already included */
		if (part == whole)
			return true; /* a single way out equals its block; it needs no balance */
		if (part >= 0 && !hp_vector_push(&flow->balance_parts, part))
			return false;
	}
	if (slack >= 0 && !hp_vector_push(&flow->balance_parts, slack))
		return false;
	balance.count = (uint32_t)flow->balance_parts.count - balance.first;
	return balance.count == 0 || hp_vector_push(&flow->balances, balance);
}

static bool balance_hub(struct flow *flow, const struct hub *hub)
{
	const struct hp_block *first = &flow->cfg->blocks[hub->sources[0]];
	struct balance into = { .whole = hub->whole,
				.first = (uint32_t)flow->balance_parts.count,
				.count = hub->source_count };

	for (uint32_t i = 0; i < hub->source_count; i++)
		if (!hp_vector_push(&flow->balance_parts, flow_block(flow, hub->sources[i])))
			return false;
	return hp_vector_push(&flow->balances, into) &&
	       add_balance(flow, hub->whole, NULL, first->first_out, first->out_count, -1);
}

static bool add_balances(struct flow *flow)
{
	const struct hp_cfg *cfg = flow->cfg;

	for (uint32_t i = 0; i < cfg->node_count; i++) {
		const struct hp_block *block = &cfg->blocks[i];
		int whole = flow_block(flow, i);

		if (i == cfg->exit || whole < 0)
			continue; /* it follows from all the others */
		if (flow->hub_of[i] < 0 &&
		    !add_balance(flow, whole, NULL, block->first_out, block->out_count, -1))
			return false;
		if (i != cfg->entry && !add_balance(flow, whole, cfg->in_edges, block->first_in,
						    block->in_count, flow->slack_of[i]))
			return false;
	}
	for (size_t i = 0; i < flow->hubs.count; i++)
		if (!balance_hub(flow, &flow->hubs.at[i]))
			return false;
	return true;
}

static bool make_room(struct flow *flow, struct dead *dead)
{
	const struct hp_cfg *cfg = flow->cfg;
	struct hp_arena *arena = flow->analyzer->scratch;

	dead->cfg = cfg;
	dead->class = hp_arena_array(arena, cfg->class_count + 1, sizeof(bool));
	dead->from_entry = hp_arena_array(arena, cfg->node_count, sizeof(bool));
	dead->to_exit = hp_arena_array(arena, cfg->node_count, sizeof(bool));
	dead->stack = hp_arena_array(arena, cfg->node_count, sizeof(uint32_t));
	flow->unknown_of = hp_arena_array(arena, cfg->class_count + 1, sizeof(int));
	flow->slack_of = hp_arena_array(arena, cfg->node_count, sizeof(int));
	return dead->class && dead->from_entry && dead->to_exit && dead->stack &&
	       flow->unknown_of && flow->slack_of;
}

/* Numbers an unknown for each source with counts that share an error, and for each phase. */
static void number_levels(struct flow *flow)
{
	const struct hp_analysis_input *input = flow->analyzer->input;

	for (unsigned i = 0; i < HP_SOURCE_COUNT; i++)
		flow->level_of[i] = -1;
	for (size_t i = 0; i < input->evidence_count; i++) {
		const struct hp_evidence *one = &input->evidence[i];

		if (flow_is_of_executions(one) && one->source < HP_SOURCE_COUNT &&
		    input->shared_deviation[one->source] > 0 && flow->level_of[one->source] < 0)
			flow->level_of[one->source] = flow->unknown_count++;
	}
	flow->first_phase = flow->unknown_count;
	flow->unknown_count += (int)input->phase_count;
	flow->last_shift = flow->unknown_count - 1;
}

struct hp_error *flow_unknowns(struct flow *flow)
{
	const struct hp_cfg *cfg = flow->cfg;
	struct dead dead = { .is_grown = false };

	if (!make_room(flow, &dead))
		return hp_error_create_no_memory();
	bury_zeros(flow, &dead);
	if (!flow_find_hubs(flow, dead.class))
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < cfg->node_count; i++)
		flow->unknown_of[cfg->blocks[i].class] = 1;
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (!flow_hub(flow, i))
			flow->unknown_of[cfg->edges[i].class] = 1;
	for (uint32_t i = 0; i < cfg->class_count; i++)
		if (flow->unknown_of[i])
			flow->unknown_of[i] = dead.class[i] ? -1 : flow->unknown_count++;
	flow_number_hubs(flow, dead.class);
	flow->stretch = flow->unknown_count++;
	number_levels(flow);
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		bool has_slack = cfg->missing_edges && i < cfg->block_count &&
				 flow_block(flow, i) >= 0;

		flow->slack_of[i] = has_slack ? flow->unknown_count++ : -1;
	}
	return add_balances(flow) ? NULL : hp_error_create_no_memory();
}
