/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store queue: stores that may not have reached the cache when a later load reads their bytes.
 * A store leaves the queue when the queue is full, or when it is too old for the core to have it in flight;
 * its age is checked when a load looks for it. The youngest older store that overlaps the load decides.
 */
#ifndef HPCPROF_SRC_UARCH_STORES_H
#define HPCPROF_SRC_UARCH_STORES_H

#include <hpcprof/uarch/geometry.h>

enum {
	GRANULE_SHIFT = 3,
	ALIAS_BITS = 12, /* low bits of addresses, which a load compares first */
	GRANULES = 1 << (ALIAS_BITS - GRANULE_SHIFT),
};

struct uarch_store {
	uint64_t begin, end; /* addresses of its first and last byte */
	uint64_t when;	     /* time, in instructions */
};

/* Stores are numbered from 1. */
struct uarch_stores {
	struct uarch_store *ring;
	/* number of the youngest store, and of the youngest that has left a full queue */
	uint64_t newest, gone;
	/* number of the store met by the last load that found its bytes in the queue */
	uint64_t met;
	uint32_t entries, mask, age_most;
	uint64_t youngest[GRANULES]; /* by granule of a page: number of the youngest store to it */
};

bool uarch_stores_create(struct uarch_stores *stores, const struct hp_uarch_geometry *geometry);
void uarch_stores_destroy(struct uarch_stores *stores);
void uarch_stores_reset(struct uarch_stores *stores);

void uarch_stores_add(struct uarch_stores *stores, uint64_t begin, uint64_t end, uint64_t now);

static inline bool uarch_stores_has(const struct uarch_stores *stores, uint64_t number,
				    uint64_t now)
{
	return number > stores->gone &&
	       now - stores->ring[number & stores->mask].when <= stores->age_most;
}

/* The rest of uarch_stores_load: searches from the store with this number to older ones. */
unsigned uarch_stores_search(struct uarch_stores *stores, uint64_t number, uint64_t begin,
			     uint64_t end, uint64_t now);

/* The events of a load. */
static inline unsigned uarch_stores_load(struct uarch_stores *stores, uint64_t begin, uint64_t end,
					 uint64_t now)
{
	uint64_t last = end >> GRANULE_SHIFT;
	uint64_t youngest = stores->youngest[last & (GRANULES - 1)];

	for (uint64_t at = begin >> GRANULE_SHIFT; at != last; at++)
		if (stores->youngest[at & (GRANULES - 1)] > youngest)
			youngest = stores->youngest[at & (GRANULES - 1)];
	if (!uarch_stores_has(stores, youngest, now))
		return 0;
	return uarch_stores_search(stores, youngest, begin, end, now);
}

#endif
