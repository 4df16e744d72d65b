/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pieces of a block: its instructions as decoded, and single ones as emitted. */
#ifndef SHADOW_TRANSLATE_X86_BLOCK_H
#define SHADOW_TRANSLATE_X86_BLOCK_H

#include "code_cache.h"
#include "../tuning.h"
#include "text.h"
#include "x86_decode.h"

#include <hpcprof/model/window.h>

struct x86_block {
	struct x86_insn insns[CODE_BLOCK_INSNS];
	size_t count;
	/* How it ends without a branch; HP_WINDOW_COMPLETE: it was cut at the maximal length. */
	uint8_t end;
};

/* False when there is not even one instruction: `end` says why. */
bool x86_block_decode(struct shadow_text *text, uint64_t address, struct x86_block *block);
static inline const struct x86_insn *x86_block_last(const struct x86_block *block)
{
	return &block->insns[block->count - 1];
}

/* Emits an instruction that is no branch. Only operands relative to the instruction pointer are
 * changed. */
void x86_emit_plain(const struct code_zone *zone, struct x86_emitter *emitter,
		    const struct x86_insn *insn);
/* Loads r11 with the target of an indirect jump or call. */
void x86_emit_target(struct x86_emitter *emitter, const struct x86_insn *insn);
struct x86_count_place x86_count_place(const struct x86_block *block);
void x86_emit_count(const struct code_zone *zone, struct x86_emitter *emitter, uint32_t counter,
		    const struct x86_count_place *place);

/* Fills the code from `start` to the emitter with no-operation instructions. */
void x86_emit_nothing(uint8_t *start, const struct x86_emitter *emitter);

#endif
