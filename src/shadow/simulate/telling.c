/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "telling.h"

#include "told.h"

#include <stdlib.h>

struct telling telling_of(uint64_t resizes)
{
	return (struct telling){ .has_memory = true, .resizes = resizes };
}

static void tell_lanes(struct telling *telling, const double ticks[HP_LANES], uint64_t address,
		       bool is_block)
{
	struct hp_window_timed timed = { .address = { address },
					 .is_block = is_block,
					 .resizes = telling->resizes };
	uint64_t any = 0;

	for (unsigned lane = 0; lane < HP_LANES; lane++) {
		timed.cycles[lane] = (uint64_t)(ticks[lane] / HP_TIMING_TICKS + 0.5);
		any |= timed.cycles[lane];
	}
	if (any)
		telling->has_memory &= hp_vector_push(&telling->timed, timed);
}

/* Instructions have ticks of their own only from a certain run on; these are scaled to all runs. */
void telling_add_cycles(struct telling *telling, const struct followed *followed)
{
	const struct path_plan *plan = followed->plan;
	uint64_t address = plan->address;
	double whole[HP_LANES];
	double scale =
		(double)followed->runs / (double)(followed->runs - followed->runs_before + 1);

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		whole[lane] =
			(double)(followed->spent.before[lane] + followed->spent.recent.at[lane]);
	for (size_t i = 0; followed->each && i < plan->insn_count; i++) {
		const struct ticks *ticks = &followed->each[i];
		double one[HP_LANES];

		for (unsigned lane = 0; lane < HP_LANES; lane++) {
			one[lane] = (double)(ticks->before[lane] + ticks->recent.at[lane]);
			whole[lane] += one[lane];
			one[lane] *= scale;
		}
		tell_lanes(telling, one, address, false);
		address += plan->lengths[i];
	}
	tell_lanes(telling, whole, plan->address, true);
}

void telling_add_places(struct telling *telling, const struct followed *followed)
{
	for (size_t i = 0; i < followed->plan->access_count; i++)
		if (followed->patterns[i].footprint.accesses)
			telling->has_memory &=
				hp_vector_push(&telling->patterns, &followed->patterns[i]);
}

static int by_place(const void *left, const void *right)
{
	const struct pattern *a = *(const struct pattern *const *)left;
	const struct pattern *b = *(const struct pattern *const *)right;

	if (a->ip != b->ip)
		return a->ip < b->ip ? -1 : 1;
	return (a->footprint.accesses < b->footprint.accesses) -
	       (a->footprint.accesses > b->footprint.accesses);
}

/* An instruction may be in several blocks that begin at different places; its footprint is the one
 * with the most accesses. */
void telling_give_footprints(struct telling *telling, struct told *told)
{
	if (telling->patterns.count)
		qsort(telling->patterns.at, telling->patterns.count, sizeof(*telling->patterns.at),
		      by_place);
	for (size_t i = 0; i < telling->patterns.count; i++) {
		const struct pattern *pattern = telling->patterns.at[i];
		const struct footprint *footprint = &pattern->footprint;

		if (i && telling->patterns.at[i - 1]->ip == pattern->ip)
			continue;
		told_add_event(told, pattern->ip, HP_EVENT_STRIDE, footprint->alike,
			       footprint->stride);
		told_add_event(told, pattern->ip, HP_EVENT_LINES, distinct_count(&footprint->lines),
			       0);
		told_add_event(told, pattern->ip, HP_EVENT_PAGES, distinct_count(&footprint->pages),
			       0);
		told_add_event(told, pattern->ip, HP_EVENT_MET, 1, 0);
	}
	hp_vector_free(&telling->patterns);
}
