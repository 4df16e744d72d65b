/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "forwards.h"

#include <string.h>

bool uarch_forwards_create(struct uarch_forwards *forwards, const struct hp_core *core)
{
	const struct hp_uarch_sets pairs = { .sets = FORWARD_SETS, .ways = core->remembered_pairs };

	memset(forwards, 0, sizeof(*forwards));
	forwards->span = core->renamed_stores;
	forwards->knows_all = core->renaming == HP_RENAMING_ALL;
	return !pairs.ways || uarch_sets_create(&forwards->remembered, &pairs);
}

void uarch_forwards_destroy(struct uarch_forwards *forwards)
{
	uarch_sets_destroy(&forwards->remembered);
}

void uarch_forwards_reset(struct uarch_forwards *forwards)
{
	memset(forwards, 0, offsetof(struct uarch_forwards, remembered));
	if (forwards->remembered.all)
		uarch_sets_reset(&forwards->remembered);
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
}

/* A store whose data is no general register, or a part of one, is not renamed, whatever its name. */
void uarch_forwards_store(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			  uint64_t number)
{
	const struct hp_timed_name *name = &insn->stored;
	uint64_t by_name = name_of(forwards, name);

	forwards->newest = number;
	forwards->places[number % FORWARD_STORES] = insn->place;
	/* Of a place that nothing names, each is another one. */
	forwards->names[number % FORWARD_STORES] = !name->may_be_renamed ? 0
						   : by_name		 ? by_name
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

/* The set is the last bit. */
static uint64_t pair_of(uint32_t load, uint32_t store)
{
	uint64_t pair = mix(mix((uint64_t)load << 32 | store)) >> UARCH_NOTE_BITS >> 1;
	uint64_t page = mix(load / CODE_PAGE) >> 32;

	return (pair & ~UINT64_C(1)) | ((load ^ load >> 1 ^ page) & 1);
}

bool uarch_forwards_load(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			 uint64_t number)
{
	uint64_t stored = forwards->names[number % FORWARD_STORES];
	bool may_be_renamed = insn->loaded.may_be_renamed && stored;
	bool is_renamed = may_be_renamed && forwards->newest - number < forwards->span;
	bool is_remembered;

	if (forwards->knows_all)
		return may_be_renamed;
	if (is_renamed && is_known_by_name(forwards, &insn->loaded, stored, number))
		return true;
	if (insn->loaded.is_known && insn->loaded.base == HP_REGISTER_NONE)
		return false;
	/* What is not renamed is remembered, too, instead of others. */
	is_remembered =
		uarch_sets_use(&forwards->remembered,
			       pair_of(insn->place, forwards->places[number % FORWARD_STORES])) ==
		UARCH_HIT;
	return is_renamed && is_remembered;
}
