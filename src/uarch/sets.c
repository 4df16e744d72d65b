/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sets.h"

#include "tuning.h"

#include <stdlib.h>

bool uarch_sets_create(struct uarch_sets *sets, const struct hp_uarch_sets *geometry)
{
	size_t blocks = (size_t)geometry->sets * geometry->ways;
	size_t hints = 1;

	*sets = (struct uarch_sets){
		.sets = geometry->sets,
		.ways = geometry->ways,
		.mask = geometry->sets - 1,
		.is_power = (geometry->sets & (geometry->sets - 1)) == 0,
	};
	if (blocks == 0)
		return true;
	while (hints < blocks * HINTS_PER_BLOCK)
		hints *= 2;
	sets->hint_mask = (uint32_t)(hints - 1);
	sets->all = calloc(blocks, sizeof(*sets->all));
	sets->hints = calloc(hints, sizeof(*sets->hints));
	if (!sets->all || !sets->hints)
		return false;
	uarch_sets_reset(sets);
	return true;
}

void uarch_sets_destroy(struct uarch_sets *sets)
{
	free(sets->all);
	free(sets->hints);
	sets->all = NULL;
	sets->hints = NULL;
}

void uarch_sets_reset(struct uarch_sets *sets)
{
	if (!sets->all)
		return;
	for (size_t i = 0; i < (size_t)sets->sets * sets->ways; i++)
		sets->all[i] = (struct uarch_way){ UARCH_EMPTY, 0 };
	sets->clock = 0;
}

/* The way that contains the block; the number of ways if none does. */
static uint32_t find(const struct uarch_sets *sets, const struct uarch_way *set, uint64_t block)
{
	uint32_t way = 0;

	while (way < sets->ways && !uarch_sets_is(set[way].entry, block))
		way++;
	return way;
}

/* The least recently used way. Of ways without a block, the first: a way whose block was removed is
 * filled before ways that are still empty. The code has no branches on what it finds, because these
 * would be hard to predict. */
static uint32_t oldest(const struct uarch_sets *sets, const struct uarch_way *set)
{
	uint64_t least = set[0].used_at;
	uint32_t oldest = 0;

	for (uint32_t way = 1; way < sets->ways; way++) {
		bool is_older = set[way].used_at < least;

		least = is_older ? set[way].used_at : least;
		oldest = is_older ? way : oldest;
	}
	return oldest;
}

static bool has_empty(const struct uarch_sets *sets, const struct uarch_way *set)
{
	for (uint32_t way = 0; way < sets->ways; way++)
		if (set[way].entry == UARCH_EMPTY)
			return true;
	return false;
}

/* `at`: what find() says. */
static enum uarch_found use(struct uarch_sets *sets, struct uarch_way *set, uint64_t block,
			    uint32_t at)
{
	enum uarch_found found = UARCH_HIT;

	sets->evicted = UARCH_EMPTY;
	if (at == sets->ways) {
		at = oldest(sets, set);
		found = UARCH_MISS;
		if (set[at].used_at > 0)
			sets->evicted = set[at].entry;
		else if (has_empty(sets, set))
			found = UARCH_UNKNOWN;
		set[at].entry = block << UARCH_NOTE_BITS;
	}
	set[at].used_at = ++sets->clock;
	sets->used = &set[at];
	return found;
}

enum uarch_found uarch_sets_search(struct uarch_sets *sets, uint64_t block)
{
	struct uarch_way *set = uarch_sets_of(sets, block);
	enum uarch_found found = use(sets, set, block, find(sets, set, block));

	sets->hints[block & sets->hint_mask] = (uint32_t)(sets->used - sets->all);
	return found;
}

enum uarch_found uarch_sets_use_since(struct uarch_sets *sets, uint64_t block, uint64_t since,
				      struct uarch_place *place)
{
	struct uarch_way *set = uarch_sets_of(sets, block);
	uint32_t at = find(sets, set, block);

	*place = (struct uarch_place){ 0 };
	for (uint32_t way = 0; way < sets->ways; way++) {
		place->rank += at == sets->ways || set[way].used_at > set[at].used_at;
		place->known += set[way].used_at > since;
	}
	return use(sets, set, block, at);
}

bool uarch_sets_has_anywhere(const struct uarch_sets *sets, uint64_t block)
{
	return find(sets, uarch_sets_of(sets, block), block) < sets->ways;
}

bool uarch_sets_remove(struct uarch_sets *sets, uint64_t block)
{
	struct uarch_way *set = uarch_sets_of(sets, block);
	uint32_t way = find(sets, set, block);

	if (way == sets->ways)
		return false;
	set[way] = (struct uarch_way){ UARCH_GONE, 0 };
	return true;
}
