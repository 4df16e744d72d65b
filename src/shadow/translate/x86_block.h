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
	/* How it ends without a branch: HP_WINDOW_COMPLETE when it was cut for its length. */
	uint8_t end;
};

/* False when not even one instruction is there: `end` says why. */
bool x86_block_decode(struct shadow_text *text, uint64_t address, struct x86_block *block);
static inline const struct x86_insn *x86_block_last(const struct x86_block *block)
{
	return &block->insns[block->count - 1];
}

/* An instruction that is no branch, as it is but for operands relative to the instruction pointer.
 */
void x86_emit_plain(const struct code_zone *zone, struct x86_emitter *emitter,
		    const struct x86_insn *insn);
/* r11 = the target of an indirect jump or call */
void x86_emit_target(struct x86_emitter *emitter, const struct x86_insn *insn);
struct x86_count_place x86_count_place(const struct x86_block *block);
void x86_emit_count(const struct code_zone *zone, struct x86_emitter *emitter, uint32_t counter,
		    const struct x86_count_place *place);

/* Instructions that do nothing, from `start` to the emitter. */
void x86_emit_nothing(uint8_t *start, const struct x86_emitter *emitter);

#endif
