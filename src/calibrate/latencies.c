/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/calibrate/latencies.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, PAGE_BYTES = 4096 };

/* For functions that are timed: a build for coverage would count in each loop. */
#define TIMED __attribute__((no_profile_instrument_function))

/* Uses another line of each page, since equal lines of all pages would be in one set of the
 * cache. */
static char *place_of(char *memory, size_t number, size_t apart)
{
	return memory + number * apart + (apart > LINE_BYTES ? number * LINE_BYTES % apart : 0);
}

/* Makes a ring of lines at this distance (of fewer if `count` is no power of two), in an order
 * without regular steps (a linear congruential generator of full period), so that neither
 * prefetchers nor the memory's open rows help. */
static void **ring(char *memory, size_t count, size_t apart)
{
	size_t lines = (size_t)1 << (63 - __builtin_clzll(count));

	for (size_t i = 0; i < lines; i++) {
		size_t next = (i * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407)) &
			      (lines - 1);

		*(void **)(void *)place_of(memory, i, apart) = place_of(memory, next, apart);
	}
	return (void **)(void *)memory;
}

/* What passes between two readings of the clock, which is a system call: in a virtual machine up to a
 * quarter of the time of a part that stays in the first level. */
static double clock_ns(void)
{
	double least_ns = INFINITY;

	for (size_t i = 0; i < LATENCY_CLOCK_TRIES; i++) {
		double start_ns = (double)hp_clock_thread_ns();

		least_ns = fmin(least_ns, (double)hp_clock_thread_ns() - start_ns);
	}
	return least_ns;
}

TIMED static double chase_ns(void ***at, size_t steps)
{
	void **line = *at;
	double start_ns = (double)hp_clock_thread_ns();

	for (size_t i = 0; i < steps; i++)
		line = *line;
	__asm__ volatile("" : "+r"(line));
	*at = line;
	return ((double)hp_clock_thread_ns() - start_ns) / (double)steps;
}

HP_ORDER_VALUES(compare, double);

/* The time of one load in a ring of `count` lines, in ns. `is_warm`: each line is visited before it
 * counts, as often as it takes to stay. The shortest part counts, or, if others share what serves the
 * loads (`is_shared`), the median. */
static double ring_ns(char *memory, size_t count, size_t apart, bool is_warm, bool is_shared)
{
	void **at = ring(memory, count, apart);
	double parts[LATENCY_PARTS];

	for (size_t i = 0; is_warm && i < LATENCY_VISITS; i++)
		(void)chase_ns(&at, count);
	for (size_t i = 0; i < LATENCY_PARTS; i++)
		parts[i] = chase_ns(&at, LATENCY_STEPS);
	qsort(parts, LATENCY_PARTS, sizeof(*parts), compare);
	return parts[is_shared ? LATENCY_PARTS / 2 : 0] - clock_ns() / LATENCY_STEPS;
}

static double load_ns(char *memory, size_t bytes, bool is_warm, bool is_shared)
{
	return ring_ns(memory, bytes / LINE_BYTES, LINE_BYTES, is_warm, is_shared);
}

/* --- pages ------------------------------------------------------------------------------------ */

static size_t entries_of(const struct hp_uarch_sets *sets)
{
	return (size_t)sets->sets * sets->ways;
}

/* Measures by how much longer a load takes from pages that are not in the first TLB, or in neither.
 * The lines are in the first or second cache, and so are the page tables. */
static void measure_pages(char *memory, const struct hp_uarch_geometry *geometry,
			  struct hp_core *core, double cycle_ns)
{
	size_t second = LATENCY_TLB_TIMES * entries_of(&geometry->dtlb);
	size_t none = LATENCY_TLB_TIMES * entries_of(&geometry->tlb2);
	double far_ns, near_ns;

	if (second * LINE_BYTES < entries_of(&geometry->l1d) * geometry->line_bytes &&
	    second < entries_of(&geometry->tlb2)) {
		near_ns = ring_ns(memory, second, PAGE_BYTES, true, false);
		core->l2_tlb_cycles = (uint16_t)fmin(
			UINT8_MAX, fmax(1, near_ns / cycle_ns - core->l1_cycles + 0.5));
	}
	if (none * LINE_BYTES < entries_of(&geometry->l2) * geometry->line_bytes &&
	    none * PAGE_BYTES <= LATENCY_THIRD_BYTES) {
		far_ns = ring_ns(memory, none, PAGE_BYTES, true, false);
		core->walk_cycles =
			(uint16_t)fmin(UINT16_MAX, fmax(core->l2_tlb_cycles,
							far_ns / cycle_ns - core->l2_cycles + 0.5));
	}
}

/* --- branches --------------------------------------------------------------------------------- */

/* The time in ns of branches whose directions are the bits of words. Each depends on a register only, as a
 * load would add its own latency to that of the branch. */
