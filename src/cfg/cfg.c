/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph.h"

#include <hpcprof/base/search.h>

/* The passes. What each needs of those before it is said at the top of its file. */
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
