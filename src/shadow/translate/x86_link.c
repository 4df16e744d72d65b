/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_link.h"

#include "../tuning.h"
#include "x86_expect.h"
#include "x86_goto.h"

#include <string.h>

/* --- direct jumps ----------------------------------------------------------------------------- */

void x86_link(struct code_cache *cache, uint8_t zone, uint8_t *displacement, uint64_t address)
{
	uint32_t number = code_cache_find(cache, address);
	struct x86_emitter *side = &cache->zones[zone].side;

	if (number != CODE_NO_NUMBER) {
		const struct code_block *block = &cache->blocks.at[number];

		if (block->zone == zone) {
			x86_count_from_now(cache, number);
			x86_patch(displacement, block->code);
		} else {
			x86_patch(displacement, side->at);
			x86_jump_to(cache, zone, number);
		}
		return;
	}
	x86_patch(displacement, side->at);
	if (!hp_vector_push(&cache->pending, (uint32_t)cache->exits.count))
		side->is_full = true;
	x86_exit(cache, side,
		 &(struct code_exit){ .kind = CODE_EXIT_LINK,
				      .zone = zone,
				      .address = address,
				      .displacement = displacement });
}

void x86_link_pending(struct code_cache *cache)
{
	for (size_t i = 0; i < cache->pending.count; i++) {
		const struct code_exit *exit = &cache->exits.at[cache->pending.at[i]];

		if (code_cache_find(cache, exit->address) != CODE_NO_NUMBER)
			x86_link(cache, exit->zone, exit->displacement, exit->address);
	}
	cache->pending.count = 0;
}

/* --- code that has changed -------------------------------------------------------------------- */

static void drop_block(struct code_cache *cache, uint32_t number)
{
	struct code_block *block = &cache->blocks.at[number];
	struct x86_emitter patch = { .at = block->code, .end = block->code + CODE_LINK_BYTES };

	/* Its count is frozen now, whatever the previous block does from here on. */
	x86_count_from_now(cache, number);
	code_block_divert(block, NULL);
	x86_expect_no_more(cache, number);
	block->is_gone = true;
	block->is_armed = false;
	shadow_table_remove(&cache->by_address, block->address);
	x86_link(cache, block->zone, x86_jump(&patch), block->address);
}

/* Drops the blocks that start on `page` and have a byte in [start, end). */
static void drop_starting_on(struct code_cache *cache, uint64_t page, uint64_t start, uint64_t end)
{
	uint32_t number = shadow_table_find(&cache->by_page, page / CODE_PAGE_BYTES);
	uint32_t kept = CODE_NO_NUMBER;
	uint32_t next;

	if (number == CODE_NO_NUMBER)
		return;
	for (; number != CODE_NO_NUMBER; number = next) {
		struct code_block *block = &cache->blocks.at[number];

		next = block->next_on_page;
		if (block->address < end && block->next > start) {
			drop_block(cache, number);
		} else {
			block->next_on_page = kept;
			kept = number;
		}
	}
	if (kept == CODE_NO_NUMBER)
		shadow_table_remove(&cache->by_page, page / CODE_PAGE_BYTES);
	else /* replaces the existing number */
		(void)shadow_table_put(&cache->by_page, page / CODE_PAGE_BYTES, kept);
}

void x86_drop(struct code_cache *cache, uint64_t page)
{
	/* A block is shorter than a page, so it can only reach into the next one. */
	drop_starting_on(cache, page - CODE_PAGE_BYTES, page, page + CODE_PAGE_BYTES);
	drop_starting_on(cache, page, page, page + CODE_PAGE_BYTES);
}

/*
 * --- indirect branches ---------------------------------------------------------------------------
 *
 * A chain compares the target with each known one, most frequent first, without touching a flag:
 *
 *	mov rcx, -t0; lea rcx, [rcx + r11]; jrcxz hit		rcx = target - t0
 *	lea rcx, [rcx + (t0 - t1)]; jrcxz hit			rcx = target - t1
 *	...
 *	jmp miss
 *
 * and counts the edge where it hits. A branch with many targets (an interpreter's, a return from
 * malloc) first picks one of 256 chains by CRC, the only hash that leaves flags alone.
 */

