/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of a cache at one moment, and the executions between two such moments. */
#ifndef SHADOW_TRANSLATE_COUNTS_H
#define SHADOW_TRANSLATE_COUNTS_H

#include "code_cache.h"

struct hp_replay;

/* The counters at one moment. Without zones, all counters were 0. */
struct shadow_counts {
	struct {
		uint64_t *at; /* Owned */
		size_t count, capacity;
	} zones[SHADOW_PLACES];
	uint32_t count_starts; /* the cache's `count_starts` at that moment */
};

/* False: out of memory. */
bool shadow_counts_take(struct shadow_counts *counts, const struct code_cache *cache);
void shadow_counts_free(struct shadow_counts *counts);

/* How often this block has run until now. */
uint64_t shadow_counts_now(const struct code_cache *cache, uint32_t block);

/* Sets the replay's blocks, edges, instructions and number of parts. Each part lies between two
 * consecutive moments. There are at most HP_WINDOW_PARTS + 1 moments. */
struct hp_error *shadow_counts_between(const struct code_cache *cache,
				       const struct shadow_counts *const *moments, size_t count,
				       struct hp_replay *replay);

#endif
