/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters as cores have them, with ideal semantics. They show how accurate formulas over counters
 * are.
 */
#include "accountings.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Counts cycles of a refill, by their position in it. */
static void count_refill(struct counters *counters, uint64_t count)
{
	const uint64_t first = 1, last = 4;
	uint64_t before = counters->refilled, after = before + count;

	counters->refilled = count ? after : 0;
	counters->counts.refill_late +=
		least(after, last) - least(least(after, last), before < first ? first : before);
}

/* Counts cycles without a dispatch, and empty slots, for lack of room. */
static void count_full(struct hp_cycle_counters *counts, const struct view *view, uint64_t cycles,
		       uint64_t slots)
{
	counts->back_memory += least(view->loads[2], cycles);
	if (view->lacks_queue || view->lacks_store)
		counts->queue_cycles += cycles;
	if (view->lacks_buffer)
		counts->buffer_cycles += cycles;
	if (view->lacks_store || (view->head_loads && !view->head_is_done))
		counts->back_load_slots += slots;
}

static void count_dispatch(struct counters *counters, const struct view *view, uint64_t count)
{
	struct hp_cycle_counters *counts = &counters->counts;
	unsigned used = view->dispatched + view->strayed;
	unsigned empty = used < counters->width ? counters->width - used : 0;
	bool recovers = view->is_recovering && !view->is_full;
	uint64_t *slots = view->is_full ? &counts->back_slots
			  : recovers	? &counts->refill_slots
					: &counts->front_slots;
	uint64_t *cycles = view->is_full ? &counts->back_cycles
			   : recovers	 ? &counts->refill_cycles
					 : &counts->front_cycles;

	counts->path_slots += view->dispatched * count;
	counts->strayed_slots += view->strayed * count;
	*slots += empty * count;
	*cycles += used ? 0 : count;
	count_refill(counters, recovers ? count : 0);
	if (view->is_full)
		count_full(counts, view, used ? 0 : count, empty * count);
	if (view->code_waits == HP_CYCLE_ITLB)
		counts->page_cycles += count;
	else if (view->code_waits != HP_CYCLE_BASE)
		counts->code_cycles += count;
}

static void count_execution(struct hp_cycle_counters *counts, const struct view *view,
			    uint64_t count)
{
	counts->divider += least(view->divides, count);
	counts->load_cycles += least(view->loads[0], count);
	counts->l1_cycles += least(view->loads[1], count);
	counts->began_one += view->begun == 1 ? count : 0;
	counts->began_two += view->begun == 2 ? count : 0;
	if (!view->begun) {
		counts->stalled += count;
		counts->stalled_load += least(view->loads[0], count);
		counts->stalled_l1 += least(view->loads[1], count);
		counts->stalled_l2 += least(view->loads[2], count);
		counts->stalled_l3 += least(view->loads[3], count);
	}
	counts->store_full += view->lacks_store ? count : 0;
	if (view->lacks_store && !view->begun)
		counts->store_bound += count - least(view->loads[0], count);
	if (view->retired)
		return;
	counts->no_retire += count;
	if (view->is_empty)
		counts->no_retire_empty += count;
	else if (view->head_loads)
		counts->no_retire_load += count;
}

static void cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	struct counters *counters = (struct counters *)watcher;

	/* the core clears this when caches are warm */
	if (!watcher->spent[HP_CYCLE_BASE]) {
		counters->counts = (struct hp_cycle_counters){ 0 };
		watcher->spent[HP_CYCLE_BASE] = 1;
	}
	count_dispatch(counters, view, count);
	count_execution(&counters->counts, view, count);
}

void counters_create(struct counters *counters, unsigned width)
{
	*counters = (struct counters){ .watcher = { .cycles = cycles }, .width = width };
}
