/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	a connected graph
 * provides	immediate dominators, or post-dominators on the graph turned around
 *
 * Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (TOPLAS 1979), the
 * simple version: O(m log n) for any graph, which the iterative methods do not promise.
 */
#include "graph.h"

struct search {
	const struct hp_cfg *cfg;
	bool is_backward;
	uint32_t count;
	/* By node: */
	uint32_t *number; /* in depth-first preorder, or HP_CFG_NONE */
	/* By number: */
	uint32_t *node;
	uint32_t *parent;
	uint32_t *semi;
	uint32_t *ancestor;
	uint32_t *best;
	uint32_t *dominator;
	uint32_t *bucket; /* first node with this semidominator */
	uint32_t *next;	  /* next in its bucket; before that, number of edges done */
	uint32_t *stack;
};

static uint32_t degree(const struct search *s, uint32_t node, bool is_out)
{
	return is_out ? s->cfg->blocks[node].out_count : s->cfg->blocks[node].in_count;
}

static uint32_t neighbour(const struct search *s, uint32_t node, bool is_out, uint32_t i)
{
	const struct hp_block *block = &s->cfg->blocks[node];

	return is_out ? s->cfg->edges[block->first_out + i].to
		      : s->cfg->edges[s->cfg->in_edges[block->first_in + i]].from;
}

static void number_node(struct search *s, uint32_t node, uint32_t parent)
{
	uint32_t number = s->count++;

	s->number[node] = number;
	s->node[number] = node;
	s->parent[number] = parent;
	s->semi[number] = number;
	s->best[number] = number;
	s->ancestor[number] = HP_CFG_NONE;
	s->bucket[number] = HP_CFG_NONE;
	s->next[number] = 0;
}

static void walk(struct search *s, uint32_t root)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < s->cfg->node_count; i++)
		s->number[i] = HP_CFG_NONE;
	number_node(s, root, HP_CFG_NONE);
	s->stack[depth++] = 0;
	while (depth > 0) {
		uint32_t top = s->stack[depth - 1];
		uint32_t node = s->node[top];
		uint32_t to;

		if (s->next[top] == degree(s, node, !s->is_backward)) {
			depth--;
			continue;
		}
		to = neighbour(s, node, !s->is_backward, s->next[top]++);
		if (s->number[to] != HP_CFG_NONE)
			continue;
		number_node(s, to, top);
		s->stack[depth++] = s->count - 1;
	}
}

/* The number with the least semidominator on the way up the forest; shortens that way. */
static uint32_t evaluate(struct search *s, uint32_t number)
{
	uint32_t depth = 0;
	uint32_t at = number;

	if (s->ancestor[number] == HP_CFG_NONE)
		return number;
	while (s->ancestor[s->ancestor[at]] != HP_CFG_NONE) {
		s->stack[depth++] = at;
		at = s->ancestor[at];
	}
	while (depth > 0) {
		uint32_t up;

		at = s->stack[--depth];
		up = s->ancestor[at];
		if (s->semi[s->best[up]] < s->semi[s->best[at]])
			s->best[at] = s->best[up];
		s->ancestor[at] = s->ancestor[up];
	}
	return s->best[number];
}

static void find_dominators(struct search *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		s->next[i] = HP_CFG_NONE;
	for (uint32_t w = s->count - 1; w > 0; w--) {
		uint32_t node = s->node[w];
		uint32_t parent = s->parent[w];

		for (uint32_t i = 0; i < degree(s, node, s->is_backward); i++) {
			uint32_t v = s->number[neighbour(s, node, s->is_backward, i)];
			uint32_t u = v == HP_CFG_NONE ? w : evaluate(s, v);

			if (s->semi[u] < s->semi[w])
				s->semi[w] = s->semi[u];
		}
		s->next[w] = s->bucket[s->semi[w]];
		s->bucket[s->semi[w]] = w;
		s->ancestor[w] = parent;
		for (uint32_t v = s->bucket[parent]; v != HP_CFG_NONE; v = s->next[v]) {
			uint32_t u = evaluate(s, v);

			s->dominator[v] = s->semi[u] < s->semi[v] ? u : parent;
		}
		s->bucket[parent] = HP_CFG_NONE;
	}
	s->dominator[0] = HP_CFG_NONE;
	for (uint32_t w = 1; w < s->count; w++)
		if (s->dominator[w] != s->semi[w])
			s->dominator[w] = s->dominator[s->dominator[w]];
}

static bool run(struct hp_cfg *cfg, bool is_backward)
{
	enum { ARRAYS = 10 };
	size_t nodes = cfg->node_count;
	_cleanup_free_ uint32_t *memory = reallocarray(NULL, nodes, ARRAYS * sizeof(uint32_t));
	struct search s = { .cfg = cfg, .is_backward = is_backward };
	uint32_t **const arrays[ARRAYS] = { &s.number,	 &s.node, &s.parent, &s.semi,
					    &s.ancestor, &s.best, &s.next,   &s.dominator,
					    &s.bucket,	 &s.stack };

	if (!memory)
		return false;
	for (size_t i = 0; i < ARRAYS; i++)
		*arrays[i] = memory + i * nodes;
	walk(&s, is_backward ? cfg->exit : cfg->entry);
	find_dominators(&s);
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		uint32_t number = s.number[i];
		uint32_t found = HP_CFG_NONE;

		if (number != HP_CFG_NONE && s.dominator[number] != HP_CFG_NONE)
			found = s.node[s.dominator[number]];
		if (is_backward)
			cfg->blocks[i].post_dominator = found;
		else
			cfg->blocks[i].dominator = found;
	}
	return true;
}

bool graph_dominators(struct hp_cfg *cfg)
{
	return run(cfg, false);
}

bool graph_post_dominators(struct hp_cfg *cfg)
{
	return run(cfg, true);
}
