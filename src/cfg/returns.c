/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the procedures that never return: no path through their code reaches a return.
 *
 * Code is followed first without passing any call, then past one call at a time, and only past
 * calls of procedures that return; most procedures are decided after a few instructions. Whatever
 * is not understood (an indirect jump, a jump into the middle of another procedure, recursion) is
 * taken to return, so that an answer of "never" can be trusted.
 */
#include "image.h"
#include "tuning.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/image/code.h>

#include <string.h>

struct call {
	uint64_t target;
	uint64_t next; /* where the call returns to; 0 for a jump out of the procedure */
};

struct search {
	struct hp_cfg_image *image;
	const struct hp_procedure *const *parts;
	size_t part_count;
	uint64_t low; /* lowest address of all parts */
	uint64_t high;
	uint8_t *seen; /* one bit per byte of code, from `low` on */
	HP_VECTOR(uint64_t) todo;
	HP_VECTOR(struct call) calls; /* calls still to be examined */
	bool returns;
};

static bool ask(struct hp_cfg_image *image, uint64_t address);

static const struct hp_procedure *part_of_search(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->part_count; i++)
		if (address - search->parts[i]->address.value < search->parts[i]->size)
			return search->parts[i];
	return NULL;
}

static bool mark_seen(struct search *search, uint64_t address)
{
	uint64_t bit = address - search->low;

	if (search->seen[bit / 8] >> bit % 8 & 1)
		return false;
	search->seen[bit / 8] |= (uint8_t)(1u << bit % 8);
	return true;
}

/* A jump inside is followed, one outside is examined later. */
static void go_to(struct search *search, uint64_t target)
{
	bool fine;

	if (part_of_search(search, target))
		fine = hp_vector_push(&search->todo, target);
	else
		fine = hp_vector_push(&search->calls, (struct call){ target, 0 });
	if (!fine)
		search->returns = true;
}

/* False at the end of the straight run. */
static bool step(struct search *search, const struct hp_flow *flow, uint64_t next,
		 const uint8_t *bytes, size_t before)
{
	switch ((enum hp_insn_kind)flow->kind) {
	case HP_INSN_RETURN:
		search->returns = true;
		return false;
	case HP_INSN_JUMP_INDIRECT:
		search->returns = !import_never_returns(search->image, flow);
		return false;
	case HP_INSN_CALL_INDIRECT:
		return !import_never_returns(search->image, flow);
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
		return false;
	case HP_INSN_JUMP:
		go_to(search, flow->target);
		return false;
	case HP_INSN_CONDITIONAL:
		go_to(search, flow->target);
		return true;
	case HP_INSN_CALL:
		if (!hp_vector_push(&search->calls, (struct call){ flow->target, next }))
			search->returns = true;
		return false;
	case HP_INSN_SYSCALL:
		return !search->image->isa->is_exit(bytes, before);
	case HP_INSN_PLAIN:
		break;
	}
	return true;
}

static void follow(struct search *search, uint64_t address)
{
	const struct hp_procedure *part = part_of_search(search, address);
	const uint8_t *bytes;
	bool was_call = false;
	size_t size;
	size_t at = 0;

	if (!part)
		return;
	size = hp_image_text(search->image->image, (hp_link_address){ address },
			     (size_t)(part->size - (address - part->address.value)), &bytes);
	/* Code that was not kept cannot be examined. */
	if (size == 0)
		search->returns = true;
	while (!search->returns && at < size) {
		struct hp_flow flow;

		if (!mark_seen(search, address + at))
			return;
		if (!search->image->isa->flow(bytes + at, size - at, address + at, &flow))
			return; /* it is data, or a trap */
		was_call = flow.kind == HP_INSN_CALL_INDIRECT;
		if (!step(search, &flow, address + at + flow.length, bytes, at))
			return;
		at += flow.length;
	}
	/* The code continues in the next procedure, unless it ends with a call, which then does not
	 * return. */
	if (!search->returns && !was_call)
		go_to(search, address + at);
}

static void follow_all(struct search *search)
{
	while (search->todo.count > 0 && !search->returns)
		follow(search, search->todo.at[--search->todo.count]);
}

