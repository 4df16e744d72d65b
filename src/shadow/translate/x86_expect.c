/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_expect.h"

#include "x86_goto.h"

#include <string.h>

enum {
	SLOTS = 65536, /* of a table; by 16 bits of a hash, which one instruction takes out */
	SLOT_WORDS = 2,
};

struct slot {
	uint64_t
		unlike; /* complement of the target's address; 0, of an empty slot, is that of none */
	uint64_t landing; /* the code that goes on there */
};

/* --- the table -------------------------------------------------------------------------------- */

__attribute__((target("sse4.2"))) static struct slot *slot_of(const struct code_zone *zone,
							      uint64_t address)
{
	return (struct slot *)(void *)zone->expected + (uint16_t)__builtin_ia32_crc32di(0, address);
}

static void put(struct code_zone *zone, uint64_t address, const uint8_t *landing)
{
	*slot_of(zone, address) = (struct slot){ ~address, code_zone_address(zone, landing) };
}

/* Emits the way from the table to the block. */
static const uint8_t *emit_landing(struct code_cache *cache, uint8_t number, uint32_t block)
{
	struct code_zone *zone = &cache->zones[number];
	struct x86_emitter *side = &zone->side;
	const uint8_t *landing = side->at;

	x86_load(side, X86_RDX, code_spill_address(zone, CODE_SPILL_RDX));
	x86_load(side, X86_RCX, code_spill_address(zone, CODE_SPILL_RCX));
	x86_load(side, X86_R11, code_spill_address(zone, CODE_SPILL_R11));
	x86_jump_to(cache, number, block);
	return landing;
}

void x86_expect(struct code_cache *cache, uint32_t block)
{
	/* Without memory it only costs some exits. */
	if (!cache->blocks.at[block].is_expected)
		cache->blocks.at[block].is_expected = hp_vector_push(&cache->expected, block);
}

void x86_expect_no_more(struct code_cache *cache, uint32_t block)
{
	uint64_t address = cache->blocks.at[block].address;

	for (size_t i = 0; cache->blocks.at[block].is_expected && i < cache->zone_count; i++) {
		struct code_zone *zone = &cache->zones[i];

		if (zone->expected && slot_of(zone, address)->unlike == ~address)
			*slot_of(zone, address) = (struct slot){ 0 };
	}
}

void x86_expect_enter(struct code_cache *cache)
{
	for (uint8_t i = 0; i < cache->zone_count; i++) {
		struct code_zone *zone = &cache->zones[i];

		while (zone->expected && zone->landings.count < cache->expected.count) {
			uint32_t block = cache->expected.at[zone->landings.count];
			const uint8_t *landing = emit_landing(cache, i, block);

			if (code_zone_is_full(zone) || !hp_vector_push(&zone->landings, landing))
				return;
			if (!cache->blocks.at[block].is_gone)
				put(zone, cache->blocks.at[block].address, landing);
		}
	}
}

void x86_expect_move(struct code_cache *cache)
{
	for (size_t i = 0; i < cache->zone_count; i++) {
		struct code_zone *zone = &cache->zones[i];

		if (!zone->expected)
			continue;
		memset(zone->expected, 0, SLOTS * sizeof(struct slot));
		for (size_t j = 0; j < zone->landings.count; j++) {
			const struct code_block *block = &cache->blocks.at[cache->expected.at[j]];

			if (!block->is_gone)
				put(zone, block->address, zone->landings.at[j]);
		}
	}
}

/* --- looking up ------------------------------------------------------------------------------- */

/* rdx = the slot for the address in r11 */
static void emit_slot(struct x86_emitter *side, uint64_t table)
{
	static const uint8_t hash[] = {
		0xb9, 0,    0,	  0,	0,	    /* mov ecx, 0 */
		0xf2, 0x49, 0x0f, 0x38, 0xf1, 0xcb, /* crc32 rcx, r11 */
		0x0f, 0xb7, 0xc9,		    /* movzx ecx, cx */
	};

	x86_bytes(side, hash, sizeof(hash));
	x86_add(side, X86_RCX, X86_RCX, X86_RCX);
	x86_address_of(side, X86_RDX, table);
	x86_add_shifted(side, X86_RDX, X86_RDX, X86_RCX, 3);
}

