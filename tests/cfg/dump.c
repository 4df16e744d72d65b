/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dump.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>

const char *block_end_name(enum hp_block_end end)
{
	static const char *const names[] = {
		[HP_END_FALL] = "fall",
		[HP_END_JUMP] = "jump",
		[HP_END_CONDITIONAL] = "conditional",
		[HP_END_TABLE] = "table",
		[HP_END_UNRESOLVED] = "unresolved",
		[HP_END_TAIL_CALL] = "tail call",
		[HP_END_RETURN] = "return",
		[HP_END_CALL] = "call",
		[HP_END_NO_RETURN] = "no return",
		[HP_END_TRAP] = "trap",
		[HP_END_UNDECODABLE] = "undecodable",
		[HP_END_OUT] = "out",
	};

	return end < HP_ARRAY_COUNT(names) && names[end] ? names[end] : "?";
}

static void print_node(const struct hp_cfg *cfg, uint32_t node, FILE *stream)
{
	if (node == HP_CFG_NONE)
		fprintf(stream, "-");
	else if (node == cfg->entry)
		fprintf(stream, "entry");
	else if (node == cfg->exit)
		fprintf(stream, "exit");
	else
		fprintf(stream, "%" PRIu32, node);
}

/* Relative to the procedure, so that a dump does not change with what surrounds it. */
static void print_place(const struct hp_cfg *cfg, hp_link_address address, FILE *stream)
{
	uint64_t start = cfg->procedure->address.value;

	if (address.value >= start)
		fprintf(stream, "+0x%" PRIx64, address.value - start);
	else
		fprintf(stream, "-0x%" PRIx64, start - address.value);
}

static void print_block(const struct hp_cfg *cfg, uint32_t number, FILE *stream)
{
	const struct hp_block *block = &cfg->blocks[number];

	fprintf(stream, "block %" PRIu32 " ", number);
	print_place(cfg, block->address, stream);
	fprintf(stream, " %" PRIu32 " instructions, %s, class %" PRIu32 ", dominator ",
		block->instructions, block_end_name((enum hp_block_end)block->end), block->class);
	print_node(cfg, block->dominator, stream);
	fprintf(stream, ", post-dominator ");
	print_node(cfg, block->post_dominator, stream);
	if (block->loop != HP_CFG_NONE)
		fprintf(stream, ", loop %" PRIu32, block->loop);
	fprintf(stream, block->is_orphan ? ", orphan\n" : "\n");
}

void cfg_dump(const struct hp_cfg *cfg, FILE *stream)
{
	fprintf(stream,
		"%s: %" PRIu32 " blocks, %" PRIu32 " edges, %" PRIu32 " loops, %" PRIu32
		" classes%s%s\n",
		cfg->procedure->name, cfg->block_count, cfg->inner_edge_count, cfg->loop_count,
		cfg->class_count, cfg->missing_edges ? ", missing edges" : "",
		cfg->is_undecodable ? ", undecodable" : "");
	for (uint32_t i = 0; i < cfg->block_count; i++)
		print_block(cfg, i, stream);
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];

		fprintf(stream, "edge ");
		print_node(cfg, edge->from, stream);
		fprintf(stream, " ");
		print_node(cfg, edge->to, stream);
		fprintf(stream, " %s, class %" PRIu32 "\n",
			hp_edge_kind_name((enum hp_edge_kind)edge->kind), edge->class);
	}
	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		const struct hp_loop *loop = &cfg->loops[i];

		fprintf(stream, "loop %" PRIu32 " header %" PRIu32 ", depth %" PRIu32, i,
			loop->header, loop->depth);
		if (loop->parent != HP_CFG_NONE)
			fprintf(stream, ", in loop %" PRIu32, loop->parent);
		fprintf(stream, loop->is_irreducible ? ", irreducible\n" : "\n");
	}
}
