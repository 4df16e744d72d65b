/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How translated code goes on: to a block that is known, or out of the cache. */
#ifndef SHADOW_TRANSLATE_X86_GOTO_H
#define SHADOW_TRANSLATE_X86_GOTO_H

#include "code_cache.h"

/* The block can now be reached by another way than from the previous block, so it gets a
 * counter. */
void x86_count_from_now(struct code_cache *cache, uint32_t block);

/* Emits a jump at the end of the zone's `side` to this block, which is counted from now on. The block
 * may be in a zone that is further away than a displacement reaches. */
void x86_jump_to(struct code_cache *cache, uint8_t zone, uint32_t block);

/* Emits a trap for this exit. */
void x86_exit(struct code_cache *cache, struct x86_emitter *emitter, const struct code_exit *exit);

#endif