/* Writes an entry; overwrites rcx and r11. */
static void emit_log(struct code_zone *zone)
{
	struct x86_emitter *side = &zone->side;

	x86_load(side, X86_RCX, code_spill_address(zone, CODE_EXPECTED_NEXT));
	x86_store_based(side, X86_RCX, offsetof(struct code_went, address), X86_R11);
	x86_load(side, X86_R11, code_spill_address(zone, CODE_EXPECTED_SITE));
	x86_store_based(side, X86_RCX, offsetof(struct code_went, site), X86_R11);
	x86_add_constant(side, X86_RCX, X86_RCX, sizeof(struct code_went));
	x86_store(side, code_spill_address(zone, CODE_EXPECTED_NEXT), X86_RCX);
	x86_load(side, X86_RCX, code_spill_address(zone, CODE_EXPECTED_ROOM));
	x86_add_constant(side, X86_RCX, X86_RCX, -1);
	x86_store(side, code_spill_address(zone, CODE_EXPECTED_ROOM), X86_RCX);
}

/* Emits what all branches of the zone share. */
static void emit_look_up(struct code_cache *cache, uint8_t number, uint64_t table)
{
	static const uint8_t go[] = { 0xff, 0xe2 }; /* jmp rdx */
	struct code_zone *zone = &cache->zones[number];
	struct x86_emitter *side = &zone->side;
	uint8_t *full, *hit;

	zone->look_up = side->at;
	x86_store(side, code_spill_address(zone, CODE_SPILL_RDX), X86_RDX);
	x86_load(side, X86_RCX, code_spill_address(zone, CODE_EXPECTED_ROOM));
	full = x86_jump_if_no_rcx(side);
	emit_slot(side, table);
	x86_load_based(side, X86_RCX, X86_RDX, offsetof(struct slot, unlike));
	x86_add(side, X86_RCX, X86_RCX, X86_R11);
	x86_add_constant(side, X86_RCX, X86_RCX, 1);
	hit = x86_jump_if_no_rcx(side);
	x86_patch_short(full, side->at);
	x86_load(side, X86_RDX, code_spill_address(zone, CODE_SPILL_RDX));
	x86_exit(cache, side,
		 &(struct code_exit){
			 .kind = CODE_EXIT_SITE, .zone = number, .number = CODE_NO_NUMBER });
	x86_patch_short(hit, side->at);
	x86_load_based(side, X86_RDX, X86_RDX, offsetof(struct slot, landing));
	emit_log(zone);
	x86_bytes(side, go, sizeof(go));
}

/* False: this processor cannot, or a small zone has no room. */
static bool make_table(struct code_cache *cache, uint8_t number)
{
	struct code_zone *zone = &cache->zones[number];
	uint64_t table;

	if (zone->expected)
		return true;
	if (!__builtin_cpu_supports("sse4.2") ||
	    cache->constants_bytes < 2 * SLOTS * sizeof(struct slot))
		return false;
	zone->expected = code_zone_table(cache, zone, SLOTS * SLOT_WORDS, &table);
	if (!zone->expected)
		return false;
	memset(zone->expected, 0, SLOTS * sizeof(struct slot));
	emit_look_up(cache, number, table);
	return true;
}

const uint8_t *x86_expect_emit(struct code_cache *cache, uint8_t number, uint32_t site)
{
	struct code_zone *zone = &cache->zones[number];
	struct x86_emitter *side = &zone->side;
	bool has_table = make_table(cache, number);
	const uint8_t *start = side->at;

	if (!has_table) {
		x86_exit(cache, side,
			 &(struct code_exit){
				 .kind = CODE_EXIT_SITE, .zone = number, .number = site });
		return start;
	}
	x86_u8(side, 0xb9); /* mov ecx, site */
	x86_bytes(side, &site, sizeof(site));
	x86_store(side, code_spill_address(zone, CODE_EXPECTED_SITE), X86_RCX);
	x86_patch(x86_jump(side), zone->look_up);
	return start;
}

/* --- the log ---------------------------------------------------------------------------------- */

uint32_t x86_expect_site(const struct code_zone *zone)
{
	return (uint32_t)*code_spilled(zone, CODE_EXPECTED_SITE);
}

uint64_t x86_expect_went(const struct code_zone *zone)
{
	uint64_t room = *code_spilled(zone, CODE_EXPECTED_ROOM);

	return room < CODE_EXPECTED_ENTRIES ? CODE_EXPECTED_ENTRIES - room : 0;
}
