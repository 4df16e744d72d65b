/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include <hpcprof/base/number.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HARDWARE(id, unit_of, name_, aliases_, description_)                                       \
	{                                                                                          \
		name_, aliases_, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, unit_of, false,           \
			description_                                                               \
	}
#define SOFTWARE(id, unit_of, kernel, name_, aliases_, description_)                               \
	{                                                                                          \
		name_, aliases_, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, unit_of, kernel,          \
			description_                                                               \
	}

const struct hp_event_name hp_event_names[] = {
	HARDWARE(CPU_CYCLES, HP_UNIT_CYCLES, "cycles", "cpu-cycles",
		 "core clock cycles while running"),
	HARDWARE(INSTRUCTIONS, HP_UNIT_INSTRUCTIONS, "instructions", "", "instructions retired"),
	HARDWARE(CACHE_REFERENCES, HP_UNIT_EVENTS, "cache-references", "",
		 "accesses that reach the last-level cache (on most CPUs)"),
	HARDWARE(CACHE_MISSES, HP_UNIT_EVENTS, "cache-misses", "",
		 "accesses that miss the last-level cache (on most CPUs)"),
	HARDWARE(BRANCH_INSTRUCTIONS, HP_UNIT_EVENTS, "branches", "branch-instructions",
		 "branch instructions retired"),
	HARDWARE(BRANCH_MISSES, HP_UNIT_EVENTS, "branch-misses", "",
		 "branch instructions that were mispredicted"),
	HARDWARE(BUS_CYCLES, HP_UNIT_EVENTS, "bus-cycles", "",
		 "cycles of the bus or of a fixed-rate clock"),
	HARDWARE(STALLED_CYCLES_FRONTEND, HP_UNIT_EVENTS, "stalled-cycles-frontend",
		 "idle-cycles-frontend", "cycles in which nothing was fetched or decoded to issue"),
	HARDWARE(STALLED_CYCLES_BACKEND, HP_UNIT_EVENTS, "stalled-cycles-backend",
		 "idle-cycles-backend", "cycles in which nothing could issue or retire"),
	HARDWARE(REF_CPU_CYCLES, HP_UNIT_EVENTS, "ref-cycles", "",
		 "cycles at the nominal clock, at any frequency"),
	SOFTWARE(CPU_CLOCK, HP_UNIT_NS, false, "cpu-clock", "", "time on a CPU, by a timer (ns)"),
	SOFTWARE(TASK_CLOCK, HP_UNIT_NS, false, "task-clock", "", "time the task ran (ns)"),
	SOFTWARE(PAGE_FAULTS, HP_UNIT_EVENTS, false, "page-faults", "faults", "page faults"),
	SOFTWARE(CONTEXT_SWITCHES, HP_UNIT_EVENTS, true, "context-switches", "cs",
		 "switches to another task"),
	SOFTWARE(CPU_MIGRATIONS, HP_UNIT_EVENTS, true, "cpu-migrations", "migrations",
		 "migrations to another CPU"),
	SOFTWARE(PAGE_FAULTS_MIN, HP_UNIT_EVENTS, false, "minor-faults", "",
		 "page faults that needed no input"),
	SOFTWARE(PAGE_FAULTS_MAJ, HP_UNIT_EVENTS, false, "major-faults", "",
		 "page faults that waited for input"),
	SOFTWARE(ALIGNMENT_FAULTS, HP_UNIT_EVENTS, false, "alignment-faults", "",
		 "unaligned accesses that the kernel fixed up"),
	SOFTWARE(EMULATION_FAULTS, HP_UNIT_EVENTS, false, "emulation-faults", "",
		 "instructions that the kernel emulated"),
	SOFTWARE(DUMMY, HP_UNIT_EVENTS, false, "dummy", "",
		 "never happens; carries side-band records"),
	SOFTWARE(BPF_OUTPUT, HP_UNIT_EVENTS, true, "bpf-output", "", "output of a BPF program"),
	SOFTWARE(CGROUP_SWITCHES, HP_UNIT_EVENTS, true, "cgroup-switches", "",
		 "switches to a task of another cgroup"),
};
const size_t hp_event_name_count = HP_ARRAY_COUNT(hp_event_names);

/* Returns the length of the longest blank-separated word of `list` that equals `word`, or 0. With
 * `as_prefix`, `word` may continue with a '-' behind it. */
static size_t match_word(const char *list, const char *word, bool as_prefix)
{
	size_t best = 0;

	while (*list) {
		size_t length = strcspn(list, " ");
		bool ends = strncasecmp(list, word, length) == 0 &&
			    (!word[length] || (as_prefix && word[length] == '-'));

		if (ends && length > best)
			best = length;
		list += length + (list[length] == ' ');
	}
	return best;
}

