/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connects pieces of translated code: jumps to blocks, traps where the target is not yet
 * translated, and indirect branches, which look up their target.
 */
#ifndef SHADOW_TRANSLATE_X86_LINK_H
#define SHADOW_TRANSLATE_X86_LINK_H

#include "code_cache.h"

/* Makes the jump with this displacement (in `zone`) go to the block at `address`. If there is no
 * such block, it leaves the cache to ask for it. */
void x86_link(struct code_cache *cache, uint8_t zone, uint8_t *displacement, uint64_t address);
/* Links those that had no block yet again. */
void x86_link_pending(struct code_cache *cache);

/* Invalidates what was translated from this page. New arrivals continue with what is translated at
 * the address next; control within such a block continues to its branch. */
void x86_drop(struct code_cache *cache, uint64_t page);

/* Creates an indirect branch. Its jump expects the target in r11, and the program's registers in
 * CODE_SPILL_R11 and CODE_SPILL_RCX; it preserves all other registers and all flags. */
uint32_t x86_site_create(struct code_cache *cache, uint8_t zone, uint8_t *displacement);
/* The branch has gone to this block, at whose start flags may matter: from now on it goes there
 * directly, and is counted. False: out of memory. */
bool x86_site_add(struct code_cache *cache, uint32_t site, uint32_t block, bool flags_matter);
/* The second half of code_cache_move. False: no room, and everything must be forgotten. */
bool x86_sites_move(struct code_cache *cache, const uint64_t by[SHADOW_PLACES]);

#endif
