/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a procedure's instructions: follows its code from the entry, then decodes the rest, to
 * which no known jump leads.
 */
#include "code.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>

/* --- cold parts without a name -----------------------------------------------------------------
 *
 * In a stripped file the part of a procedure that the compiler moved away looks like a procedure of
 * its own. What gives it away: it is jumped to under a condition, or jumps back into the middle.
 */

static bool jumps_back(const struct code *code, const struct hp_procedure *other)
{
	const struct hp_isa *isa = code->shared->isa;
	const uint8_t *bytes;
	size_t size = other->size < 65536 ? (size_t)other->size : 65536;
	struct hp_flow flow;

	size = hp_image_text(code->shared->image, other->address, size, &bytes);
	for (size_t at = 0; at < size; at += flow.length) {
		if (!isa->flow(bytes + at, size - at, other->address.value + at, &flow))
			return false;
		if ((flow.kind == HP_INSN_JUMP || flow.kind == HP_INSN_CONDITIONAL) &&
		    flow.target != code->procedure->address.value &&
		    code_position(code, flow.target) != NOWHERE)
			return true;
	}
	return false;
}

/* Each procedure is examined only once, however often it is jumped to. */
static bool may_belong(struct code *code, const struct hp_procedure *other, size_t index,
		       bool is_conditional)
{
	if (is_conditional)
		return true;
	if (!code->refused)
		code->refused = hp_arena_alloc(code->arena, code->shared->count / 8 + 1);
	if (!code->refused || (code->refused[index / 8] >> index % 8 & 1))
		return false;
	if (jumps_back(code, other))
		return true;
	code->refused[index / 8] |= (uint8_t)(1u << index % 8);
	return false;
}

/* The position of a target outside of the known parts, if it belongs to the procedure after all. */
static uint32_t adopt(struct code *code, uint64_t target, bool is_conditional)
{
	size_t index;
	const struct hp_procedure *other;

	if (code->adopted >= MOST_ADOPTED || code->parts.count >= MOST_PARTS)
		return NOWHERE;
	other = image_part_at(code->shared, target, &index);
	if (!other || other->source != HP_PROCEDURE_EH_FRAME || other->owner != other ||
	    other->size > LARGEST_ADOPTED_BYTES || !may_belong(code, other, index, is_conditional))
		return NOWHERE;
	return code_adopt(code, other) ? code_position(code, target) : NOWHERE;
}

/* --- following -------------------------------------------------------------------------------- */

static void go_to(struct code *code, uint64_t target, bool is_conditional, uint32_t run,
		  uint32_t from)
{
	uint32_t position = code_position(code, target);

	if (position == NOWHERE)
		position = adopt(code, target, is_conditional);
	if (position != NOWHERE)
		code_add_leader(code, position, run, from);
}

static void enter_after_call(struct code *code, const struct code_part *part, uint32_t at,
			     uint8_t length)
{
	code->marks[at] |= MARK_ENDS;
	if (part && at - part->base + length < part->size)
		code->marks[at + length] |= MARK_ENTERED;
}

static bool never_returns(struct hp_cfg_image *image, const struct hp_flow *flow)
{
	if (flow->kind == HP_INSN_CALL_INDIRECT)
		return import_never_returns(image, flow);
	return !hp_cfg_returns(image, (hp_link_address){ flow->target });
}

static bool returns_twice(const struct hp_cfg_image *image, const struct hp_flow *flow)
{
	size_t index;
	const struct hp_procedure *callee;

	if (flow->kind == HP_INSN_CALL_INDIRECT)
		return import_returns_twice(image, flow);
	callee = image_part_at(image, flow->target, &index);
	return callee && name_returns_twice(callee);
}

/* Marks the call, and follows where it leads besides the next instruction. */
static void follow_call(struct code *code, const struct hp_flow *flow, uint64_t address,
			uint32_t run, uint32_t at)
{
	const struct code_part *part = code_part_of(code, at);
	const struct hp_landing *landing = part ? code_landing_of(part, address) : NULL;
	uint32_t pad = landing ? code_position(code, landing->landing) : NOWHERE;

	if (pad != NOWHERE) {
		code->marks[at] |= MARK_ENDS;
		code_add_leader(code, pad, run, at);
	}
	if (never_returns(code->shared, flow))
		code->marks[at] |= MARK_ENDS | MARK_NO_RETURN;
	else if (returns_twice(code->shared, flow))
		enter_after_call(code, part, at, flow->length);
}

/* False at the end of the straight run. */
static bool follow_one(struct code *code, const struct hp_flow *flow, uint64_t address,
		       uint32_t run, uint32_t at, const uint8_t *bytes, size_t before)
{
	switch ((enum hp_insn_kind)flow->kind) {
	case HP_INSN_PLAIN:
		return true;
	case HP_INSN_CALL:
	case HP_INSN_CALL_INDIRECT:
		follow_call(code, flow, address, run, at);
		return !(code->marks[at] & MARK_NO_RETURN);
	case HP_INSN_SYSCALL:
		if (!code->shared->isa->is_exit(bytes, before))
			return true;
		code->marks[at] |= MARK_ENDS | MARK_NO_RETURN;
		return false;
	case HP_INSN_CONDITIONAL:
		code->marks[at] |= MARK_ENDS;
		go_to(code, flow->target, true, run, at);
		return true;
	case HP_INSN_JUMP:
		code->marks[at] |= MARK_ENDS;
		go_to(code, flow->target, false, run, at);
		return false;
	case HP_INSN_JUMP_INDIRECT:
		code->marks[at] |= MARK_ENDS;
		if (!hp_vector_push(&code->indirects, (struct indirect){ .at = at, .run = run }))
			code->is_short_of_memory = true;
		return false;
	case HP_INSN_RETURN:
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
		code->marks[at] |= MARK_ENDS;
		return false;
	}
	return false;
}

