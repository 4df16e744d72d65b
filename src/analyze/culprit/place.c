/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place.h"
#include "../tuning.h"

#include <string.h>

/* Whether the instruction adds a constant to this register, and how much. */
static bool moves_by(const struct hp_isa *isa, const struct hp_insn *insn, unsigned number,
		     int64_t *by)
{
	const struct hp_operand *to = &insn->operands[0];
	const char *name;

	if (insn->operand_count == 0 || to->type != HP_OPERAND_REGISTER || to->number != number)
		return false;
	if ((insn->operation == HP_OPERATION_ADD || insn->operation == HP_OPERATION_SUBTRACT) &&
	    insn->operand_count >= 2 && insn->operands[1].type == HP_OPERAND_IMMEDIATE) {
		*by = insn->operands[1].immediate;
		return true;
	}
	if (insn->operation == HP_OPERATION_ADDRESS && insn->memory_count == 1 &&
	    insn->memories[0].base == number && insn->memories[0].index == HP_REGISTER_NONE) {
		*by = insn->memories[0].displacement;
		return true;
	}
	name = isa->mnemonic(insn->mnemonic);
	*by = 1;
	return strcmp(name, "inc") == 0 || strcmp(name, "dec") == 0;
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void add_writes(const struct hp_isa *isa, const struct hp_insn *insn,
		       struct loop_facts *loop)
{
	bool is_call = insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT;
	int64_t by;

	for (unsigned number = 0; number < GENERAL_REGISTERS; number++) {
		if (!hp_register_in(&insn->written, number) &&
		    !(is_call && hp_register_in(&isa->call_clobbers, number)))
			continue;
		if (loop->writes[number] == UINT8_MAX)
			continue;
		loop->writes[number]++;
		if (!moves_by(isa, insn, number, &by))
			continue;
		loop->moves[number]++;
		if (magnitude(by) > loop->farthest[number])
			loop->farthest[number] = magnitude(by);
	}
}

static bool is_within(const struct hp_cfg *cfg, uint32_t block, uint32_t loop)
{
	uint32_t around = cfg->blocks[block].loop;

	for (unsigned up = 0; up < DEEPEST_LOOP && around != HP_CFG_NONE && around != loop; up++)
		around = cfg->loops[around].parent;
	return around == loop;
}

static bool has_frame_pointer(const struct facts *facts)
{
	const struct hp_isa *isa = facts->cfg->isa;

	for (uint32_t i = 0; i < facts->analysis->insn_count && i < PROLOGUE_INSNS; i++) {
		const struct hp_insn *insn = facts_insn(facts, i)->insn;

		if (insn->operation == HP_OPERATION_MOVE && insn->operand_count >= 2 &&
		    insn->operands[0].type == HP_OPERAND_REGISTER &&
		    insn->operands[1].type == HP_OPERAND_REGISTER &&
		    insn->operands[0].number == isa->frame_pointer &&
		    insn->operands[1].number == isa->stack_pointer)
			return true;
	}
	return false;
}

/* Covers all loops in one pass: each block adds to all loops around it. */
struct hp_error *place_prepare(struct facts *facts, struct hp_arena *arena)
{
	const struct hp_cfg *cfg = facts->cfg;
	const struct hp_analysis *analysis = facts->analysis;
	struct loop_facts *loops = hp_arena_array(arena, cfg->loop_count + 1, sizeof(*loops));

	if (!loops)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		uint32_t around = cfg->blocks[i].loop;

		for (unsigned up = 0; up < DEEPEST_LOOP && around != HP_CFG_NONE; up++) {
			for (uint32_t k = 0; k < analysis->blocks[i].insn_count; k++)
				add_writes(cfg->isa,
					   analysis->insns[analysis->blocks[i].first_insn + k].insn,
					   &loops[around]);
			around = cfg->loops[around].parent;
		}
	}
	for (uint32_t loop = 0; loop < cfg->loop_count; loop++) {
		const struct hp_block *header = &cfg->blocks[cfg->loops[loop].header];

		for (uint32_t i = 0; i < header->in_count; i++) {
			uint32_t edge = cfg->in_edges[header->first_in + i];

			if (!is_within(cfg, cfg->edges[edge].from, loop))
				loops[loop].entries += analysis->edges[edge].relative;
		}
	}
	facts->loops = loops;
	facts->has_frame = has_frame_pointer(facts);
	return NULL;
}

/* Facts of the innermost loop around the block; NULL outside of loops. */
static const struct loop_facts *loop_of(const struct facts *facts, uint32_t block)
{
	uint32_t loop = facts->cfg->blocks[block].loop;

	return loop == HP_CFG_NONE ? NULL : &facts->loops[loop];
}

static struct place anywhere(enum place_kind kind)
{
	return (struct place){ .kind = (uint8_t)kind, .fresh = 1 };
}

static bool is_stack(const struct facts *facts, unsigned number)
{
	const struct hp_isa *isa = facts->cfg->isa;

	return number == isa->stack_pointer || (facts->has_frame && number == isa->frame_pointer);
}

/* What is known of an address that one register holds when the instruction at `position` reads
 * it. */
