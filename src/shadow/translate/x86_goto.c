/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_goto.h"

#include "counts.h"
#include "x86_block.h"

/* --- blocks that are not counted at first ----------------------------------------------------- */

void x86_count_from_now(struct code_cache *cache, uint32_t number)
{
	struct code_block *block = &cache->blocks.at[number];
	struct code_zone *zone = &cache->zones[block->zone];
	struct x86_emitter emitter = zone->blocks, logged = zone->logged;

	if (block->counted_since != CODE_NO_NUMBER)
		return;
	code_counters(zone)[block->counter] = shadow_counts_now(cache, number);
	block->counted_since = ++cache->count_starts;
	/* The copy of a block does not count, so the diversion is removed; the matcher arms the
	 * block again. */
	code_block_divert(block, NULL);
	emitter.at = block->count_at;
	x86_emit_count(zone, &emitter, block->counter, &block->count_place);
	if (block->logged) {
		logged.at = block->logged_count_at;
		x86_emit_count(zone, &logged, block->counter, &block->count_place);
	}
	code_cache_arm(cache, block, NULL);
}

/* --- ways on ---------------------------------------------------------------------------------- */

void x86_jump_to(struct code_cache *cache, uint8_t zone, uint32_t number)
{
	struct code_zone *from = &cache->zones[zone];
	const struct code_block *block = &cache->blocks.at[number];

	x86_count_from_now(cache, number);
	if (block->zone == zone)
		x86_patch(x86_jump(&from->side), block->code);
	else
		x86_jump_memory(&from->side,
				code_zone_constant(
					cache, from,
					code_zone_address(&cache->zones[block->zone], block->code),
					block->zone));
}

void x86_exit(struct code_cache *cache, struct x86_emitter *emitter, const struct code_exit *exit)
{
	uint32_t number = code_cache_add_exit(cache, exit);

	if (number == CODE_NO_NUMBER)
		emitter->is_full = true;
	x86_trap(emitter, number);
}
