/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes in stores: a full store buffer, and loads that need bytes of several earlier stores.
 *
 * The store buffer is cleared if no store is within the reach of the reorder buffer, or only stores
 * that certainly hit: to the stack, to a constant address, to a small table. Forwarding is cleared
 * unless the operands prove that the load overlaps an earlier store that does not contain all of
 * it: same base, known constants, and no other change of the base in between.
 */
#include "causes.h"
#include "place.h"
#include "witness.h"
#include "../tuning.h"

/* Whether draining one store may take long: the most cycles, and the expected ones. */
static bool is_slow(const struct facts *facts, const struct path *path, uint32_t position,
		    double *most, double *expected)
{
	const struct hp_insn *insn = facts_insn(facts, path->insns[position])->insn;
	const struct hp_core *core = facts->core;
	const struct hp_happened *seen = witness_of(facts, path->insns[position]);
	bool is_slow = false;

	*most = *expected = 0;
	if (seen) {
		*most = witness_most(seen, HP_EVENT_L1_MISS, HP_EVENT_L1_UNKNOWN) * l2_margin *
				core->l2_cycles +
			witness_most(seen, HP_EVENT_L2_MISS, HP_EVENT_L2_UNKNOWN) * miss_margin *
				core->memory_cycles;
		*expected = seen->mean[HP_EVENT_L1_MISS] * core->l2_cycles * store_miss;
		return true;
	}
	for (size_t k = 0; k < insn->memory_count; k++) {
		struct place place;
		double lines;

		if (!(insn->memories[k].access & HP_ACCESS_WRITE))
			continue;
		place = place_of(facts, path, position, &insn->memories[k]);
		if (place.kind <= PLACE_SAME ||
		    (place.kind == PLACE_BOUNDED && place.bytes <= FIRST_CACHE))
			continue;
		lines = place_crossings(&place, LINE_BYTES);
		is_slow = true;
		*most += lines * memory_margin * core->memory_cycles *
			 (insn->is_repeated ? LINE_BYTES : 1);
		*expected += lines * core->l2_cycles *
			     (insn->is_repeated ? repeated_places : store_miss);
	}
	return is_slow;
}

void suspect_store_buffer(const struct facts *facts, const struct path *path,
			  struct suspects *found)
{
	uint32_t nearest = 0;
	bool is_found = false;
	double bound = 0;
	double expected = 0;
	unsigned looked = 0;

	for (uint32_t i = 0; i < path->count && looked < STORES_LOOKED_AT; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;
		bool stores = false;
		double most;
		double likely;

		if (i > 0 && path->insns[i] == path->insns[0])
			break; /* the path has gone once round the loop */
		for (size_t k = 0; k < insn->memory_count; k++)
			stores |= (insn->memories[k].access & HP_ACCESS_WRITE) != 0;
		if (!stores)
			continue;
		looked++;
		if (!is_slow(facts, path, i, &most, &likely))
			continue;
		if (!is_found)
			nearest = i;
		is_found = true;
		bound += most;
		expected += likely * path_doubt(i) *
			    (i < facts->core->retire_width ? 1 : distant_store_doubt);
	}
	if (is_found)
		add_suspect(found, HP_CAUSE_STORE_BUFFER, path->insns[nearest], bound, expected);
}

/* By how much the instruction moves the register. False if that is not known. */
static bool shift_of(const struct facts *facts, const struct hp_insn *insn, unsigned number,
		     int64_t *by)
{
	const struct hp_isa *isa = facts->cfg->isa;
	const struct hp_operand *to = &insn->operands[0];

	*by = 0;
	if (!hp_register_in(&insn->written, number))
		return true;
	if (number == isa->stack_pointer &&
	    (insn->operation == HP_OPERATION_PUSH || insn->operation == HP_OPERATION_POP)) {
		*by = insn->operation == HP_OPERATION_PUSH ? -(int64_t)isa->pointer_bytes
							   : isa->pointer_bytes;
		return true;
	}
	if (insn->operand_count < 2 || to->type != HP_OPERAND_REGISTER || to->number != number ||
	    insn->operands[1].type != HP_OPERAND_IMMEDIATE)
		return false;
	if (insn->operation == HP_OPERATION_ADD)
		*by = insn->operands[1].immediate;
	else if (insn->operation == HP_OPERATION_SUBTRACT)
		*by = (int64_t)(0 - (uint64_t)insn->operands[1].immediate);
	else
		return false;
	return true;
}

