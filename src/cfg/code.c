/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>
#include <string.h>

HP_ORDER_BY(compare_parts, struct code_part, address);

/* Adds one part of the procedure. Returns false if the part has no bytes, or makes the procedure
 * too large. */
static bool add_part(struct code *code, const struct hp_procedure *procedure)
{
	struct code_part part = { .address = procedure->address.value, .base = code->total };
	size_t size;
	size_t total;

	if (procedure->size > LARGEST_PROCEDURE_BYTES)
		return false;
	size = hp_image_text(code->shared->image, procedure->address, (size_t)procedure->size,
			     &part.bytes);
	total = code->total + size;
	if (size == 0 || total > LARGEST_PROCEDURE_BYTES)
		return false;
	part.size = (uint32_t)size;
	hp_image_landings(code->shared->image, procedure->address, size, code->arena,
			  &part.landings, &part.landing_count);
	if (!hp_grow((void **)&code->lengths, &code->length_room, total, 1) ||
	    !hp_grow((void **)&code->marks, &code->mark_room, total, 1) ||
	    !hp_vector_push(&code->parts, part)) {
		code->is_short_of_memory = true;
		return false;
	}
	memset(code->lengths + code->total, 0, size);
	memset(code->marks + code->total, 0, size);
	code->total = (uint32_t)total;
	return true;
}

struct hp_error *code_open(struct hp_cfg_image *shared, const struct hp_procedure *procedure,
			   struct hp_arena *arena, struct code *code)
{
	const struct hp_procedure *const *parts;
	const struct hp_procedure *alone = procedure;
	size_t count;
	bool any = false;

	*code = (struct code){ .shared = shared, .procedure = procedure->owner, .arena = arena };
	image_parts_of(shared, procedure->owner, &parts, &count);
	if (count == 0) { /* a gap between procedures */
		parts = &alone;
		count = 1;
	}
	for (size_t i = 0; i < count; i++)
		any |= add_part(code, parts[i]);
	if (code->is_short_of_memory)
		return hp_error_create_no_memory();
	if (!any)
		return hp_error_create(
			HP_ERROR_INSUFFICIENT,
			procedure->size > LARGEST_PROCEDURE_BYTES
				? "%s is too large to be one procedure"
				: "the file holds no code for %s",
			hp_image_procedure_at(shared->image, procedure->address)->name);
	return NULL;
}

void code_close(struct code *code)
{
	hp_vector_free(&code->parts);
	hp_vector_free(&code->runs);
	hp_vector_free(&code->indirects);
	hp_vector_free(&code->targets);
	hp_vector_free(&code->tables);
	hp_vector_free(&code->constants);
	free(code->lengths);
	free(code->marks);
}

uint32_t code_position(const struct code *code, uint64_t address)
{
	size_t after = hp_bisect(i, code->parts.count, code->parts.at[i].address <= address);

	if (after == 0 ||
	    address - code->parts.at[after - 1].address >= code->parts.at[after - 1].size)
		return NOWHERE;
	return code->parts.at[after - 1].base +
	       (uint32_t)(address - code->parts.at[after - 1].address);
}

/* There are few parts, and their bases are in order of address unless parts were adopted. */
const struct code_part *code_part_of(const struct code *code, uint32_t position)
{
	size_t after;

	if (code->adopted) {
		for (size_t i = 0; i < code->parts.count; i++)
			if (position - code->parts.at[i].base < code->parts.at[i].size)
				return &code->parts.at[i];
		return NULL;
	}

	after = hp_bisect(i, code->parts.count, code->parts.at[i].base <= position);
	if (after == 0 ||
	    position - code->parts.at[after - 1].base >= code->parts.at[after - 1].size)
		return NULL;
	return &code->parts.at[after - 1];
}

uint64_t code_address(const struct code *code, uint32_t position)
{
	const struct code_part *part = code_part_of(code, position);

	return part ? part->address + (position - part->base) : 0;
}

bool code_adopt(struct code *code, const struct hp_procedure *procedure)
{
	if (!add_part(code, procedure))
		return false;
	qsort(code->parts.at, code->parts.count, sizeof(*code->parts.at), compare_parts);
	code->adopted++;
	return true;
}

bool code_has_failed(const struct code *code)
{
	return code->is_short_of_memory || code->is_too_large;
}

void code_push_run(struct code *code, struct run run)
{
	if (code->runs.count >= MOST_BLOCKS)
		code->is_too_large = true;
	else if (!hp_vector_push(&code->runs, run))
		code->is_short_of_memory = true;
}

void code_add_leader(struct code *code, uint32_t position, uint32_t from_run, uint32_t from)
{
	bool was_leader = code->marks[position] & MARK_LEADER;

	code->marks[position] |= MARK_LEADER;
	if (was_leader || code->lengths[position])
		return;
	code_push_run(code,
		      (struct run){
			      .start = position,
			      .from_run = from_run,
			      .from = from,
			      .is_orphan = from_run != NOWHERE && code->runs.at[from_run].is_orphan,
		      });
}

const struct hp_landing *code_landing_of(const struct code_part *part, uint64_t address)
{
	size_t after = hp_bisect(i, part->landing_count, part->landings[i].start <= address);

	return after > 0 && address < part->landings[after - 1].end ? &part->landings[after - 1]
								    : NULL;
}