static void search_calls(struct search *search)
{
	follow_all(search);
	/* The newest first, because the list grows meanwhile. */
	for (size_t i = 0; i < search->calls.count && !search->returns; i++) {
		struct call call = search->calls.at[i];

		if (!ask(search->image, call.target))
			continue;
		if (call.next == 0)
			search->returns = true;
		else if (part_of_search(search, call.next))
			follow(search, call.next);
		follow_all(search);
	}
}

/* An exception may be caught here, and then the procedure returns after all. */
static void search_landings(struct search *search)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();

	for (size_t i = 0; arena && i < search->part_count; i++) {
		const struct hp_landing *landings;
		size_t count;

		hp_image_landings(search->image->image, search->parts[i]->address,
				  search->parts[i]->size, arena, &landings, &count);
		for (size_t k = 0; k < count; k++)
			if (part_of_search(search, landings[k].landing) &&
			    !hp_vector_push(&search->todo, landings[k].landing))
				search->returns = true;
	}
	search_calls(search);
}

static bool search_procedure(struct hp_cfg_image *image, const struct hp_procedure *procedure)
{
	struct search search = { .image = image, .low = UINT64_MAX };

	image_parts_of(image, procedure->owner, &search.parts, &search.part_count);
	for (size_t i = 0; i < search.part_count; i++) {
		uint64_t start = search.parts[i]->address.value;

		search.low = start < search.low ? start : search.low;
		if (start + search.parts[i]->size > search.high)
			search.high = start + search.parts[i]->size;
	}
	/* If parts are far apart, only its own is searched, and a jump to another one leaves the
	 * procedure. */
	if (search.part_count > MOST_PARTS_TOGETHER ||
	    search.high - search.low > WIDEST_PROCEDURE_BYTES) {
		search.parts = &procedure->owner;
		search.part_count = 1;
		search.low = procedure->owner->address.value;
		search.high = search.low + procedure->owner->size;
	}
	if (search.part_count == 0 || search.high - search.low > WIDEST_PROCEDURE_BYTES)
		return true;
	search.seen = calloc(1, (size_t)(search.high - search.low) / 8 + 1);
	if (!search.seen || !hp_vector_push(&search.todo, procedure->address.value))
		search.returns = true;
	search_calls(&search);
	if (!search.returns)
		search_landings(&search);
	free(search.seen);
	hp_vector_free(&search.todo);
	hp_vector_free(&search.calls);
	return search.returns;
}

static bool ask(struct hp_cfg_image *image, uint64_t address)
{
	size_t index = 0;
	const struct hp_procedure *procedure = image_part_at(image, address, &index);
	const struct hp_procedure *own;
	bool returns;

	if (!procedure || procedure->address.value != address)
		return true;
	switch ((enum returns)image->returns[index]) {
	case RETURNS_YES:
	case RETURNS_ASKED: /* recursion */
		return true;
	case RETURNS_NO:
		return false;
	case RETURNS_UNKNOWN:
		break;
	}
	if (procedure->never_returns || name_never_returns(procedure)) {
		returns = false;
	} else if (procedure->source == HP_PROCEDURE_PLT) {
		own = image_named(image, procedure->linkage, name_length(procedure));
		returns = !own || ask(image, own->address.value);
	} else if (image->depth >= DEEPEST_CALL) {
		return true; /* not remembered, since the answer may differ with less nesting */
	} else {
		image->returns[index] = RETURNS_ASKED;
		image->depth++;
		returns = search_procedure(image, procedure);
		image->depth--;
	}
	image->returns[index] = returns ? RETURNS_YES : RETURNS_NO;
	return returns;
}

bool hp_cfg_returns(struct hp_cfg_image *image, hp_link_address address)
{
	return ask(image, address.value);
}

bool import_never_returns(struct hp_cfg_image *image, const struct hp_flow *flow)
{
	const char *name = import_of(image, flow);
	const struct hp_procedure *own;

	if (!name)
		return false;
	if (name_is_of_end(name, strlen(name)))
		return true;
	own = image_named(image, name, strlen(name));
	return own && !ask(image, own->address.value);
}