enum { BUCKETS = 256 };

static void emit_hit(struct code_cache *cache, const struct code_site *site,
		     const struct code_target *target)
{
	struct code_zone *zone = &cache->zones[site->zone];
	struct x86_emitter *side = &zone->side;
	uint64_t counter = code_counter_address(zone, target->counter);

	if (target->flags_matter)
		x86_increment(side, counter, X86_RCX);
	else
		x86_increment_changing_flags(side, counter);
	x86_load(side, X86_RCX, code_spill_address(zone, CODE_SPILL_RCX));
	x86_load(side, X86_R11, code_spill_address(zone, CODE_SPILL_R11));
	x86_jump_to(cache, site->zone, target->block);
}

/* Emits rcx = address - target; if there is a `before`, rcx is address - `before` already.
 * Distances within what one zone translates do not change. */
static void emit_compare(const struct code_cache *cache, struct x86_emitter *side,
			 const struct code_target *before, struct code_target *target)
{
	const struct code_block *blocks = cache->blocks.at;
	int64_t step = before ? (int64_t)(before->address - target->address) : INT64_MAX;

	target->negated = NULL;
	if (step == (int32_t)step && blocks[before->block].zone == blocks[target->block].zone) {
		x86_add_constant(side, X86_RCX, X86_RCX, (int32_t)step);
		return;
	}
	x86_move_constant(side, X86_RCX, -target->address);
	target->negated = side->at - sizeof(target->address);
	x86_add(side, X86_RCX, X86_RCX, X86_R11);
}

__attribute__((target("sse4.2"))) static unsigned bucket_by_crc(uint64_t address)
{
	return (unsigned)__builtin_ia32_crc32di(0, address) % BUCKETS;
}

static unsigned bucket_of(const struct code_site *site, uint64_t address)
{
	return site->buckets ? bucket_by_crc(address) : 0;
}

/* Emits the chain of the targets in one bucket, and returns its start. */
static const uint8_t *emit_chain(struct code_cache *cache, struct code_site *site, unsigned bucket)
{
	struct x86_emitter *side = &cache->zones[site->zone].side;
	const uint8_t *chain = side->at;
	const struct code_target *before = NULL;

	for (size_t i = 0; i < site->targets.count; i++) {
		struct code_target *target = &site->targets.at[i];
		uint8_t *hit, *next;

		if (bucket_of(site, target->address) != bucket)
			continue;
		emit_compare(cache, side, before, target);
		hit = x86_jump_if_no_rcx(side);
		next = x86_jump(side);
		x86_patch_short(hit, side->at);
		emit_hit(cache, site, target);
		x86_patch(next, side->at);
		before = target;
	}
	x86_patch(x86_jump(side), site->miss_stub);
	return chain;
}

/* Selects the chain by the target's CRC. */
static const uint8_t *emit_dispatch(struct code_cache *cache, const struct code_site *site,
				    uint64_t table)
{
	static const uint8_t hash[] = {
		0xb9, 0,    0,	  0,	0,	    /* mov ecx, 0 */
		0xf2, 0x49, 0x0f, 0x38, 0xf1, 0xcb, /* crc32 rcx, r11 */
		0x0f, 0xb6, 0xc9,		    /* movzx ecx, cl */
	};
	static const uint8_t look_up[] = { 0x48, 0x8b, 0x0c, 0xca }; /* mov rcx, [rdx + 8 * rcx] */
	static const uint8_t go[] = { 0xff, 0xe1 };		     /* jmp rcx */
	struct code_zone *zone = &cache->zones[site->zone];
	struct x86_emitter *side = &zone->side;
	const uint8_t *dispatch = side->at;

	x86_bytes(side, hash, sizeof(hash));
	x86_store(side, code_spill_address(zone, CODE_SPILL_RDX), X86_RDX);
	x86_address_of(side, X86_RDX, table);
	x86_bytes(side, look_up, sizeof(look_up));
	x86_load(side, X86_RDX, code_spill_address(zone, CODE_SPILL_RDX));
	x86_bytes(side, go, sizeof(go));
	return dispatch;
}

