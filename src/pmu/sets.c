/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sets.h"

#include <hpcprof/base/number.h>

#include <string.h>

const struct hp_event_set hp_event_sets[] = {
	{ "default", "an overview: time, cycles, instructions, branches, caches, faults",
	  "task-clock context-switches cpu-migrations page-faults cycles instructions branches "
	  "branch-misses cache-references cache-misses" },
	{ "branch", "branches and their prediction",
	  "cycles instructions branches branch-misses branch-load-misses" },
	{ "cache", "the caches, from the first level to the last",
	  "instructions L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-icache-loads "
	  "L1-icache-load-misses LLC-loads LLC-load-misses cache-references cache-misses" },
	{ "tlb", "address translation, for data and for instructions",
	  "instructions dTLB-loads dTLB-load-misses dTLB-stores dTLB-store-misses iTLB-loads "
	  "iTLB-load-misses" },
	{ "node", "memory of this and of other NUMA nodes",
	  "instructions node-loads node-load-misses node-stores node-store-misses" },
	{ "stall", "cycles in which the front end or the back end of the pipeline stalled",
	  "cycles ref-cycles instructions stalled-cycles-frontend stalled-cycles-backend" },
	{ "fault", "page faults by kind, and what the kernel fixed up or emulated",
	  "page-faults minor-faults major-faults alignment-faults emulation-faults" },
	{ "schedule", "time on a CPU, context switches and migrations",
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
