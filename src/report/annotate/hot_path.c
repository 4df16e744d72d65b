/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hot_path.h"

#include <math.h>
#include <string.h>

/* A heap of nodes, the widest path on top. A node is added each time its path becomes wider. */
struct entry {
	double width;
	uint32_t hops;
	uint32_t node;
};

struct search {
	const struct hp_analysis *analysis;
	struct entry *heap;
	size_t count;
	double *width; /* width of the best path to each node; negative: none yet */
	/* length of that path; of two that are equally wide, the shorter one is kept */
	uint32_t *hops;
	uint32_t *edge; /* the last edge of that path */
	struct hot_path *path;
};

static bool comes_first(const struct entry *a, const struct entry *b)
{
	if (a->width > b->width || a->width < b->width)
		return a->width > b->width;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	return a->node < b->node;
}

static void swap(struct entry *a, struct entry *b)
{
	struct entry kept = *a;

	*a = *b;
	*b = kept;
}

static void push(struct search *search, struct entry entry)
{
	size_t at = search->count++;

	search->heap[at] = entry;
	for (; at > 0 && comes_first(&search->heap[at], &search->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		swap(&search->heap[at], &search->heap[(at - 1) / 2]);
}

static struct entry pop(struct search *search)
{
	struct entry top = search->heap[0];
	size_t at = 0;

	search->heap[0] = search->heap[--search->count];
	for (;;) {
		size_t first = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < search->count &&
			    comes_first(&search->heap[child], &search->heap[first]))
				first = child;
		if (first == at)
			return top;
		swap(&search->heap[first], &search->heap[at]);
		at = first;
	}
}

static void widen(struct search *search, const struct entry *from, uint32_t number)
{
	const struct hp_edge *edge = &search->analysis->cfg->edges[number];
	double frequency = search->analysis->edges[number].relative;
	struct entry entry = { fmin(from->width, frequency), from->hops + 1, edge->to };
	struct entry known = { search->width[edge->to], search->hops[edge->to], edge->to };

	if (edge->kind == HP_EDGE_ESCAPE || !(frequency > 0) || !comes_first(&entry, &known))
		return;
	search->width[edge->to] = entry.width;
	search->hops[edge->to] = entry.hops;
	search->edge[edge->to] = number;
	push(search, entry);
}

/* Marks the widest path from one node to another, or round a cycle if they are the same. */
static bool mark(struct search *search, uint32_t from, uint32_t to)
{
	const struct hp_cfg *cfg = search->analysis->cfg;
	struct entry start = { INFINITY, 0, from };

	search->count = 0;
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		search->width[i] = -1;
		search->hops[i] = UINT32_MAX;
		search->edge[i] = HP_CFG_NONE;
	}
	push(search, start);
	while (search->count) {
		struct entry at = pop(search);
		const struct hp_block *block = &cfg->blocks[at.node];

		if (at.node == to && at.hops)
			break;
		if (at.hops &&
		    (at.width < search->width[at.node] || at.hops != search->hops[at.node]))
			continue;
		for (uint32_t i = 0; i < block->out_count; i++)
			widen(search, &at, block->first_out + i);
	}
	if (search->edge[to] == HP_CFG_NONE)
		return false;
	/* Follows the edges backwards, at most as many as there are nodes. */
	for (uint32_t node = to, steps = 0; steps < cfg->node_count; steps++) {
		uint32_t number = search->edge[node];

		search->path->edges[number] = true;
		search->path->blocks[node] = true;
		node = cfg->edges[number].from;
		search->path->blocks[node] = true;
		if (node == from)
			break;
	}
	return true;
}

static uint32_t hottest_block(const struct hp_analysis *analysis)
{
	uint32_t hottest = HP_CFG_NONE;

	for (uint32_t i = 0; i < analysis->cfg->block_count; i++)
		if (analysis->blocks[i].cycles > 0 &&
		    (hottest == HP_CFG_NONE ||
		     analysis->blocks[i].cycles > analysis->blocks[hottest].cycles))
			hottest = i;
	return hottest;
}

struct hp_error *hot_path_find(const struct hp_analysis *analysis, struct hp_arena *arena,
			       struct hot_path *path)
{
	const struct hp_cfg *cfg = analysis->cfg;
	uint32_t hottest = hottest_block(analysis);
	struct search search = { .analysis = analysis, .path = path };

	path->blocks = hp_arena_array(arena, cfg->node_count, sizeof(*path->blocks));
	path->edges = hp_arena_array(arena, (size_t)cfg->edge_count + 1, sizeof(*path->edges));
	search.heap = hp_arena_array(arena, (size_t)cfg->edge_count + 1, sizeof(*search.heap));
	search.width = hp_arena_array(arena, cfg->node_count, sizeof(*search.width));
	search.hops = hp_arena_array(arena, cfg->node_count, sizeof(*search.hops));
	search.edge = hp_arena_array(arena, cfg->node_count, sizeof(*search.edge));
	if (!path->blocks || !path->edges || !search.heap || !search.width || !search.hops ||
	    !search.edge)
		return hp_error_create_no_memory();
	if (hottest == HP_CFG_NONE || !isfinite(analysis->blocks[hottest].frequency.relative))
		return NULL;
	path->blocks[hottest] = true;
	mark(&search, cfg->entry, hottest);
	if (cfg->blocks[hottest].loop != HP_CFG_NONE)
		mark(&search, hottest, hottest);
	mark(&search, hottest, cfg->exit);
	return NULL;
}
