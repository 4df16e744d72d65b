/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>

/* Runs the passes. The top of each pass's file states which earlier passes it requires. */
static bool analyze(const struct code *code, struct hp_cfg *cfg, struct hp_arena *arena)
{
	return graph_make_blocks(code, cfg) &&				/* blocks.c */
	       graph_connect(cfg, arena) &&				/* connect.c */
	       graph_order(cfg, arena) &&				/* order.c */
	       graph_dominators(cfg) &&					/* dominators.c */
	       graph_post_dominators(cfg) && graph_loops(cfg, arena) && /* loops.c */
	       graph_equivalence(cfg);					/* equivalence.c */
}

struct hp_error *hp_cfg_create(struct hp_cfg_image *image, const struct hp_procedure *procedure,
			       struct hp_arena *arena, struct hp_cfg **created)
{
	struct hp_cfg *cfg = hp_arena_alloc(arena, sizeof(*cfg));
	struct code code = { 0 };
	struct hp_error *error;

	*created = NULL;
	if (!cfg)
		return hp_error_create_no_memory();
	error = code_open(image, procedure, arena, &code); /* code.c */
	if (!error)
		error = code_discover(&code); /* code.c, indirect.c, returns.c */
	if (!error) {
		cfg->isa = image->isa;
		cfg->procedure = procedure->owner;
		if (!analyze(&code, cfg, arena))
			error = hp_error_create_no_memory();
	}
	code_close(&code);
	if (!error)
		*created = cfg;
	return hp_error_wrap(error, "control flow of %s", procedure->name);
}

uint32_t hp_cfg_block_at(const struct hp_cfg *cfg, hp_link_address address)
{
	size_t after =
		hp_bisect(i, cfg->block_count, cfg->blocks[i].address.value <= address.value);

	if (after == 0 ||
	    address.value - cfg->blocks[after - 1].address.value >= cfg->blocks[after - 1].bytes)
		return HP_CFG_NONE;
	return (uint32_t)after - 1;
}

/* Blocks are sorted by address, and the edges of a block by target, so binary search finds an edge
 * of a jump with thousands. */
uint32_t hp_cfg_edge_between(const struct hp_cfg *cfg, hp_link_address from, hp_link_address to)
{
	uint32_t block = hp_cfg_block_at(cfg, from);
	uint32_t target = hp_cfg_block_at(cfg, to);
	const struct hp_edge *edges;
	size_t at;

	if (block == HP_CFG_NONE || target == HP_CFG_NONE ||
	    cfg->blocks[target].address.value != to.value)
		return HP_CFG_NONE;
	edges = cfg->edges + cfg->blocks[block].first_out;
	at = hp_bisect(i, cfg->blocks[block].out_count, edges[i].to < target);
	if (at == cfg->blocks[block].out_count || edges[at].to != target)
		return HP_CFG_NONE;
	return cfg->blocks[block].first_out + (uint32_t)at;
}

bool hp_cfg_is_in_loop(const struct hp_cfg *cfg, uint32_t node, uint32_t loop)
{
	uint32_t around = cfg->blocks[node].loop;

	return around != HP_CFG_NONE &&
	       cfg->loops[around].first - cfg->loops[loop].first < cfg->loops[loop].size;
}

const char *hp_edge_kind_name(enum hp_edge_kind kind)
{
	static const char *const names[] = {
		[HP_EDGE_FALL] = "fall",       [HP_EDGE_JUMP] = "jump",	  [HP_EDGE_TABLE] = "table",
		[HP_EDGE_LANDING] = "landing", [HP_EDGE_ENTRY] = "entry", [HP_EDGE_EXIT] = "exit",
		[HP_EDGE_ESCAPE] = "escape",
	};

	return kind < HP_ARRAY_COUNT(names) && names[kind] ? names[kind] : "?";
}