static void fill_table(struct code_cache *cache, struct code_site *site)
{
	struct code_zone *zone = &cache->zones[site->zone];

	for (unsigned i = 0; i < BUCKETS; i++)
		site->buckets[i] = code_zone_address(zone, site->miss_stub);
	for (size_t i = 0; i < site->targets.count; i++) {
		unsigned bucket = bucket_of(site, site->targets.at[i].address);

		site->buckets[bucket] = code_zone_address(zone, emit_chain(cache, site, bucket));
	}
}

static void make_table(struct code_cache *cache, struct code_site *site)
{
	uint64_t table;

	site->buckets = code_zone_table(cache, &cache->zones[site->zone], BUCKETS, &table);
	if (!site->buckets)
		return;
	fill_table(cache, site);
	x86_patch(site->displacement, emit_dispatch(cache, site, table));
}

/* Sorts targets by their counts so far, the largest first. */
static void sort_targets(const struct code_cache *cache, struct code_site *site)
{
	const uint64_t *counters = code_counters(&cache->zones[site->zone]);
	struct code_target *at = site->targets.at;

	for (size_t i = 1; i < site->targets.count; i++)
		for (size_t j = i; j > 0 && counters[at[j - 1].counter] < counters[at[j].counter];
		     j--) {
			struct code_target swapped = at[j];

			at[j] = at[j - 1];
			at[j - 1] = swapped;
		}
}

uint32_t x86_site_create(struct code_cache *cache, uint8_t zone, uint8_t *displacement)
{
	uint32_t number = (uint32_t)cache->sites.count;
	struct code_site site = { .displacement = displacement,
				  .zone = zone,
				  .miss_stub = x86_expect_emit(cache, zone, number) };

	if (!hp_vector_push(&cache->sites, site))
		cache->zones[zone].side.is_full = true;
	x86_patch(displacement, site.miss_stub);
	return number;
}

bool x86_site_add(struct code_cache *cache, uint32_t number, uint32_t block, bool flags_matter)
{
	struct code_site *site = &cache->sites.at[number];
	struct code_zone *zone = &cache->zones[site->zone];
	struct code_target target = { .address = cache->blocks.at[block].address,
				      .block = block,
				      .counter = code_zone_counter(cache, zone),
				      .flags_matter = flags_matter };

	if (!hp_vector_push(&site->targets, target))
		return false;
	/* this time hpcprof itself has sent it there */
	code_counters(zone)[target.counter] = 1;
	if (site->buckets) {
		unsigned bucket = bucket_of(site, target.address);

		site->buckets[bucket] = code_zone_address(zone, emit_chain(cache, site, bucket));
	} else if (site->targets.count > CHAIN_TARGETS && __builtin_cpu_supports("sse4.2")) {
		make_table(cache, site);
	} else {
		sort_targets(cache, site);
		x86_patch(site->displacement, emit_chain(cache, site, 0));
	}
	return true;
}

/* --- moving ----------------------------------------------------------------------------------- */

static void move_target(struct code_target *target, uint64_t by)
{
	uint64_t negated;

	target->address += by;
	if (!target->negated)
		return;
	negated = -target->address;
	memcpy(target->negated, &negated, sizeof(negated));
}

static void move_site(struct code_cache *cache, struct code_site *site,
		      const uint64_t by[SHADOW_PLACES])
{
	size_t before = site->targets.count;
	size_t kept = 0;

	for (size_t i = 0; i < before; i++) {
		struct code_target target = site->targets.at[i];
		const struct code_block *block = &cache->blocks.at[target.block];

		if (block->is_gone)
			continue;
		move_target(&target, by[block->zone]);
		site->targets.at[kept++] = target;
	}
	site->targets.count = kept;
	/* Addresses that have moved have other hashes. */
	if (site->buckets)
		fill_table(cache, site);
	else if (kept < before)
		x86_patch(site->displacement, emit_chain(cache, site, 0));
}

bool x86_sites_move(struct code_cache *cache, const uint64_t by[SHADOW_PLACES])
{
	for (size_t i = 0; i < cache->sites.count; i++)
		move_site(cache, &cache->sites.at[i], by);
	x86_expect_move(cache);
	return !code_cache_is_full(cache);
}