/* A push's store is addressed relative to the stack pointer after it. */
static int64_t displacement_of(const struct facts *facts, const struct hp_insn *insn,
			       const struct hp_memory *memory)
{
	bool is_push = memory->is_implicit && insn->operation == HP_OPERATION_PUSH;

	/* relative to the register's value before the instruction */
	return is_push ? (int64_t)((uint64_t)memory->displacement - facts->cfg->isa->pointer_bytes)
		       : memory->displacement;
}

enum overlap { OVERLAP_NONE, OVERLAP_HELD, OVERLAP_PART };

static enum overlap overlap_of(int64_t stored, unsigned stored_bytes, int64_t loaded,
			       unsigned loaded_bytes)
{
	uint64_t into = (uint64_t)loaded - (uint64_t)stored;
	uint64_t back = (uint64_t)stored - (uint64_t)loaded;

	if (into < stored_bytes)
		return into + loaded_bytes <= stored_bytes ? OVERLAP_HELD : OVERLAP_PART;
	return back < loaded_bytes ? OVERLAP_PART : OVERLAP_NONE;
}

/* The position of the store that the load overlaps only in part, or 0. */
static uint32_t partial_store(const struct facts *facts, const struct path *path, uint32_t position,
			      const struct hp_memory *load, const struct hp_insn *loading)
{
	int64_t shift = 0;
	int64_t wanted = displacement_of(facts, loading, load);
	unsigned stores = 0;

	for (uint32_t i = position + 1; i < path->count && stores < STORES_LOOKED_AT; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;
		int64_t by = 0;

		if (load->base < HP_REGISTER_COUNT && !shift_of(facts, insn, load->base, &by))
			return 0;
		if (load->index < HP_REGISTER_COUNT && hp_register_in(&insn->written, load->index))
			return 0;
		/* relative to the register's value before this instruction */
		shift = (int64_t)((uint64_t)shift + (uint64_t)by);
		for (size_t k = 0; k < insn->memory_count; k++) {
			const struct hp_memory *store = &insn->memories[k];
			enum overlap overlap;

			if (!(store->access & HP_ACCESS_WRITE) || store->base != load->base ||
			    store->index != load->index || store->scale != load->scale ||
			    store->segment != load->segment)
				continue;
			stores++;
			overlap = overlap_of(displacement_of(facts, insn, store), store->bytes,
					     (int64_t)((uint64_t)wanted + (uint64_t)shift),
					     load->bytes);
			if (overlap != OVERLAP_NONE)
				return overlap == OVERLAP_PART ? i : 0;
		}
	}
	return 0;
}

/* If the path does not show which store it was, the load itself is named as culprit. */
static void judge_seen(const struct facts *facts, const struct path *path, uint32_t position,
		       const struct hp_happened *seen, struct suspects *found)
{
	const struct hp_insn *insn = facts_insn(facts, path->insns[position])->insn;
	const struct hp_core *core = facts->core;
	uint32_t store = 0;

	for (size_t k = 0; k < insn->memory_count && !store && !insn->is_repeated; k++)
		if (insn->memories[k].access & HP_ACCESS_READ)
			store = partial_store(facts, path, position, &insn->memories[k], insn);
	add_suspect(found, HP_CAUSE_STORE_FORWARD, path->insns[store ? store : position],
		    seen->most[HP_EVENT_FORWARD_FAILED] *
			    (core->mispredict_cycles + (double)core->blocked_cycles),
		    seen->mean[HP_EVENT_FORWARD_FAILED] * core->blocked_cycles *
			    path_doubt(position));
}

void suspect_store_forward(const struct facts *facts, const struct path *path,
			   struct suspects *found)
{
	const struct hp_core *core = facts->core;

	for (uint32_t i = 0; i < path->count && i < core->retire_width; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;
		const struct hp_happened *seen = witness_of(facts, path->insns[i]);

		if (!witness_accesses(insn, HP_ACCESS_READ) || insn->is_prefetch ||
		    !path_retires_along(facts, path, i))
			continue;
		if (seen)
			judge_seen(facts, path, i, seen, found);
		for (size_t k = 0; !seen && k < insn->memory_count; k++) {
			uint32_t store;

			if (!(insn->memories[k].access & HP_ACCESS_READ) || insn->is_repeated)
				continue;
			store = partial_store(facts, path, i, &insn->memories[k], insn);
			if (!store)
				continue;
			/* The load waits until the store has left the core's store buffer. */
			add_suspect(found, HP_CAUSE_STORE_FORWARD, path->insns[store],
				    core->mispredict_cycles + (double)core->blocked_cycles,
				    blocked_share * core->blocked_cycles * path_doubt(i));
		}
	}
}
