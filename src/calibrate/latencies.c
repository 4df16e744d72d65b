/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/calibrate/latencies.h>

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64 };

/* A ring of so many lines or, if that is no power of two, fewer; in an order that goes anywhere each time
 * (a linear congruential generator of full period), so that no prefetcher and no row of memory knows the
 * next one. */
static void **ring(char *memory, size_t bytes)
{
	size_t lines = (size_t)1 << (63 - __builtin_clzll(bytes / LINE_BYTES));

	for (size_t i = 0; i < lines; i++) {
		size_t next = (i * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407)) &
			      (lines - 1);

		*(void **)(void *)(memory + i * LINE_BYTES) = memory + next * LINE_BYTES;
	}
	return (void **)(void *)memory;
}

static double chase_ns(void ***at, size_t steps)
{
	void **line = *at;
	double start_ns = (double)hp_clock_thread_ns();

	for (size_t i = 0; i < steps; i++)
		line = *line;
	__asm__ volatile("" : "+r"(line));
	*at = line;
	return ((double)hp_clock_thread_ns() - start_ns) / (double)steps;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* ns of one load in a ring of so many bytes, of which each is visited before it counts if `is_warm`: of the
 * shortest part or, where others share what serves it (`is_shared`), of the median. */
static double load_ns(char *memory, size_t bytes, bool is_warm, bool is_shared)
{
	void **at = ring(memory, bytes);
	double parts[LATENCY_PARTS];

	if (is_warm)
		(void)chase_ns(&at, bytes / LINE_BYTES);
	for (size_t i = 0; i < LATENCY_PARTS; i++)
		parts[i] = chase_ns(&at, LATENCY_STEPS);
	qsort(parts, LATENCY_PARTS, sizeof(*parts), compare);
	return parts[is_shared ? LATENCY_PARTS / 2 : 0];
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

/* Without page walks, of which huge pages need hardly any. */
static double memory_ns(void)
{
	char *memory = map(LATENCY_BYTES, MADV_HUGEPAGE);
	double ns = memory ? load_ns(memory, LATENCY_BYTES, false, true) : 0;

	if (memory)
		munmap(memory, LATENCY_BYTES);
	return ns;
}

/* The largest ring that is served faster than halfway, as a factor, between the third level and memory. */
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
	struct hp_uarch_geometry changed = *geometry;
	double first_ns, second_ns, third_ns, far_ns;

	if (first < 2 * LINE_BYTES || 2 * second > LATENCY_THIRD_BYTES)
		return;
	far_ns = memory_ns();
	third_ns = load_ns(memory, 2 * second, true, true);
	second_ns = load_ns(memory, second / 2, true, false);
	/* All else is relative to it. */
	first_ns = load_ns(memory, first / 2, true, false);
	if (!(first_ns > 0 && far_ns > 0))
		return;
	core->l2_cycles = cycles_of(second_ns, core, first_ns, core->l1_cycles);
	core->l3_cycles = cycles_of(third_ns, core, first_ns, core->l2_cycles);
	core->memory_cycles = cycles_of(far_ns, core, first_ns, core->l3_cycles);
	changed.l3.ways = LATENCY_WAYS;
	changed.l3_is_shared = true;
	changed.l3.sets = (uint32_t)(2 * third_bytes(memory, 2 * second, third_ns, far_ns) /
				     geometry->line_bytes / LATENCY_WAYS);
	if (hp_uarch_geometry_is_valid(&changed))
		*geometry = changed;
}

/* Small pages, as programs have: where they lie decides how much of the third level can be used. */
void hp_latencies_measure(struct hp_uarch_geometry *geometry, struct hp_core *core)
{
	char *memory = map(LATENCY_THIRD_BYTES, MADV_NOHUGEPAGE);

	if (!memory)
		return;
	measure(memory, geometry, core);
	munmap(memory, LATENCY_THIRD_BYTES);
}