/* Continues into the next part, if it is ours. A call at the very end of a part does not return. */
static void run_off(struct code *code, uint64_t address, uint32_t run, uint32_t last)
{
	uint32_t position = code_position(code, address);
	enum hp_insn_kind kind;

	if (last == NOWHERE)
		return;
	if (position != NOWHERE) {
		code_add_leader(code, position, run, last);
		return;
	}
	kind = (enum hp_insn_kind)(code->marks[last] & MARK_KIND);
	if (kind == HP_INSN_CALL || kind == HP_INSN_CALL_INDIRECT)
		code->marks[last] |= MARK_ENDS | MARK_NO_RETURN;
}

/* Data between the code is not treated as code that cannot be decoded. */
static void note_undecodable(struct code *code, uint64_t address, bool is_orphan)
{
	uint64_t *first = is_orphan ? &code->bad_orphan : &code->undecodable;

	if (!*first || address < *first)
		*first = address;
}

static void follow_run(struct code *code, uint32_t number)
{
	struct run run = code->runs.at[number];
	const struct code_part *part = code_part_of(code, run.start);
	const uint8_t *bytes;
	uint64_t address;
	uint32_t base, size;
	uint32_t previous = NOWHERE;

	/* cannot happen, since leaders lie in parts */
	if (!part)
		return;
	base = part->base;
	size = part->size;
	address = part->address;
	bytes = part->bytes;
	for (uint32_t at = run.start - base; !code_has_failed(code);) {
		struct hp_flow flow;
		uint32_t position = base + at;

		if (at == size) {
			run_off(code, address + size, number, previous);
			return;
		}
		if (code->lengths[position]) {
			code->marks[position] |= MARK_LEADER;
			return;
		}
		if (!code->shared->isa->flow(bytes + at, size - at, address + at, &flow)) {
			note_undecodable(code, address + at, run.is_orphan);
			return;
		}
		code->lengths[position] = flow.length;
		code->marks[position] |= flow.kind;
		if (!follow_one(code, &flow, address + at, number, position, bytes, at))
			return;
		previous = position;
		at += flow.length;
		/* The instruction after the end of a block begins a block. */
		if (at < size && (code->marks[position] & MARK_ENDS))
			code->marks[base + at] |= MARK_LEADER;
	}
}

static void follow_runs(struct code *code)
{
	while (code->next_run < code->runs.count && !code_has_failed(code)) {
		uint32_t number = (uint32_t)code->next_run++;

		if (!code->lengths[code->runs.at[number].start])
			follow_run(code, number);
	}
}

/* Tables with a known bound come first: one that is read without a bound ends where another
 * begins. */
static bool resolve_indirects(struct code *code)
{
	bool any = false;

	for (unsigned tries = 0; tries < 2 && !code_has_failed(code);) {
		bool found = false;

		for (size_t i = 0; i < code->indirects.count; i++) {
			struct indirect jump = code->indirects.at[i];

			if (jump.is_resolved || jump.tries > tries)
				continue;
			jump.tries = (uint8_t)(tries + 1);
			jump.is_resolved = indirect_resolve(code, &jump, tries > 0);
			found |= jump.is_resolved;
			code->indirects.at[i] = jump;
		}
		follow_runs(code);
		tries = found ? 0 : tries + 1;
		any |= found;
	}
	return any;
}

/* Code that nothing known leads to is followed, too, since it may have samples. */
static void follow_orphans(struct code *code)
{
	for (size_t i = 0; i < code->parts.count; i++) {
		uint32_t base = code->parts.at[i].base;
		uint32_t size = code->parts.at[i].size;
		const uint8_t *bytes = code->parts.at[i].bytes;
		uint64_t address = code->parts.at[i].address;

		for (uint32_t at = 0, covered = 0; at < size && !code_has_failed(code);) {
			uint32_t end = at + code->lengths[base + at];
			struct hp_flow flow;

			/* Parts that begin inside of others count, too. */
			covered = end > covered ? end : covered;
			if (at < covered) {
				at++;
				continue;
			}
			if (bytes[at] == 0 ||
			    !code->shared->isa->flow(bytes + at, size - at, address + at, &flow)) {
				at++;
				continue;
			}
			if (flow.is_padding) {
				at += flow.length;
				continue;
			}
			code->marks[base + at] |= MARK_LEADER | MARK_ENTERED;
			code_push_run(code, (struct run){ .start = base + at,
							  .from_run = NOWHERE,
							  .from = NOWHERE,
							  .is_orphan = true });
			follow_runs(code);
		}
	}
}

HP_ORDER_BY(compare_indirects, struct indirect, at);

struct hp_error *code_discover(struct code *code)
{
	uint32_t entry = code_position(code, code->procedure->address.value);

	if (entry == NOWHERE)
		entry = code->parts.at[0].base;
	code_add_leader(code, entry, NOWHERE, NOWHERE);
	follow_runs(code);
	resolve_indirects(code);
	follow_orphans(code);
	/* Some of them may be reached after all. */
	if (resolve_indirects(code) && !code->undecodable)
		code->undecodable = code->bad_orphan;
	if (code->is_short_of_memory)
		return hp_error_create_no_memory();
	if (code->is_too_large)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "it branches more often than code ever does");
	if (code->indirects.count > 1)
		qsort(code->indirects.at, code->indirects.count, sizeof(struct indirect),
		      compare_indirects);
	return NULL;
}
