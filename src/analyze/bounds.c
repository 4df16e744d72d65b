/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two bounds of a region that take more than a division: execution units and recurrence. */
#include "region.h"
#include "tuning.h"

#include <stdlib.h>
#include <string.h>

struct load {
	uint32_t units;
	uint64_t cycles;
};

/* Collects the uses of units within `among`, and adds up those of the same set of units. Fills at
 * most as many loads as there are uses. */
static size_t gather(const struct region *region, uint32_t among, struct load *loads, size_t room)
{
	size_t count = 0;

	for (uint32_t i = 0; i < region->count; i++) {
		const struct hp_cost *cost = &region->costs[i];

		for (size_t k = 0; k < cost->use_count; k++) {
			size_t at = 0;

			if (cost->uses[k].units & ~among)
				continue;
			while (at < count && loads[at].units != cost->uses[k].units)
				at++;
			if (at == room)
				continue; /* no core has that many kinds of uses */
			if (at == count)
				loads[count++] = (struct load){ .units = cost->uses[k].units };
			loads[at].cycles += cost->uses[k].cycles;
		}
	}
	return count;
}

static double pressure(const struct load *loads, size_t count, uint32_t units)
{
	uint64_t cycles = 0;

	for (size_t i = 0; i < count; i++)
		if (!(loads[i].units & ~units))
			cycles += loads[i].cycles;
	return (double)cycles / __builtin_popcount(units);
}

/*
 * By Hall's theorem, the best assignment takes as long as the worst set of units: the micro-ops
 * that can run on no other unit, spread evenly over the set. The worst set is a union of micro-ops'
 * own sets that overlap, so only such unions are tried. Beyond MOST_PORT_SETS unions the rest is
 * left out; the result is still a lower bound.
 */
struct hp_error *region_ports(const struct region *region, uint32_t among, struct hp_arena *arena,
			      double *cycles, uint32_t *units)
{
	struct load *loads = hp_arena_array(arena, MOST_PORT_KINDS, sizeof(*loads));
	/* Most of the array is never written. */
	_cleanup_free_ uint32_t *sets = malloc(MOST_PORT_SETS * sizeof(*sets));
	size_t set_count = 0;
	size_t count;

	if (!loads || !sets)
		return hp_error_create_no_memory();
	count = gather(region, among, loads, MOST_PORT_KINDS);
	*cycles = 0;
	*units = 0;
	for (size_t i = 0; i < count; i++)
		sets[set_count++] = loads[i].units;
	for (size_t next = 0; next < set_count; next++) {
		double bound = pressure(loads, count, sets[next]);

		if (bound > *cycles) {
			*cycles = bound;
			*units = sets[next];
		}
		for (size_t i = 0; i < count; i++) {
			uint32_t both = sets[next] | loads[i].units;
			size_t at = 0;

			if (!(sets[next] & loads[i].units) || both == sets[next])
				continue;
			while (at < set_count && sets[at] != both)
				at++;
			if (at == set_count && set_count < MOST_PORT_SETS)
				sets[set_count++] = both;
		}
	}
	return NULL;
}

static void run_once(const struct region *region, const int64_t *before, int64_t *now)
{
	for (uint32_t i = 0; i < region->count; i++) {
		now[i] = 0;
		for (uint32_t d = region->first[i]; d < region->first[i + 1]; d++) {
			const struct dependence *one = &region->dependences[d];
			int64_t start = (one->distance ? before : now)[one->producer] + one->cycles;

			if (start > now[i])
				now[i] = start;
		}
	}
}

/*
 * The largest ratio of cycles to distance over all circles of dependences. If nothing else delays
 * the loop, its iterations start that many cycles apart. The result is exact for circles through a
 * number of iterations that divides COUNTED_ITERATIONS, such as one to six, and otherwise within
 * 1/COUNTED_ITERATIONS of a latency.
 */
struct hp_error *region_recurrence(const struct region *region, struct hp_arena *arena,
				   double *cycles)
{
	int64_t *now = hp_arena_array(arena, region->count, sizeof(*now));
	int64_t *before = hp_arena_array(arena, region->count, sizeof(*before));
	int64_t *warm = hp_arena_array(arena, region->count, sizeof(*warm));
	int64_t most = 0;

	if (!now || !before || !warm)
		return hp_error_create_no_memory();
	for (int iteration = 0; iteration < 2 * COUNTED_ITERATIONS; iteration++) {
		int64_t *other = before;

		if (iteration == COUNTED_ITERATIONS)
			memcpy(warm, now, region->count * sizeof(*now));
		before = now;
		now = other;
		run_once(region, before, now);
	}
	for (uint32_t i = 0; i < region->count; i++)
		if (now[i] - warm[i] > most)
			most = now[i] - warm[i];
	*cycles = (double)most / COUNTED_ITERATIONS;
	return NULL;
}
