/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates blocks of the shadow's code.
 *
 * A block starts where control arrived and ends with its first branch, or at a maximum length.
 * Instructions are copied unchanged, except that operands relative to the instruction pointer are
 * adjusted and the branch at the end is replaced. At each instruction, the program's registers,
 * flags, stack and memory (return addresses included) have exactly the values that they would have
 * without translation, and the stack contains nothing of hpcprof's. So translated code can be left
 * and entered at any instruction.
 *
 * There is one exception: between a branch and the next instruction that overwrites all flags,
 * flags that nothing reads may differ, since the edge is counted with inc. See x86_flags_matter.
 */
#ifndef SHADOW_TRANSLATE_X86_TRANSLATE_H
#define SHADOW_TRANSLATE_X86_TRANSLATE_H

#include "code_cache.h"
#include "text.h"
#include "x86_decode.h"

struct x86_translator {
	struct code_cache *cache;
	struct shadow_text *text;
	uint64_t translated; /* number of translated blocks, for statistics */
};

/* Returns the block at `address`; also translates some that are likely to follow. CODE_NO_NUMBER
 * when there is none: `*end` (enum hp_window_end) says why. */
uint32_t x86_enter(struct x86_translator *translator, uint64_t address, uint8_t *end);

/* Whether anything may read the arithmetic flags as they are before this instruction. */
bool x86_flags_matter(struct x86_translator *translator, uint64_t address);

/*
 * Emits the block again (at the zone's `copies`), with what `check` emits before each instruction,
 * and returns the start of the copy. The copy continues with the block's own branch. It logs if the
 * cache does. NULL: full.
 */
typedef void x86_check_function(void *context, const struct code_block *block, uint64_t address,
				struct x86_emitter *emitter);
const uint8_t *x86_copy_with_checks(struct x86_translator *translator, uint32_t block,
				    x86_check_function *check, void *context);

#endif
