/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that indirect branches are expected to go to: those behind calls, and all that an indirect
 * branch has gone to.
 *
 * A function returns to many places, and each pair of branch and target that is new makes the copy
 * leave the cache, which takes longer than anything else in a first replay. So there is a table of
 * expected targets. A branch whose chain (x86_link.h) does not have its target looks into the table
 * first. If the target is there, the branch and its target are written to a log, and the copy goes
 * on. Whenever the copy has stopped, replay/branch_log.c reads the log: each pair is added to the
 * branch's chain and counted, as if the copy had left the cache for it. So counts are exact at each
 * moment at which they are read.
 *
 * Each zone has its own table, among its constants, and its own log, among its data. The log is
 * written by the copy, so it may be forged; that falsifies only the program's own profile.
 */
#ifndef SHADOW_TRANSLATE_X86_EXPECT_H
#define SHADOW_TRANSLATE_X86_EXPECT_H

#include "code_cache.h"

/* Emits what ends a branch's chain, and returns its start: it looks for the target in r11, with the
 * program's registers in CODE_SPILL_R11 and CODE_SPILL_RCX, and leaves the cache if that is not
 * expected. */
const uint8_t *x86_expect_emit(struct code_cache *cache, uint8_t zone, uint32_t site);
/* Expects branches to this block. */
void x86_expect(struct code_cache *cache, uint32_t block);
/* Expects no branches to this block any more. Called before its code is dropped. */
void x86_expect_no_more(struct code_cache *cache, uint32_t block);
/* Enters the blocks that have become expected into the tables. The copy has stopped. */
void x86_expect_enter(struct code_cache *cache);
/* Rebuilds the tables, after blocks have moved. */
void x86_expect_move(struct code_cache *cache);

/* The branch by which the copy has left the cache from x86_expect_emit's code of this zone. */
uint32_t x86_expect_site(const struct code_zone *zone);
/* Entries of the zone's log (code_zone_log). */
uint64_t x86_expect_went(const struct code_zone *zone);

#endif
