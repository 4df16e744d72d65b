/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sets.h"

#include <stdlib.h>
#include <string.h>

bool uarch_sets_create(struct uarch_sets *sets, const struct hp_uarch_sets *geometry)
{
	*sets = (struct uarch_sets){ .sets = geometry->sets, .ways = geometry->ways };
	if (geometry->sets == 0 || geometry->ways == 0)
		return true;
	if ((geometry->sets & (geometry->sets - 1)) == 0)
		sets->mask = geometry->sets - 1;
	sets->entries = calloc((size_t)geometry->sets * geometry->ways, sizeof(*sets->entries));
	if (!sets->entries)
		return false;
	uarch_sets_reset(sets);
	return true;
}

void uarch_sets_destroy(struct uarch_sets *sets)
{
	free(sets->entries);
	sets->entries = NULL;
}

void uarch_sets_reset(struct uarch_sets *sets)
{
	if (!sets->entries)
		return;
	for (size_t i = 0; i < (size_t)sets->sets * sets->ways; i++)
		sets->entries[i] = UARCH_EMPTY;
}

/* Puts an entry first, in the place of the one at `way`. */
static void put_first(uint64_t *set, uint32_t way, uint64_t entry)
{
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = entry;
}

/* Blocks come first in a set, then places of blocks that were taken out, then those that are empty
 * since it was cold. */
enum uarch_found uarch_sets_search(const struct uarch_sets *sets, uint64_t *set, uint64_t block,
				   uint64_t *evicted)
{
	uint32_t last = sets->ways - 1;
	uint32_t way = 0;
	uint64_t leaves = set[last];

	*evicted = UARCH_EMPTY;
	while (way < last && !uarch_sets_is(set[way], block))
		way++;
	if (uarch_sets_is(set[way], block)) {
		put_first(set, way, set[way]);
		return UARCH_HIT;
	}
	if (leaves < UARCH_GONE)
		*evicted = leaves;
	else
		for (way = 0; set[way] < UARCH_GONE;)
			way++;
	put_first(set, way, block << UARCH_NOTE_BITS);
	return leaves == UARCH_EMPTY ? UARCH_UNKNOWN : UARCH_MISS;
}

/* Its place; the number of ways if it has none. */
static uint32_t find(const struct uarch_sets *sets, const uint64_t *set, uint64_t block)
{
	uint32_t way = 0;

	while (way < sets->ways && !uarch_sets_is(set[way], block))
		way++;
	return way;
}

bool uarch_sets_has(const struct uarch_sets *sets, uint64_t block)
{
	return find(sets, uarch_sets_of(sets, block), block) < sets->ways;
}

bool uarch_sets_remove(const struct uarch_sets *sets, uint64_t block)
{
	uint64_t *set = uarch_sets_of(sets, block);
	uint32_t way = find(sets, set, block);

	if (way == sets->ways)
		return false;
	for (; way + 1 < sets->ways && set[way + 1] < UARCH_GONE; way++)
		set[way] = set[way + 1];
	set[way] = UARCH_GONE;
	return true;
}
