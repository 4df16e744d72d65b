/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	the code discovered, leaders marked, indirect jumps looked into
 * provides	blocks by address, and edges in no order
 */
#include "graph.h"

#include <hpcprof/base/search.h>

#include <string.h>

struct making {
	const struct code *code;
	struct hp_cfg *cfg;
	HP_VECTOR(struct hp_block) blocks;
	HP_VECTOR(uint32_t) lasts; /* position of each block's last instruction */
	HP_VECTOR(struct hp_edge) edges;
	bool is_short_of_memory;
};

static void add_edge(struct making *making, uint32_t from, uint32_t to, enum hp_edge_kind kind)
{
	if (making->edges.count >= MOST_EDGES)
		making->cfg->missing_edges = true; /* no known code is like this */
	else if (!hp_vector_push(&making->edges,
				 (struct hp_edge){ .from = from, .to = to, .kind = (uint8_t)kind }))
		making->is_short_of_memory = true;
}

static uint32_t block_starting_at(const struct making *making, uint64_t address)
{
	size_t first =
		hp_bisect(i, making->blocks.count, making->blocks.at[i].address.value < address);

	return first < making->blocks.count && making->blocks.at[first].address.value == address
		       ? (uint32_t)first
		       : HP_CFG_NONE;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void make_block(struct making *making, const struct code_part *part, uint32_t start)
{
	const struct code *code = making->code;
	uint32_t end = part->base + part->size;
	uint32_t last = start;
	struct hp_block block = { .address.value = part->address + (start - part->base),
				  .instructions = 1 };

	for (;;) {
		uint32_t next = last + code->lengths[last];

		if ((code->marks[last] & MARK_ENDS) || next >= end || !code->lengths[next] ||
		    (code->marks[next] & MARK_LEADER))
			break;
		last = next;
		block.instructions++;
	}
	block.bytes = last + code->lengths[last] - start;
	if (!hp_vector_push(&making->blocks, block) || !hp_vector_push(&making->lasts, last))
		making->is_short_of_memory = true;
}

static void make_blocks(struct making *making)
{
	const struct code *code = making->code;

	for (size_t i = 0; i < code->parts.count; i++) {
		const struct code_part *part = &code->parts.at[i];

		for (uint32_t at = part->base; at < part->base + part->size; at++)
			if ((code->marks[at] & MARK_LEADER) && code->lengths[at]) {
				making->cfg->missing_edges |= making->blocks.count >= MOST_BLOCKS;
				if (making->blocks.count < MOST_BLOCKS)
					make_block(making, part, at);
			}
	}
}

/* --- edges ------------------------------------------------------------------------------------ */

/* Adds an edge to the block that begins there, or to the exit if none does. */
static bool add_edge_to(struct making *making, uint32_t from, uint64_t address,
			enum hp_edge_kind kind)
{
	uint32_t to = block_starting_at(making, address);

	if (to == HP_CFG_NONE) {
		add_edge(making, from, making->cfg->exit, HP_EDGE_EXIT);
		return false;
	}
	add_edge(making, from, to, kind);
	return true;
}

static const struct indirect *find_indirect(const struct code *code, uint32_t at)
{
	size_t first = hp_bisect(i, code->indirects.count, code->indirects.at[i].at < at);

	return first < code->indirects.count && code->indirects.at[first].at == at
		       ? &code->indirects.at[first]
		       : NULL;
}

static enum hp_block_end end_indirect(struct making *making, uint32_t block, uint32_t last)
{
	const struct code *code = making->code;
	const struct indirect *jump = find_indirect(code, last);

	if (!jump || !jump->is_resolved) {
		if (making->cfg->unresolved_jumps++ == 0)
			making->cfg->unresolved.value = code_address(code, last);
		making->cfg->missing_edges = true;
		add_edge(making, block, making->cfg->exit, HP_EDGE_EXIT);
		return HP_END_UNRESOLVED;
	}
	making->cfg->missing_edges |= jump->is_partial || making->edges.count >= MOST_EDGES;
	for (uint32_t i = 0; i < jump->target_count && making->edges.count < MOST_EDGES; i++)
		add_edge_to(making, block,
			    code_address(code, code->targets.at[jump->first_target + i]),
			    HP_EDGE_TABLE);
	if (jump->goes_out)
		add_edge(making, block, making->cfg->exit, HP_EDGE_EXIT);
	return jump->target_count ? HP_END_TABLE : HP_END_TAIL_CALL;
}

static void add_landing(struct making *making, uint32_t block, const struct code_part *part,
			uint64_t address)
{
	const struct hp_landing *landing = code_landing_of(part, address);

	if (landing && block_starting_at(making, landing->landing) != HP_CFG_NONE)
		add_edge_to(making, block, landing->landing, HP_EDGE_LANDING);
}

static enum hp_block_end end_plain(struct making *making, uint32_t block, uint64_t next,
				   uint32_t last)
{
	const struct code *code = making->code;
	uint32_t position = code_position(code, next);
	bool is_call = (code->marks[last] & MARK_KIND) == HP_INSN_CALL ||
		       (code->marks[last] & MARK_KIND) == HP_INSN_CALL_INDIRECT;

	if (add_edge_to(making, block, next, HP_EDGE_FALL))
		return is_call && (code->marks[last] & MARK_ENDS) ? HP_END_CALL : HP_END_FALL;
	return position == NOWHERE ? HP_END_OUT : HP_END_UNDECODABLE;
}

static enum hp_block_end end_block(struct making *making, uint32_t block, uint32_t last)
{
	const struct code *code = making->code;
	const struct code_part *part = code_part_of(code, last);
	uint32_t offset = last - part->base;
	uint64_t address = part->address + offset;
	uint64_t next = address + code->lengths[last];
	struct hp_flow flow;

	if (!code->shared->isa->flow(part->bytes + offset, part->size - offset, address, &flow))
		return HP_END_UNDECODABLE;
	switch ((enum hp_insn_kind)flow.kind) {
	case HP_INSN_CALL:
	case HP_INSN_CALL_INDIRECT:
		if (code->marks[last] & MARK_ENDS)
			add_landing(making, block, part, address);
		break;
	case HP_INSN_CONDITIONAL:
		add_edge_to(making, block, flow.target, HP_EDGE_JUMP);
		add_edge_to(making, block, next, HP_EDGE_FALL);
		return HP_END_CONDITIONAL;
	case HP_INSN_JUMP:
		return add_edge_to(making, block, flow.target, HP_EDGE_JUMP) ? HP_END_JUMP
									     : HP_END_TAIL_CALL;
	case HP_INSN_JUMP_INDIRECT:
		return end_indirect(making, block, last);
	case HP_INSN_RETURN:
		add_edge(making, block, making->cfg->exit, HP_EDGE_EXIT);
		return HP_END_RETURN;
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
		add_edge(making, block, making->cfg->exit, HP_EDGE_EXIT);
		return HP_END_TRAP;
	case HP_INSN_PLAIN:
	case HP_INSN_SYSCALL:
		break;
	}
	if (code->marks[last] & MARK_NO_RETURN) {
		add_edge(making, block, making->cfg->exit, HP_EDGE_EXIT);
		return HP_END_NO_RETURN;
	}
	return end_plain(making, block, next, last);
}

static void make_entries(struct making *making)
{
	const struct code *code = making->code;
	uint32_t first = block_starting_at(making, code->procedure->address.value);

	for (size_t i = 0; i < code->runs.count; i++) {
		uint32_t block =
			code->runs.at[i].is_orphan
				? block_starting_at(making,
						    code_address(code, code->runs.at[i].start))
				: HP_CFG_NONE;

		if (block < making->blocks.count)
			making->blocks.at[block].is_orphan = true;
	}
	for (uint32_t i = 0; i < making->blocks.count; i++) {
		uint32_t position = code_position(code, making->blocks.at[i].address.value);

		if (i == first || (code->marks[position] & MARK_ENTERED))
			add_edge(making, making->cfg->entry, i, HP_EDGE_ENTRY);
	}
}

static bool hand_over(struct making *making)
{
	struct hp_cfg *cfg = making->cfg;

	cfg->blocks =
		hp_arena_array(making->code->arena, making->blocks.count + 2, sizeof(*cfg->blocks));
	cfg->edges =
		hp_arena_array(making->code->arena, making->edges.count + 1, sizeof(*cfg->edges));
	if (!cfg->blocks || !cfg->edges)
		return false;
	if (making->blocks.count)
		memcpy(cfg->blocks, making->blocks.at, making->blocks.count * sizeof(*cfg->blocks));
	if (making->edges.count)
		memcpy(cfg->edges, making->edges.at, making->edges.count * sizeof(*cfg->edges));
	cfg->edge_count = (uint32_t)making->edges.count;
	return true;
}

bool graph_make_blocks(const struct code *code, struct hp_cfg *cfg)
{
	struct making making = { .code = code, .cfg = cfg };
	bool fine;

	cfg->missing_edges = code->is_truncated || code->undecodable;
	cfg->is_undecodable = code->undecodable != 0;
	cfg->undecodable.value = code->undecodable;
	make_blocks(&making);
	cfg->block_count = (uint32_t)making.blocks.count;
	cfg->entry = cfg->block_count;
	cfg->exit = cfg->block_count + 1;
	cfg->node_count = cfg->block_count + 2;
	for (uint32_t i = 0; i < cfg->block_count && !making.is_short_of_memory; i++)
		making.blocks.at[i].end = (uint8_t)end_block(&making, i, making.lasts.at[i]);
	if (!making.is_short_of_memory)
		make_entries(&making);
	fine = !making.is_short_of_memory && hand_over(&making);
	hp_vector_free(&making.blocks);
	hp_vector_free(&making.lasts);
	hp_vector_free(&making.edges);
	return fine;
}
