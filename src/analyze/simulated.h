/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of simulated regions. Most blocks of a program are short, and many differ only in the
 * names of registers and in addresses: regions with equal costs and dependences have equal
 * schedules. An entry is a pure function of its key, so it never becomes invalid; memory is
 * bounded.
 */
#ifndef HPCPROF_ANALYZE_SIMULATED_H
#define HPCPROF_ANALYZE_SIMULATED_H

#include "region.h"

struct simulated_key {
	uint32_t *words;
	size_t count;
};

/* Builds the key, in the arena, from everything that region_simulate depends on. False: out of
 * memory. */
bool simulated_key(const struct region *region, bool is_carried, double cycles,
		   struct hp_arena *arena, struct simulated_key *key);
/* Fills the rows of a region with this key. Returns false if it was not simulated before. */
bool simulated_find(const struct hp_schedules *schedules, const struct simulated_key *key,
		    struct hp_schedule *schedule);
/* Adds an entry. If memory is short, it does nothing. */
void simulated_keep(struct hp_schedules *schedules, const struct simulated_key *key,
		    const struct hp_schedule *schedule);

#endif
