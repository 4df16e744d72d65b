/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	a connected graph
 * provides	order, and each node's position in it: reverse postorder from entry, so that a node
 *		comes after all its predecessors but those on back edges
 */
#include "graph.h"

bool graph_order(struct hp_cfg *cfg, struct hp_arena *arena)
{
	uint32_t *stack = hp_arena_array(arena, cfg->node_count, sizeof(*stack));
	uint32_t *left = hp_arena_array(arena, cfg->node_count, sizeof(*left));
	uint32_t depth = 0;
	uint32_t end = cfg->node_count;

	cfg->order = hp_arena_array(arena, cfg->node_count, sizeof(*cfg->order));
	if (!stack || !left || !cfg->order)
		return false;
	for (uint32_t i = 0; i < cfg->node_count; i++)
		cfg->blocks[i].position = HP_CFG_NONE;
	cfg->blocks[cfg->entry].position = 0; /* seen */
	left[cfg->entry] = cfg->blocks[cfg->entry].out_count;
	stack[depth++] = cfg->entry;
	while (depth > 0) {
		uint32_t top = stack[depth - 1];
		uint32_t to;

		if (left[top] == 0) {
			cfg->blocks[top].position = --end;
			cfg->order[end] = top;
			depth--;
			continue;
		}
		/* Pushes the last successor first, so that the first one comes first in the
		 * order. */
		to = cfg->edges[cfg->blocks[top].first_out + --left[top]].to;
		if (cfg->blocks[to].position != HP_CFG_NONE)
			continue;
		cfg->blocks[to].position = 0;
		left[to] = cfg->blocks[to].out_count;
		stack[depth++] = to;
	}
	return end == 0;
}
