/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stores.h"

#include "tuning.h"

#include <hpcprof/uarch/path.h>

#include <stdlib.h>
#include <string.h>

bool uarch_stores_create(struct uarch_stores *stores, const struct hp_uarch_geometry *geometry)
{
	uint32_t places = 1;

	/* One more than the queue holds, since a new store is added before the oldest leaves. */
	while (places <= geometry->store_entries)
		places *= 2;
	*stores = (struct uarch_stores){
		.entries = geometry->store_entries,
		.mask = places - 1,
		.age_most = geometry->reorder_slots,
		.ring = calloc(places, sizeof(*stores->ring)),
	};
	return stores->ring != NULL;
}

void uarch_stores_destroy(struct uarch_stores *stores)
{
	free(stores->ring);
	stores->ring = NULL;
}

void uarch_stores_reset(struct uarch_stores *stores)
{
	stores->newest = stores->gone = stores->met = 0;
	memset(stores->youngest, 0, sizeof(stores->youngest));
}

void uarch_stores_add(struct uarch_stores *stores, uint64_t begin, uint64_t end, uint64_t now)
{
	uint64_t number = ++stores->newest;
	uint64_t last = end >> GRANULE_SHIFT;

	stores->ring[number & stores->mask] = (struct uarch_store){ begin, end, now };
	if (number - stores->gone > stores->entries)
		stores->gone++;
	for (uint64_t at = begin >> GRANULE_SHIFT; at <= last; at++)
		stores->youngest[at & (GRANULES - 1)] = number;
}

/* Whether the two overlap in their offsets within pages. */
static bool is_alias(const struct uarch_store *store, uint64_t begin, uint64_t end)
{
	enum { MASK = (1 << ALIAS_BITS) - 1 };

	return ((begin - store->begin) & MASK) <= store->end - store->begin ||
	       ((store->begin - begin) & MASK) <= end - begin;
}

unsigned uarch_stores_search(struct uarch_stores *stores, uint64_t number, uint64_t begin,
			     uint64_t end, uint64_t now)
{
	unsigned alias = 0;

	for (; uarch_stores_has(stores, number, now); number--) {
		const struct uarch_store *store = &stores->ring[number & stores->mask];

		if (store->begin > end || store->end < begin) {
			if (is_alias(store, begin, end))
				alias = HP_UARCH_ALIAS_4K;
			continue;
		}
		stores->met = number;
		if (store->begin > begin || store->end < end)
			return HP_UARCH_FORWARD_FAILED;
		if (now - store->when <= YOUNG_STORE)
			return HP_UARCH_FORWARDED | HP_UARCH_FORWARDED_YOUNG;
		return HP_UARCH_FORWARDED;
	}
	return alias;
}
