/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "forwards.h"

#include <string.h>

bool uarch_forwards_create(struct uarch_forwards *forwards, const struct hp_core *core)
{
	const struct hp_uarch_sets surely = { .sets = 1, .ways = core->remembered_loads };
	const struct hp_uarch_sets perhaps = { .sets = 1, .ways = 2 * surely.ways };

	memset(forwards, 0, sizeof(*forwards));
	forwards->span = core->renamed_stores;
	return !core->remembered_loads || (uarch_sets_create(&forwards->remembered, &surely) &&
					   uarch_sets_create(&forwards->perhaps, &perhaps));
}

void uarch_forwards_destroy(struct uarch_forwards *forwards)
{
	uarch_sets_destroy(&forwards->remembered);
	uarch_sets_destroy(&forwards->perhaps);
}

void uarch_forwards_reset(struct uarch_forwards *forwards)
{
	memset(forwards, 0, offsetof(struct uarch_forwards, remembered));
	if (!forwards->remembered.all)
		return;
	uarch_sets_reset(&forwards->remembered);
	uarch_sets_reset(&forwards->perhaps);
}

static uint64_t mix(uint64_t value)
{
	value *= UINT64_C(0x9e3779b97f4a7c15);
	return value ^ value >> 32;
}

static uint64_t version_of(const struct uarch_forwards *forwards, uint8_t number)
{
	return number < HP_REGISTER_COUNT ? (uint64_t)number << 32 | forwards->versions[number]
					  : UINT64_MAX;
}

/* Includes which values its registers have; 0: the core does not rename it by name. */
static uint64_t name_of(const struct uarch_forwards *forwards, const struct hp_timed_name *name)
{
	if (!name->is_known)
		return 0;
	return mix(mix(mix(name->hash) ^ version_of(forwards, name->base)) ^
		   version_of(forwards, name->index)) |
	       1;
}

void uarch_forwards_insn(struct uarch_forwards *forwards, const struct hp_timed_insn *insn)
{
	for (unsigned i = 0; i < insn->result_count; i++) {
		if (insn->results[i] >= HP_REGISTER_COUNT)
			continue;
		forwards->versions[insn->results[i]]++;
		forwards->pairs[insn->results[i]] = 0;
	}
	forwards->last = insn->place;
}

void uarch_forwards_turn(struct uarch_forwards *forwards)
{
	forwards->path = forwards->path << 64 / REMEMBERED_PATH ^ mix(forwards->last) >> 48;
}

/* A store whose data is no general register, or a part of one, is not renamed, whatever its name. */
void uarch_forwards_store(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			  uint64_t number)
{
	const struct hp_timed_name *name = &insn->stored;
	uint64_t by_name = name_of(forwards, name);

	forwards->newest = number;
	/* Of a place that nothing names, each is another one. */
	forwards->names[number % FORWARD_STORES] = !name->is_whole ? 0
						   : by_name	   ? by_name
								   : mix(number) << 1;
}

static bool is_known_by_name(struct uarch_forwards *forwards, const struct hp_timed_name *name,
			     uint64_t stored, uint64_t number)
{
	if (name_of(forwards, name) != stored)
		return false;
	if (name->base < HP_REGISTER_COUNT && forwards->newest - number > forwards->span / 2)
		return false;
	if (name->base >= HP_REGISTER_COUNT || forwards->pairs[name->base] >= NAMED_PAIRS)
		return true;
	forwards->pairs[name->base]++;
	return false;
}

unsigned uarch_forwards_load(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			     uint64_t number)
{
	uint64_t stored = forwards->names[number % FORWARD_STORES];
	bool is_renamed = insn->loaded.is_whole && stored;
	bool is_remembered, is_perhaps;
	uint64_t key;

	if (forwards->newest - number >= forwards->span)
		return FORWARD_HALVES;
	if (is_renamed && is_known_by_name(forwards, &insn->loaded, stored, number))
		return 0;
	key = mix(mix(forwards->path) ^ (uint64_t)insn->place << 8 ^ (forwards->newest - number));
	key = key >> UARCH_NOTE_BITS >> 1;
	is_remembered = uarch_sets_use(&forwards->remembered, key) == UARCH_HIT;
	is_perhaps = uarch_sets_use(&forwards->perhaps, key) == UARCH_HIT;
	/* What is not renamed is remembered, too, instead of others. */
	if (!is_renamed)
		return FORWARD_HALVES;
	return is_remembered ? 0 : is_perhaps ? FORWARD_HALVES / 2 : FORWARD_HALVES;
}
