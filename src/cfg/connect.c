/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	nodes, and edges in any order
 * provides	edges by (from, to) without duplicates, indexed from both ends; every node reachable
 *		from entry, and exit reachable from every node
 *
 * Code in an infinite loop never reaches the exit, and the algorithms that follow need it to: an
 * edge of kind ESCAPE is added where such code turns back (the extension for infinite loops that
 * section 6.1.2 of the DCPI paper mentions).
 */
#include "graph.h"

#include <string.h>

static int compare_edges(const void *a, const void *b)
{
	const struct hp_edge *left = a;
	const struct hp_edge *right = b;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Edges between the same nodes are merged whatever their kinds, since nothing distinguishes them.
 * Edges of tables are many, so the list is built block by block in order, which makes sorting
 * cheap. */
static void sort_edges(struct hp_cfg *cfg)
{
	uint32_t kept = 0;

	if (cfg->edge_count > 1)
		qsort(cfg->edges, cfg->edge_count, sizeof(*cfg->edges), compare_edges);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (kept == 0 || cfg->edges[i].from != cfg->edges[kept - 1].from ||
		    cfg->edges[i].to != cfg->edges[kept - 1].to)
			cfg->edges[kept++] = cfg->edges[i];
	cfg->edge_count = kept;
}

/* Sorts edges by (from, to, kind), drops duplicates, and sets first_out … in_edges. */
static bool graph_index(struct hp_cfg *cfg, struct hp_arena *arena)
{
	uint32_t at = 0;

	sort_edges(cfg);
	cfg->inner_edge_count = 0;
	for (uint32_t i = 0; i < cfg->node_count; i++)
		cfg->blocks[i].out_count = cfg->blocks[i].in_count = 0;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		cfg->blocks[cfg->edges[i].from].out_count++;
		cfg->blocks[cfg->edges[i].to].in_count++;
		cfg->inner_edge_count += cfg->edges[i].from < cfg->block_count &&
					 cfg->edges[i].to < cfg->block_count;
	}
	cfg->in_edges = hp_arena_array(arena, (size_t)cfg->edge_count + 1, sizeof(*cfg->in_edges));
	if (!cfg->in_edges)
		return false;
	for (uint32_t i = 0, out = 0; i < cfg->node_count; i++) {
		cfg->blocks[i].first_out = out;
		cfg->blocks[i].first_in = at;
		out += cfg->blocks[i].out_count;
		at += cfg->blocks[i].in_count;
		cfg->blocks[i].in_count = 0;
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		struct hp_block *to = &cfg->blocks[cfg->edges[i].to];

		cfg->in_edges[to->first_in + to->in_count++] = i;
	}
	return true;
}

struct connecting {
	struct hp_cfg *cfg;
	bool *seen;
	bool *tried;
	uint32_t *stack;
	uint32_t *next; /* by node on the stack: the next edge */
	uint32_t *post; /* nodes in postorder */
	struct hp_edge *added;
	uint32_t added_count;
};

/* Marks all nodes reachable from `node`, and appends them to `post`. */
static uint32_t reach(struct connecting *c, uint32_t node, uint32_t post_count)
{
	const struct hp_cfg *cfg = c->cfg;
	uint32_t depth = 0;

	if (c->seen[node])
		return post_count;
	c->seen[node] = true;
	c->stack[depth++] = node;
	c->next[node] = 0;
	while (depth > 0) {
		uint32_t top = c->stack[depth - 1];

		if (c->next[top] == cfg->blocks[top].out_count) {
			c->post[post_count++] = top;
			depth--;
			continue;
		}
		node = cfg->edges[cfg->blocks[top].first_out + c->next[top]++].to;
		if (c->seen[node])
			continue;
		c->seen[node] = true;
		c->next[node] = 0;
		c->stack[depth++] = node;
	}
	return post_count;
}

/* Marks all nodes that reach `node`. */
static void reach_back(struct connecting *c, uint32_t node, bool *seen)
{
	const struct hp_cfg *cfg = c->cfg;
	uint32_t depth = 0;

	seen[node] = true;
	c->stack[depth++] = node;
	while (depth > 0) {
		const struct hp_block *top = &cfg->blocks[c->stack[--depth]];

		for (uint32_t i = 0; i < top->in_count; i++) {
			uint32_t from = cfg->edges[cfg->in_edges[top->first_in + i]].from;

			if (!seen[from]) {
				seen[from] = true;
				c->stack[depth++] = from;
			}
		}
	}
}

/* Walks backwards in postorder: each walk that begins at an unseen node is from a loop without an
 * exit, and begins where that loop turns back. */
static void find_escapes(struct connecting *c, uint32_t count)
{
	struct hp_cfg *cfg = c->cfg;
	uint32_t *roots = c->next; /* not needed any more */
	uint32_t root_count = 0;

	memset(c->seen, 0, cfg->node_count * sizeof(*c->seen));
	reach_back(c, cfg->exit, c->seen);
	memcpy(c->tried, c->seen, cfg->node_count * sizeof(*c->seen));
	for (uint32_t i = 0; i < count; i++) {
		if (c->tried[c->post[i]])
			continue;
		roots[root_count++] = c->post[i];
		reach_back(c, c->post[i], c->tried);
	}
	while (root_count-- > 0) {
		if (c->seen[roots[root_count]])
			continue;
		c->added[c->added_count++] = (struct hp_edge){ .from = roots[root_count],
							       .to = cfg->exit,
							       .kind = HP_EDGE_ESCAPE };
		reach_back(c, roots[root_count], c->seen);
	}
}

static void find_missing(struct connecting *c)
{
	struct hp_cfg *cfg = c->cfg;
	uint32_t count = reach(c, cfg->entry, 0);

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (!c->seen[i])
			c->added[c->added_count++] = (struct hp_edge){ .from = cfg->entry,
								       .to = i,
								       .kind = HP_EDGE_ENTRY };
		count = reach(c, i, count);
	}
	find_escapes(c, count);
}

bool graph_connect(struct hp_cfg *cfg, struct hp_arena *arena)
{
	size_t nodes = cfg->node_count;
	struct connecting c = { .cfg = cfg };
	struct hp_edge *all;

	if (!graph_index(cfg, arena))
		return false;
	c.seen = hp_arena_array(arena, nodes, sizeof(*c.seen));
	c.tried = hp_arena_array(arena, nodes, sizeof(*c.tried));
	c.stack = hp_arena_array(arena, nodes, sizeof(*c.stack));
	c.next = hp_arena_array(arena, nodes, sizeof(*c.next));
	c.post = hp_arena_array(arena, nodes, sizeof(*c.post));
	c.added = hp_arena_array(arena, 2 * nodes, sizeof(*c.added));
	if (!c.seen || !c.tried || !c.stack || !c.next || !c.post || !c.added)
		return false;
	find_missing(&c);
	if (c.added_count == 0)
		return true;
	all = hp_arena_array(arena, (size_t)cfg->edge_count + c.added_count, sizeof(*all));
	if (!all)
		return false;
	memcpy(all, cfg->edges, cfg->edge_count * sizeof(*all));
	memcpy(all + cfg->edge_count, c.added, c.added_count * sizeof(*all));
	cfg->edges = all;
	cfg->edge_count += c.added_count;
	return graph_index(cfg, arena);
}
