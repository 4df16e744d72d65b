/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sets.h"

#include <hpcprof/base/number.h>

#include <string.h>

const struct hp_event_set hp_event_sets[] = {
	{ "default",
	  "what a first look needs: time, cycles, instructions, branches, caches, faults",
	  "task-clock context-switches cpu-migrations page-faults cycles instructions branches "
	  "branch-misses cache-references cache-misses" },
	{ "branch", "branches and how well they are predicted",
	  "cycles instructions branches branch-misses branch-load-misses" },
	{ "cache", "the caches, from the first level to the last",
	  "instructions L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-icache-loads "
	  "L1-icache-load-misses LLC-loads LLC-load-misses cache-references cache-misses" },
	{ "tlb", "translations of addresses, for data and for instructions",
	  "instructions dTLB-loads dTLB-load-misses dTLB-stores dTLB-store-misses iTLB-loads "
	  "iTLB-load-misses" },
	{ "node", "memory of this and of other nodes",
	  "instructions node-loads node-load-misses node-stores node-store-misses" },
	{ "stall", "cycles in which the front or the back of the pipeline stood still",
	  "cycles ref-cycles instructions stalled-cycles-frontend stalled-cycles-backend" },
	{ "fault", "page faults by what they took, and what the kernel had to do itself",
	  "page-faults minor-faults major-faults alignment-faults emulation-faults" },
	{ "schedule", "time on the CPU, and how often it was taken away",
	  "task-clock context-switches cpu-migrations" },
};
const size_t hp_event_set_count = HP_ARRAY_COUNT(hp_event_sets);

const struct hp_event_set *hp_event_set_find(const char *name, size_t length)
{
	for (size_t i = 0; i < hp_event_set_count; i++)
		if (strlen(hp_event_sets[i].name) == length &&
		    strncmp(hp_event_sets[i].name, name, length) == 0)
			return &hp_event_sets[i];
	return NULL;
}
