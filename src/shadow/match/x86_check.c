/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_check.h"

/* rcx = reg - value. `reg` is not rcx. */
static void emit_difference(struct x86_emitter *emitter, unsigned reg, uint64_t value)
{
	int64_t negated = (int64_t)-value;

	if (negated == (int32_t)negated) {
		x86_add_constant(emitter, X86_RCX, reg, (int32_t)negated);
		return;
	}
	x86_move_constant(emitter, X86_RCX, (uint64_t)negated);
	x86_add(emitter, X86_RCX, reg, X86_RCX);
}

/* The same for the saved value of rcx. */
static void emit_rcx_difference(const struct code_zone *zone, struct x86_emitter *emitter,
				uint64_t value)
{
	x86_store(emitter, code_spill_address(zone, CODE_SPILL_CHECK_RAX), X86_RAX);
	x86_load(emitter, X86_RAX, code_spill_address(zone, CODE_SPILL_CHECK_RCX));
	emit_difference(emitter, X86_RAX, value);
	x86_load(emitter, X86_RAX, code_spill_address(zone, CODE_SPILL_CHECK_RAX));
}

/* The same for a word in memory. */
static void emit_word_difference(const struct code_zone *zone, struct x86_emitter *emitter,
				 const struct x86_check_word *word)
{
	x86_store(emitter, code_spill_address(zone, CODE_SPILL_CHECK_RAX), X86_RAX);
	x86_move_constant(emitter, X86_RAX, word->address);
	x86_load_based(emitter, X86_RAX, X86_RAX, 0);
	emit_difference(emitter, X86_RAX, word->value);
	x86_load(emitter, X86_RAX, code_spill_address(zone, CODE_SPILL_CHECK_RAX));
}

void x86_emit_check(const struct code_zone *zone, struct x86_emitter *emitter,
		    const struct hp_engine_sample *sample, const struct x86_check *check,
		    uint32_t number)
{
	uint8_t *differs[X86_REGISTERS + X86_CHECK_WORDS];
	size_t count = 0, compares = X86_REGISTERS + (size_t)check->word_count;

	x86_store(emitter, code_spill_address(zone, CODE_SPILL_CHECK_RCX), X86_RCX);
	for (size_t i = 0; i < compares; i++) {
		uint8_t *agrees;

		if (i >= X86_REGISTERS)
			emit_word_difference(zone, emitter, &check->words[i - X86_REGISTERS]);
		else if (check->order[i] == X86_RCX)
			emit_rcx_difference(zone, emitter, sample->general[X86_RCX]);
		else
			emit_difference(emitter, check->order[i], sample->general[check->order[i]]);
		agrees = x86_jump_if_no_rcx(emitter);
		differs[count++] = x86_jump(emitter);
		x86_patch_short(agrees, emitter->at);
	}
	x86_trap(emitter, number);
	while (count > 0)
		x86_patch(differs[--count], emitter->at);
	x86_load(emitter, X86_RCX, code_spill_address(zone, CODE_SPILL_CHECK_RCX));
}
