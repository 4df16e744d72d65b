/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "indirect.h"

#include <stdlib.h>
#include <string.h>

bool uarch_indirect_create(struct uarch_indirect *indirect, const struct hp_uarch_predictor *sizes)
{
	*indirect = (struct uarch_indirect){
		.mask = sizes->indirect_entries - 1,
		.shift = (unsigned)__builtin_ctz(sizes->indirect_entries),
		.tables = sizes->tagged_tables,
	};
	indirect->last = calloc(LAST_TARGETS, sizeof(*indirect->last));
	indirect->tagged =
		calloc((size_t)indirect->tables << indirect->shift, sizeof(*indirect->tagged));
	uarch_indirect_reset(indirect);
	return indirect->last && indirect->tagged;
}

void uarch_indirect_destroy(struct uarch_indirect *indirect)
{
	free(indirect->last);
	free(indirect->tagged);
	indirect->last = NULL;
	indirect->tagged = NULL;
}

void uarch_indirect_reset(struct uarch_indirect *indirect)
{
	if (indirect->last)
		memset(indirect->last, 0, LAST_TARGETS * sizeof(*indirect->last));
	if (indirect->tagged)
		memset(indirect->tagged, 0,
		       (sizeof(*indirect->tagged) * indirect->tables) << indirect->shift);
	indirect->random = 1;
}

/* The entries of one branch in all tables. */
struct places {
	struct uarch_target *entries[TABLES_MOST];
	uint16_t tags[TABLES_MOST];
	struct uarch_target *last;
	/* the entry with the longest history, or NULL; the next longest */
	struct uarch_target *provider, *next;
	unsigned table; /* table of the provider */
};

static void find_entries(const struct uarch_indirect *indirect, const struct uarch_history *history,
			 uint32_t hash, struct places *places)
{
	for (unsigned i = 0; i < indirect->tables; i++) {
		uint32_t path = history->hash.at[i];
		uint32_t index = (hash ^ hash >> indirect->shift ^ path) & indirect->mask;

		places->entries[i] = &indirect->tagged[((size_t)i << indirect->shift) + index];
		places->tags[i] = (uint16_t)(((hash >> 13 ^ path >> (32 - TAG_BITS)) & TAG_MASK) + 1);
	}
}

/* Finds the entries, and returns the predicted target. */
static uint64_t find_places(const struct uarch_indirect *indirect,
			    const struct uarch_history *history, uint64_t ip, struct places *places)
{
	uint32_t hash = uarch_hash(ip);

	find_entries(indirect, history, hash, places);
	places->last = &indirect->last[hash >> 7 & (LAST_TARGETS - 1)];
	places->provider = places->next = NULL;
	places->table = 0;
	for (unsigned i = indirect->tables; i-- > 0 && !places->next;) {
		if (places->entries[i]->tag != places->tags[i])
			continue;
		if (places->provider) {
			places->next = places->entries[i];
		} else {
			places->provider = places->entries[i];
			places->table = i;
		}
	}
	if (!places->next)
		places->next = places->last;
	return places->provider && places->provider->confidence > 0 ? places->provider->target
								    : places->next->target;
}

uint64_t uarch_indirect_guess(const struct uarch_indirect *indirect,
			      const struct uarch_history *history, uint64_t ip)
{
	struct places places;

	return find_places(indirect, history, ip, &places);
}

static void learn(struct uarch_target *entry, uint64_t target)
{
	if (entry->target == target) {
		if (entry->confidence < 3)
			entry->confidence++;
	} else if (entry->confidence > 0) {
		entry->confidence--;
	} else {
		entry->target = target;
	}
}

/* Allocates an entry with a longer history, in one of the tables from `first` on that has a free
 * one. */
static void allocate(struct uarch_indirect *indirect, const struct places *places, unsigned first,
		     uint64_t target)
{
	indirect->random = indirect->random * 1103515245 + 12345;
	if (first + 1 < indirect->tables && (indirect->random >> 16 & 1))
		first++;
	for (unsigned i = first; i < indirect->tables; i++) {
		struct uarch_target *entry = places->entries[i];

		if (entry->useful == 0) {
			*entry = (struct uarch_target){ .target = target, .tag = places->tags[i] };
			return;
		}
		entry->useful = 0;
	}
}

bool uarch_indirect_follow(struct uarch_indirect *indirect, const struct uarch_history *history,
			   uint64_t ip, uint64_t target, bool *is_cold, bool *is_late)
{
	struct places places;
	uint64_t predicted = find_places(indirect, history, ip, &places);
	struct uarch_target *last = places.last, *provider = places.provider, *next = places.next;

	indirect->predicted = predicted;
	*is_cold = last->seen < COLD_EXECUTIONS;
	last->has_several |= last->seen && (uint16_t)uarch_hash(target) != last->newest;
	*is_late = last->has_several;
	last->newest = (uint16_t)uarch_hash(target);
	if (last->seen < COLD_EXECUTIONS)
		last->seen++;
	if (predicted != target && (!provider || provider->target != target))
		allocate(indirect, &places, provider ? places.table + 1 : 0, target);
	if (provider) {
		if (provider->target == target && next->target != target)
			provider->useful = 1;
		if (provider->confidence == 0)
			learn(next, target);
		learn(provider, target);
	} else {
		learn(last, target);
	}
	return predicted == target;
}
