/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code.h"

#include <hpcprof/base/search.h>

static bool note_constants(struct code *code, const struct hp_insn *insn)
{
	for (size_t i = 0; i < insn->memory_count; i++) {
		const struct hp_memory *memory = &insn->memories[i];
		bool is_named =
			memory->base == HP_REGISTER_PC ||
			(memory->base == HP_REGISTER_NONE && memory->index != HP_REGISTER_NONE &&
			 memory->segment == HP_REGISTER_NONE);

		if (is_named && !hp_vector_push(&code->constants, (uint64_t)memory->displacement))
			return false;
	}
	return true;
}

static bool sweep_part(struct code *code, const struct code_part *part)
{
	const struct hp_isa *isa = code->shared->isa;
	struct hp_insn insn;

	for (uint32_t at = 0; at < part->size;) {
		uint32_t position = part->base + at;

		if (!isa->decode(part->bytes + at, part->size - at, part->address + at, &insn)) {
			at++;
			continue;
		}
		code->swept[position / 8] |= (uint8_t)(1u << position % 8);
		if (!note_constants(code, &insn))
			return false;
		at += insn.length;
	}
	return true;
}

HP_ORDER_VALUES(compare_constants, uint64_t);

bool code_sweep(struct code *code)
{
	if (code->swept)
		return true;
	code->swept = hp_arena_alloc(code->arena, code->total / 8 + 1);
	if (!code->swept) {
		code->is_short_of_memory = true;
		return false;
	}
	code->swept_total = code->total;
	for (size_t i = 0; i < code->parts.count; i++)
		if (!sweep_part(code, &code->parts.at[i])) {
			code->is_short_of_memory = true;
			return false;
		}
	if (code->constants.count > 1)
		qsort(code->constants.at, code->constants.count, sizeof(*code->constants.at),
		      compare_constants);
	return true;
}

bool code_is_boundary(const struct code *code, uint32_t position)
{
	/* Parts adopted later were not swept. */
	return code->lengths[position] || position >= code->swept_total ||
	       (code->swept[position / 8] >> position % 8 & 1);
}