TIMED static double branches_ns(const uint64_t *words)
{
	double start_ns = (double)hp_clock_thread_ns();
	uint64_t sum = 0;

	for (size_t i = 0; i < LATENCY_STEPS / 64; i++) {
		uint64_t word = words[i];

#ifdef __x86_64__
		__asm__ volatile(".rept 64; add %0, %0; jnc 1f; nop; 1:; .endr"
				 : "+r"(word)
				 :
				 : "cc");
#endif
		sum += word;
	}
	__asm__ volatile("" : : "r"(sum));
	return (double)hp_clock_thread_ns() - start_ns;
}

/* A branch with random directions costs half a misprediction more than one that alternates. */
static void measure_branches(uint64_t *words, struct hp_core *core, double cycle_ns)
{
	struct hp_random random = hp_random_seeded(hp_clock_thread_ns());
	double strange[LATENCY_PARTS], known[LATENCY_PARTS], cycles;

	for (size_t part = 0; part < LATENCY_PARTS; part++) {
		for (size_t i = 0; i < LATENCY_STEPS / 64; i++)
			words[i] = hp_random_next(&random);
		strange[part] = branches_ns(words);
	}
	memset(words, 0x55, LATENCY_STEPS / 8);
	for (size_t part = 0; part < LATENCY_PARTS; part++)
		known[part] = branches_ns(words);
	qsort(strange, LATENCY_PARTS, sizeof(*strange), compare);
	qsort(known, LATENCY_PARTS, sizeof(*known), compare);
	cycles = 2 * (strange[0] - known[0]) / LATENCY_STEPS / cycle_ns;
	if (cycles >= LATENCY_LEAST_GUESS && cycles <= LATENCY_MOST_GUESS)
		core->mispredict_cycles = (uint16_t)(cycles + 0.5);
}

static uint16_t cycles_of(double ns, const struct hp_core *core, double first_ns, uint16_t least)
{
	return (uint16_t)fmin(UINT16_MAX, fmax(ns / first_ns * core->l1_cycles, least));
}

static char *map(size_t bytes, int pages)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, bytes, pages);
	return memory;
}

/* Without page walks, since huge pages need hardly any. */
static double memory_ns(void)
{
	char *memory = map(LATENCY_BYTES, MADV_HUGEPAGE);
	double ns = memory ? load_ns(memory, LATENCY_BYTES, false, true) : 0;

	if (memory)
		munmap(memory, LATENCY_BYTES);
	return ns;
}

/* The size of the largest ring that takes less than the geometric mean of the latencies of the
 * third level and of memory. */
static size_t third_bytes(char *memory, size_t served, double third_ns, double far_ns)
{
	double halfway_ns = sqrt(third_ns * far_ns);

	while (2 * served <= LATENCY_THIRD_BYTES &&
	       load_ns(memory, 2 * served, true, true) < halfway_ns)
		served *= 2;
	return served;
}

static void measure(char *memory, struct hp_uarch_geometry *geometry, struct hp_core *core)
{
	size_t first = (size_t)geometry->l1d.sets * geometry->l1d.ways * geometry->line_bytes;
	size_t second = (size_t)geometry->l2.sets * geometry->l2.ways * geometry->line_bytes;
	size_t second_part = LATENCY_SECOND_TIMES * first < second / 2
				     ? LATENCY_SECOND_TIMES * first
				     : second / 2;
	struct hp_uarch_geometry changed = *geometry;
	double first_ns, second_ns, third_ns, far_ns;

	if (first < 2 * LINE_BYTES || 2 * second > LATENCY_THIRD_BYTES)
		return;
	far_ns = memory_ns();
	third_ns = load_ns(memory, 2 * second, true, true);
	second_ns = load_ns(memory, second_part, true, false);
	/* All other latencies are relative to this one. */
	first_ns = load_ns(memory, first / 2, true, false);
	if (!(first_ns > 0 && far_ns > 0))
		return;
	core->l2_cycles = cycles_of(second_ns, core, first_ns, core->l1_cycles);
	core->l3_cycles = cycles_of(third_ns, core, first_ns, core->l2_cycles);
	core->memory_cycles = cycles_of(far_ns, core, first_ns, core->l3_cycles);
	measure_pages(memory, geometry, core, first_ns / core->l1_cycles);
	measure_branches((uint64_t *)(void *)memory, core, first_ns / core->l1_cycles);
	changed.l3.ways = LATENCY_WAYS;
	changed.l3_is_shared = true;
	changed.l3.sets = (uint32_t)(2 * third_bytes(memory, 2 * second, third_ns, far_ns) /
				     geometry->line_bytes / LATENCY_WAYS);
	if (hp_uarch_geometry_is_valid(&changed))
		*geometry = changed;
}

/* Uses small pages, as programs do: where they lie decides how much of the third level can be
 * used. */
void hp_latencies_measure(struct hp_uarch_geometry *geometry, struct hp_core *core)
{
	char *memory = map(LATENCY_THIRD_BYTES, MADV_NOHUGEPAGE);

	if (!memory)
		return;
	measure(memory, geometry, core);
	munmap(memory, LATENCY_THIRD_BYTES);
}
