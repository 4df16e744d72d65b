/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control-flow graphs of code that somebody else made: of a whole ELF file's procedures, or of any
 * bytes, which are then the only procedure of a file made around them. What a graph claims of
 * itself is checked.
 */
#include "fuzz.h"
#include "graphs.h"

#include <stdlib.h>

enum { PROCEDURES_ASKED = 128 };

static void check_node(const struct hp_cfg *cfg, uint32_t node)
{
	const struct hp_block *block = &cfg->blocks[node];

	if ((block->dominator == HP_CFG_NONE) != (node == cfg->entry) ||
	    (block->post_dominator == HP_CFG_NONE) != (node == cfg->exit) ||
	    (block->loop != HP_CFG_NONE && block->loop >= cfg->loop_count) ||
	    block->class >= cfg->class_count || cfg->order[block->position] != node)
		abort();
	if (node < cfg->block_count && (block->bytes == 0 || block->instructions == 0))
		abort();
	if (node + 1 < cfg->block_count &&
	    block->address.value >= cfg->blocks[node + 1].address.value)
		abort();
}

static void check(const struct hp_cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->node_count; i++)
		check_node(cfg, i);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (cfg->edges[i].from >= cfg->node_count || cfg->edges[i].to >= cfg->node_count ||
		    cfg->edges[i].class >= cfg->class_count || cfg->edges[i].from == cfg->exit ||
		    cfg->edges[i].to == cfg->entry)
			abort();
	for (uint32_t i = 0; i < cfg->loop_count; i++)
		if (cfg->loops[i].header >= cfg->node_count ||
		    (cfg->loops[i].parent != HP_CFG_NONE && cfg->loops[i].parent >= i))
			abort();
}

static void check_graph(struct hp_image *image, const struct hp_cfg *cfg, struct hp_arena *arena,
			void *context)
{
	(void)image, (void)arena, (void)context;
	check(cfg);
}

/* As if all of them had samples. Owners own themselves, or graphs would share code. */
static void join_cold_parts(struct hp_image *image)
{
	hp_link_address addresses[PROCEDURES_ASKED];
	const struct hp_procedure *const *procedures;
	size_t count;

	hp_image_procedures(image, &procedures, &count);
	for (size_t i = 0; i < count && i < PROCEDURES_ASKED; i++)
		addresses[i] = procedures[i]->address;
	hp_error_destroy(hp_cfg_join_cold_parts(
		image, addresses, count < PROCEDURES_ASKED ? count : PROCEDURES_ASKED));
	for (size_t i = 0; i < count; i++)
		if (procedures[i]->owner->owner != procedures[i]->owner)
			abort();
}

static void ask(struct hp_image *image)
{
	join_cold_parts(image);
	fuzz_graphs(image, PROCEDURES_ASKED, &(struct fuzz_visitor){ .visit = check_graph });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_with_image(data, size, ask);
	return 0;
}
