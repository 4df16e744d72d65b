/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes in memory reads: data cache and data TLB.
 *
 * Cleared: instructions that do not load (for the TLB: load, store or prefetch) and did not retire
 * along with one that does, nor wait for what it has loaded; accesses to the stack. Bounded: a
 * constant address, by how often its loop starts; a stride, by the lines and pages that it crosses;
 * a table whose size follows from a mask, by whether it fits; data near what was just loaded, by
 * their distance. Where windows were simulated these bounds are not used: there the misses that were
 * seen bound the causes.
 */
#include "causes.h"
#include "place.h"
#include "witness.h"
#include "../tuning.h"

#include <math.h>

/* The share of executions in which the bytes lie in another cache line than those of an earlier
 * nearby load from the same base. */
static double beside_another(const struct facts *facts, const struct path *path, uint32_t position,
			     const struct hp_memory *memory)
{
	if (memory->base >= HP_REGISTER_COUNT)
		return 1;
	for (uint32_t i = position + 1; i < path->count && i < position + NEAR_LOADS; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;

		if (path->insns[i] == path->insns[position])
			/* the path has reached the previous iteration; the freshness of the place covers
			 * that */
			return 1;
		/* The instruction may have changed the register by loading through it: mov rax,
		 * [rax]. */
		if (hp_register_in(&insn->written, memory->base) ||
		    (memory->index < HP_REGISTER_COUNT &&
		     hp_register_in(&insn->written, memory->index)))
			return 1;
		for (size_t k = 0; k < insn->memory_count; k++) {
			const struct hp_memory *other = &insn->memories[k];
			uint64_t apart =
				(uint64_t)other->displacement - (uint64_t)memory->displacement;

			if (!(other->access & HP_ACCESS_READ) || other->base != memory->base ||
			    other->index != memory->index || other->scale != memory->scale ||
			    other->segment != memory->segment)
				continue;
			if ((int64_t)apart < 0)
				apart = 0 - apart;
			if (apart < LINE_BYTES)
				return (double)apart / LINE_BYTES;
		}
	}
	return 1;
}

/* path_shows() of what accesses memory; 0 for the rest. */
static double access_shows(const struct facts *facts, const struct path *path, uint32_t position)
{
	const struct hp_insn *insn = facts_insn(facts, path->insns[position])->insn;

	return witness_accesses(insn, HP_ACCESS_READ | HP_ACCESS_WRITE)
		       ? path_shows(facts, path, position)
		       : 0;
}

static void judge_load(const struct facts *facts, const struct path *path, uint32_t position,
		       const struct hp_memory *memory, bool is_repeated, double shows,
		       struct suspects *found)
{
	const struct hp_core *core = facts->core;
	struct place place = place_of(facts, path, position, memory);
	double lines = place_crossings(&place, LINE_BYTES);
	double miss = core->l2_cycles;
	double most = memory_margin * core->memory_cycles;

	if (place.kind == PLACE_STACK || lines <= 0)
		return;
	if (place.kind <= PLACE_SAME)
		miss *= miss_at_same;
	if (place.kind == PLACE_STRIDE)
		miss *= miss_foreseen;
	if (place.kind == PLACE_BOUNDED && place.bytes <= SECOND_CACHE) {
		/* Once it is in the cache, it stays there. */
		bool is_near = place.bytes <= FIRST_CACHE;

		most = (is_near ? 0 : l2_margin * core->l2_cycles) + place.fresh * most;
		miss *= is_near ? 0 : miss_foreseen;
	}
	if (is_repeated) {
		most *= LINE_BYTES; /* it touches many lines */
		miss *= repeated_places;
	}
	lines *= beside_another(facts, path, position, memory);
	add_suspect(found, HP_CAUSE_DCACHE, path->insns[position], lines * fmin(shows, most),
		    lines * miss * path_doubt(position));
}

