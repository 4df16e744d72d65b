/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connects pieces of translated code: jumps to blocks, traps where the target is not yet
 * translated, and indirect branches, which look up their target.
 */
#ifndef SHADOW_TRANSLATE_X86_LINK_H
#define SHADOW_TRANSLATE_X86_LINK_H

#include "code_cache.h"

/* There is another way to this block than from the one before it: it is counted, from now on. */
void x86_count_from_now(struct code_cache *cache, uint32_t block);

/* Makes the jump whose displacement this is (in `zone`) go to the block at `address`; while there
 * is none, out of the cache to ask for it. */
void x86_link(struct code_cache *cache, uint8_t zone, uint8_t *displacement, uint64_t address);
/* Those that had no block, once more. */
void x86_link_pending(struct code_cache *cache);

/* What was translated from this page is so no more: whoever comes to it goes on to what is
 * translated at that address next. Control that is in it goes on to its branch. */
void x86_drop(struct code_cache *cache, uint64_t page);

/* A trap of this kind, at the emitter. */
void x86_exit(struct code_cache *cache, struct x86_emitter *emitter, const struct code_exit *exit);

/* A new indirect branch. Its jump finds the target in r11, and the registers of the program in
 * SPILL_R11 and SPILL_RCX, but for the others, which it must leave alone, and all flags. */
uint32_t x86_site_create(struct code_cache *cache, uint8_t zone, uint8_t *displacement);
/* It has gone to this block, in front of which flags may matter: from now on without asking, and
 * counted. False: no memory. */
bool x86_site_add(struct code_cache *cache, uint32_t site, uint32_t block, bool flags_matter);
/* The second half of code_cache_move. False: no room, and everything is to be forgotten. */
bool x86_sites_move(struct code_cache *cache, const uint64_t by[SHADOW_PLACES]);

#endif
