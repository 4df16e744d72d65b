/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "costs.h"

static double cpu_of(const struct hp_run *run)
{
	return (double)run->user_ns + (double)run->system_ns;
}

bool costs_are_cpu_times(const struct sides *sides)
{
	if (sides->unit != HP_UNIT_NS)
		return false;
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++) {
			const struct hp_epoch_meta *meta = sides->at[side].replicates.at[i].meta;

			for (size_t j = 0; j < meta->run_count; j++)
				if (!(cpu_of(&meta->runs[j]) > 0))
					return false;
			if (!meta->run_count)
				return false;
		}
	return true;
}

static double work_of(const struct replicate *replicate, const struct hp_run *run)
{
	if (!replicate->has_work)
		return 1;
	return replicate->given_work > 0 ? replicate->given_work : run->work;
}

static size_t count_runs(const struct side *side)
{
	size_t count = 0;

	for (size_t i = 0; i < side->replicates.count; i++) {
		size_t runs = side->replicates.at[i].meta->run_count;

		count += runs ? runs : 1;
	}
	return count;
}

bool costs_list(const struct sides *sides, size_t at, struct run_costs *runs, size_t **epochs)
{
	const struct side *side = &sides->at[at];
	bool by_cpu = costs_are_cpu_times(sides);
	size_t room = count_runs(side);
	double *costs = hp_arena_array(sides->arena, room, sizeof(*costs));
	size_t count = 0;

	*epochs = hp_arena_array(sides->arena, room, sizeof(**epochs));
	if (!costs || !*epochs)
		return false;
	for (size_t i = 0; i < side->replicates.count; i++) {
		const struct replicate *replicate = &side->replicates.at[i];

		for (size_t j = 0; j < (by_cpu ? replicate->meta->run_count : 1); j++) {
			(*epochs)[count] = i;
			costs[count++] =
				by_cpu ? cpu_of(&replicate->meta->runs[j]) /
						 work_of(replicate, &replicate->meta->runs[j])
				       : replicate->cost / replicate->exposure;
		}
	}
	*runs = (struct run_costs){ costs, count };
	return true;
}