static struct place value_of(const struct facts *facts, const struct path *path, uint32_t position,
			     unsigned number)
{
	uint32_t block = facts_insn(facts, path->insns[position])->block;
	const struct loop_facts *loop = loop_of(facts, block);

	for (unsigned steps = 0; steps < LONGEST_CHAIN; steps++) {
		uint32_t at;
		const struct hp_insn *insn;

		if (number >= GENERAL_REGISTERS)
			return anywhere(PLACE_ANY);
		if (is_stack(facts, number))
			return anywhere(PLACE_STACK);
		if (loop && loop->writes[number] == 0)
			return anywhere(PLACE_SAME);
		at = path_writer(facts, path, position, number);
		if (at == 0)
			return anywhere(PLACE_ANY);
		insn = facts_insn(facts, path->insns[at])->insn;
		/* This also holds where each of several ways round the loop moves the register. */
		if (loop && loop->writes[number] == loop->moves[number])
			return (struct place){ .kind = PLACE_STRIDE,
					       .bytes = loop->farthest[number],
					       .fresh = 1 };
		if (insn->is_zeroing)
			return anywhere(PLACE_SAME);
		if (insn->operation == HP_OPERATION_AND &&
		    insn->operands[1].type == HP_OPERAND_IMMEDIATE &&
		    insn->operands[0].type == HP_OPERAND_REGISTER &&
		    insn->operands[1].immediate >= 0)
			return (struct place){
				.kind = PLACE_BOUNDED,
				.bytes = (uint64_t)insn->operands[1].immediate + 1,
				.fresh = 1,
			};
		if (insn->operation == HP_OPERATION_MOVE && insn->operand_count >= 2 &&
		    insn->operands[0].number == number) {
			const struct hp_operand *from = &insn->operands[1];

			if (from->bytes <= 2 && insn->operands[0].bytes >= 4)
				return (struct place){ .kind = PLACE_BOUNDED,
						       .bytes = from->bytes == 1 ? 256 : 65536,
						       .fresh = 1 };
			if (from->type == HP_OPERAND_REGISTER) {
				number = from->number;
				position = at;
				continue;
			}
			if (from->type == HP_OPERAND_IMMEDIATE)
				return anywhere(PLACE_SAME);
		}
		for (size_t i = 0; i < insn->memory_count; i++)
			if (insn->memories[i].access & HP_ACCESS_READ)
				return anywhere(PLACE_CHASED);
		return anywhere(PLACE_ANY);
	}
	return anywhere(PLACE_ANY);
}

/* Within a loop, a constant address is new only in the first iteration. */
static double freshness(const struct facts *facts, uint32_t block)
{
	const struct loop_facts *loop = loop_of(facts, block);
	double inside = facts_relative(facts, block);

	if (!loop || !(inside > 0))
		return 1;
	return loop->entries < inside ? loop->entries / inside : 1;
}

struct place place_of(const struct facts *facts, const struct path *path, uint32_t position,
		      const struct hp_memory *memory)
{
	uint32_t block = facts_insn(facts, path->insns[position])->block;
	bool has_index = memory->index != HP_REGISTER_NONE;
	struct place base = anywhere(PLACE_FIXED);
	struct place index = anywhere(PLACE_STACK); /* the base alone decides */
	struct place place;

	if (memory->segment != HP_REGISTER_NONE && memory->base == HP_REGISTER_NONE && !has_index) {
		place = anywhere(PLACE_FIXED);
	} else {
		if (memory->base < HP_REGISTER_COUNT)
			base = value_of(facts, path, position, memory->base);
		if (has_index) {
			index = value_of(facts, path, position, memory->index);
			index.bytes *= memory->scale;
		}
		if (has_index && index.kind == PLACE_CHASED)
			index.kind = PLACE_ANY;
		/* Kinds are ordered by how little they tell, so the one that tells less counts. A
		 * constant base with an index of known range is a table of that size. */
		place = index.kind > base.kind ? index : base;
		if (base.kind == PLACE_BOUNDED && !has_index)
			place = anywhere(PLACE_ANY); /* a pointer of which bits are masked off */
		if (base.kind == PLACE_STRIDE && index.kind == PLACE_STRIDE)
			place.bytes = base.bytes + index.bytes;
	}
	if (place.kind <= PLACE_SAME)
		place.fresh = place.kind == PLACE_STACK ? 0 : freshness(facts, block);
	else if (place.kind == PLACE_BOUNDED)
		place.fresh = freshness(facts, block);
	if (place.fresh > 1)
		place.fresh = 1;
	return place;
}

double place_crossings(const struct place *place, uint64_t unit_bytes)
{
	switch ((enum place_kind)place->kind) {
	case PLACE_STACK:
		return 0;
	case PLACE_FIXED:
	case PLACE_SAME:
		return place->fresh;
	case PLACE_STRIDE:
		return place->bytes < unit_bytes ? (double)place->bytes / (double)unit_bytes : 1;
	case PLACE_BOUNDED:
	case PLACE_CHASED:
	case PLACE_ANY:
		break;
	}
	return 1;
}
