/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graphs.h"

#include <string.h>

static struct hp_cfg *empty(struct hp_arena *arena, uint32_t blocks, size_t edges)
{
	struct hp_cfg *cfg = hp_arena_alloc(arena, sizeof(*cfg));

	cfg->block_count = blocks;
	cfg->entry = blocks;
	cfg->exit = blocks + 1;
	cfg->node_count = blocks + 2;
	cfg->blocks = hp_arena_array(arena, cfg->node_count, sizeof(*cfg->blocks));
	cfg->edges = hp_arena_array(arena, edges + 1, sizeof(*cfg->edges));
	cfg->edges[cfg->edge_count++] =
		(struct hp_edge){ .from = cfg->entry, .to = 0, .kind = HP_EDGE_ENTRY };
	return cfg;
}

static void add(struct hp_cfg *cfg, uint32_t from, uint32_t to)
{
	enum hp_edge_kind kind = to == cfg->exit ? HP_EDGE_EXIT : HP_EDGE_JUMP;

	cfg->edges[cfg->edge_count++] =
		(struct hp_edge){ .from = from, .to = to, .kind = (uint8_t)kind };
}

struct hp_cfg *graph_of(struct hp_arena *arena, uint32_t blocks, const uint32_t (*edges)[2],
			size_t count)
{
	struct hp_cfg *cfg = empty(arena, blocks, count);

	for (size_t i = 0; i < count; i++)
		add(cfg, edges[i][0], edges[i][1] == EXIT ? cfg->exit : edges[i][1]);
	return cfg;
}

struct hp_cfg *random_graph(struct hp_arena *arena, struct hp_random *random, uint32_t most_blocks)
{
	uint32_t blocks = (uint32_t)hp_random_between(random, 1, most_blocks);
	size_t edges = hp_random_between(random, 0, 2 * blocks);
	size_t exits = hp_random_between(random, 0, blocks / 3);
	struct hp_cfg *cfg = empty(arena, blocks, edges + exits);

	for (size_t i = 0; i < edges; i++) {
		uint32_t from = (uint32_t)hp_random_between(random, 0, blocks - 1);
		bool goes_on = hp_random_between(random, 0, 2) > 0 && from + 1 < blocks;

		add(cfg, from,
		    goes_on ? from + 1 : (uint32_t)hp_random_between(random, 0, blocks - 1));
	}
	for (size_t i = 0; i < exits; i++)
		add(cfg, (uint32_t)hp_random_between(random, 0, blocks - 1), cfg->exit);
	return cfg;
}

bool run_passes(struct hp_cfg *cfg, struct hp_arena *arena)
{
	return graph_connect(cfg, arena) && graph_order(cfg, arena) && graph_dominators(cfg) &&
	       graph_post_dominators(cfg) && graph_loops(cfg, arena) && graph_equivalence(cfg);
}

void reach_without(const struct hp_cfg *cfg, uint32_t from, bool is_backward, uint32_t without,
		   bool *reached)
{
	bool grown = true;

	memset(reached, 0, cfg->node_count);
	if (from == without)
		return;
	reached[from] = true;
	while (grown) {
		grown = false;
		for (uint32_t i = 0; i < cfg->edge_count; i++) {
			uint32_t start = is_backward ? cfg->edges[i].to : cfg->edges[i].from;
			uint32_t end = is_backward ? cfg->edges[i].from : cfg->edges[i].to;

			if (reached[start] && !reached[end] && end != without)
				reached[end] = grown = true;
		}
	}
}