const struct hp_event_name *hp_event_name_find(const char *name)
{
	for (size_t i = 0; i < hp_event_name_count; i++)
		if (!strcasecmp(hp_event_names[i].name, name) ||
		    match_word(hp_event_names[i].aliases, name, false))
			return &hp_event_names[i];
	return NULL;
}

/* The three axes of the matrix; the first word of each is the canonical one. */
struct axis_entry {
	const char *words;
	const char *means;
	unsigned operations; /* which of read, write, prefetch the kernel defines (bits) */
};

enum { READ = 1 << 0, WRITE = 1 << 1, PREFETCH = 1 << 2 };

static const struct axis_entry caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { "L1-dcache l1-d l1d L1-data", "level 1 data cache",
				      READ | WRITE | PREFETCH },
	[PERF_COUNT_HW_CACHE_L1I] = { "L1-icache l1-i l1i L1-instruction",
				      "level 1 instruction cache", READ | PREFETCH },
	[PERF_COUNT_HW_CACHE_LL] = { "LLC L2", "last-level cache", READ | WRITE | PREFETCH },
	[PERF_COUNT_HW_CACHE_DTLB] = { "dTLB d-tlb Data-TLB", "data TLB", READ | WRITE | PREFETCH },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB i-tlb Instruction-TLB", "instruction TLB", READ },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch branches bpu btb bpc", "branch predictor", READ },
	[PERF_COUNT_HW_CACHE_NODE] = { "node", "memory of the local node",
				       READ | WRITE | PREFETCH },
};
static const struct axis_entry operations[] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "load loads read", "loads", 0 },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "store stores write", "stores", 0 },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetch prefetches speculative-read "
					      "speculative-load",
					      "prefetches", 0 },
};
static const struct axis_entry results[] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs Reference ops access", "", 0 },
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses miss", "that miss", 0 },
};

/* Returns the entry that `*text` begins with, and moves past it; -1: none. */
static int take(const struct axis_entry *axis, size_t count, const char **text)
{
	size_t best = 0;
	int found = -1;

	for (size_t i = 0; i < count; i++) {
		size_t length = match_word(axis[i].words, *text, true);

		if (length > best) {
			best = length;
			found = (int)i;
		}
	}
	if (found >= 0) {
		*text += best;
		*text += **text == '-';
	}
	return found;
}

static uint64_t cell_config(int cache, int operation, int result)
{
	return (uint64_t)cache | (uint64_t)operation << 8 | (uint64_t)result << 16;
}

bool hp_event_cache_find(const char *name, uint64_t *config)
{
	const char *rest = name;
	int cache = take(caches, HP_ARRAY_COUNT(caches), &rest);
	int operation = -1;
	int result = -1;

	if (cache < 0)
		return false;
	/* One or both of the other axes, in either order. */
	for (int i = 0; i < 2 && *rest; i++) {
		const char *before = rest;

		if (operation < 0)
			operation = take(operations, HP_ARRAY_COUNT(operations), &rest);
		if (result < 0 && rest == before)
			result = take(results, HP_ARRAY_COUNT(results), &rest);
	}
	if (*rest || rest[-1] == '-')
		return false;
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!(caches[cache].operations & 1u << operation))
		return false;
	*config = cell_config(cache, operation, result);
	return true;
}

bool hp_event_cache_cell(size_t index, struct hp_event_cache_cell *cell)
{
	static const char *const names[][2] = { { "loads", "load-misses" },
						{ "stores", "store-misses" },
						{ "prefetches", "prefetch-misses" } };
	size_t at = 0;

	for (size_t cache = 0; cache < HP_ARRAY_COUNT(caches); cache++) {
		for (size_t operation = 0; operation < HP_ARRAY_COUNT(operations); operation++) {
			for (size_t result = 0; result < HP_ARRAY_COUNT(results); result++) {
				int length = (int)strcspn(caches[cache].words, " ");

				if (!(caches[cache].operations & 1u << operation) || at++ != index)
					continue;
				snprintf(cell->name, sizeof(cell->name), "%.*s-%s", length,
					 caches[cache].words, names[operation][result]);
				snprintf(cell->description, sizeof(cell->description), "%s: %s%s%s",
					 caches[cache].means, operations[operation].means,
					 result ? " " : "", results[result].means);
				cell->config = cell_config((int)cache, (int)operation, (int)result);
				return true;
			}
		}
	}
	return false;
}