/* A line that a prefetcher has brought costs little, if the core has such a prefetcher. */
static void judge_misses(const struct facts *facts, const struct path *path, uint32_t position,
			 const struct hp_happened *seen, double shows, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	double first = witness_most(seen, HP_EVENT_L1_MISS, HP_EVENT_L1_UNKNOWN);
	double second = witness_most(seen, HP_EVENT_L2_MISS, HP_EVENT_L2_UNKNOWN);
	double missed = seen->mean[HP_EVENT_L1_MISS];
	double beyond = fmin(missed, hp_happened_l2_misses(seen));
	double awaited = missed > 0 ? 1 - fmin(1, seen->mean[HP_EVENT_PREFETCHED] / missed) : 1;

	add_suspect(
		found, HP_CAUSE_DCACHE, path->insns[position],
		fmin(first * shows, first * l2_margin * witness_l2_cycles(core) +
					    second * miss_margin * core->memory_cycles),
		awaited * ((missed - beyond) * witness_l2_cycles(core) + beyond * core->l3_cycles) *
			path_doubt(position));
}

static void judge_walks(const struct facts *facts, const struct path *path, uint32_t position,
			const struct hp_happened *seen, double shows, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	double first = witness_most(seen, HP_EVENT_DTLB_MISS, HP_EVENT_DTLB_UNKNOWN);
	double second = witness_most(seen, HP_EVENT_TLB2_MISS, HP_EVENT_TLB2_UNKNOWN);
	double read = witness_most(seen, HP_EVENT_WALK_MISS, HP_EVENT_WALK_UNKNOWN);

	add_suspect(
		found, HP_CAUSE_DTLB, path->insns[position],
		fmin(first * shows, first * l2_margin * core->l2_tlb_cycles +
					    second * seen_walk_margin * core->walk_cycles +
					    fmin(read, second) * miss_margin * core->memory_cycles),
		(seen->mean[HP_EVENT_DTLB_MISS] * core->l2_tlb_cycles +
		 seen->mean[HP_EVENT_TLB2_MISS] * core->walk_cycles +
		 seen->mean[HP_EVENT_WALK_MISS] * core->l3_cycles) *
			path_doubt(position));
}

void suspect_dcache(const struct facts *facts, const struct path *path, struct suspects *found)
{
	for (uint32_t i = 0; i < path->count && i < facts->core->retire_width; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;
		const struct hp_happened *seen = witness_of(facts, path->insns[i]);
		double shows = insn->is_prefetch ? 0 : access_shows(facts, path, i);

		if (seen && witness_accesses(insn, HP_ACCESS_READ) && shows > 0)
			judge_misses(facts, path, i, seen, shows, found);
		for (size_t k = 0; !seen && k < insn->memory_count; k++)
			if ((insn->memories[k].access & HP_ACCESS_READ) && shows > 0)
				judge_load(facts, path, i, &insn->memories[k], insn->is_repeated,
					   shows, found);
	}
}

static void judge_page(const struct facts *facts, const struct path *path, uint32_t position,
		       const struct hp_memory *memory, bool is_repeated, double shows,
		       struct suspects *found)
{
	const struct hp_core *core = facts->core;
	struct place place = place_of(facts, path, position, memory);
	double pages = place_crossings(&place, PAGE_BYTES);
	double most = core->l2_tlb_cycles + walk_margin * core->walk_cycles +
		      walk_margin * core->memory_cycles;
	double miss = core->walk_cycles;

	if (place.kind == PLACE_STACK || pages <= 0)
		return;
	if (place.kind <= PLACE_SAME)
		miss *= miss_at_same;
	else if (place.kind != PLACE_STRIDE)
		miss = core->l2_cycles / walk_anywhere_divisor;
	if (place.kind == PLACE_BOUNDED && place.bytes <= FIRST_PAGES * PAGE_BYTES) {
		most *= place.fresh;
		miss *= place.fresh;
	}
	if (!(memory->access & HP_ACCESS_READ))
		miss *= walk_of_store;
	if (is_repeated)
		most *= repeated_places;
	pages *= beside_another(facts, path, position, memory);
	add_suspect(found, HP_CAUSE_DTLB, path->insns[position], pages * fmin(shows, most),
		    pages * miss * path_doubt(position));
}

void suspect_dtlb(const struct facts *facts, const struct path *path, struct suspects *found)
{
	for (uint32_t i = 0; i < path->count && i < facts->core->retire_width; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;
		const struct hp_happened *seen = witness_of(facts, path->insns[i]);
		double shows = access_shows(facts, path, i);

		if (seen && shows > 0)
			judge_walks(facts, path, i, seen, shows, found);
		for (size_t k = 0; !seen && k < insn->memory_count; k++)
			if (insn->memories[k].access && shows > 0)
				judge_page(facts, path, i, &insn->memories[k], insn->is_repeated,
					   shows, found);
	}
}
