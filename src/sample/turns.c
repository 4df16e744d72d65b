/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/mux/ramp.h>
#include <hpcprof/sample/turns.h>

#include <stdlib.h>
#include <string.h>

struct hp_turn_rotation_set {
	const struct hp_rotation_set *rotation_set;
	struct hp_mux_group *groups;
	struct hp_mux_plan plan;
	struct hp_mux_scheduler *scheduler;
	uint32_t first_group; /* number of its first group, over all rotation sets */
	uint32_t current;
	uint64_t begin_ns;
	struct hp_sampler_count *last; /* by event of the list: values when its slice began */
	uint64_t *values;	       /* buffer for the values of a slice */
};

static struct hp_error *make_rotation_set(struct hp_turns *turns,
					  const struct hp_rotation_set *rotation_set,
					  enum hp_mux_policy policy, uint32_t first_group)
{
	struct hp_mux_scheduler_options options = { .policy = policy };
	struct hp_turn_rotation_set *made = &turns->at[turns->count++];

	*made = (struct hp_turn_rotation_set){ .rotation_set = rotation_set,
					       .first_group = first_group };
	made->groups = calloc(rotation_set->group_count, sizeof(*made->groups));
	made->last = calloc(turns->event_count + 1, sizeof(*made->last));
	made->values = calloc(turns->event_count + 1, sizeof(*made->values));
	if (!made->groups || !made->last || !made->values)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < rotation_set->group_count; i++) {
		made->groups[i] = (struct hp_mux_group){ rotation_set->groups[i].count,
							 rotation_set->groups[i].share };
		for (uint32_t j = 0; j < rotation_set->groups[i].count; j++)
			turns->group_of[rotation_set->groups[i].events[j]] = first_group + i;
	}
	made->plan = (struct hp_mux_plan){ .groups = made->groups,
					   .group_count = rotation_set->group_count };
	return hp_mux_scheduler_create(&made->plan, &options, &made->scheduler);
}

struct hp_error *hp_turns_create(struct hp_turns *turns,
				 const struct hp_rotation_sets *rotation_sets, size_t event_count,
				 enum hp_mux_policy policy, uint64_t slice_ns)
{
	struct hp_error *error = NULL;
	uint32_t groups = 0;

	*turns = (struct hp_turns){
		.rotation_sets = rotation_sets,
		.event_count = event_count,
		.slice_ns = slice_ns,
		.turn_ns = UINT64_MAX,
	};
	turns->group_of = malloc((event_count + 1) * sizeof(*turns->group_of));
	turns->on = malloc((event_count + 1) * sizeof(*turns->on));
	turns->at = calloc((rotation_sets ? rotation_sets->count : 0) + 1, sizeof(*turns->at));
	if (!turns->group_of || !turns->on || !turns->at)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < event_count; i++) {
		turns->group_of[i] = HP_NO_TURN;
		turns->on[i] = true;
	}
	for (size_t i = 0; !error && rotation_sets && i < rotation_sets->count; i++) {
		struct hp_turn_rotation_set *rotation_set = &turns->at[turns->count];

		if (rotation_sets->at[i].group_count < 2)
			continue;
		error = make_rotation_set(turns, &rotation_sets->at[i], policy, groups);
		if (error)
			break;
		groups += rotation_sets->at[i].group_count;
		rotation_set->current = hp_mux_scheduler_next(rotation_set->scheduler);
		for (uint32_t j = 0; j < rotation_set->rotation_set->group_count; j++)
			for (uint32_t k = 0; k < rotation_set->rotation_set->groups[j].count; k++)
				turns->on[rotation_set->rotation_set->groups[j].events[k]] =
					j == rotation_set->current;
	}
	return error;
}

void hp_turns_clear(struct hp_turns *turns)
{
	for (size_t i = 0; i < turns->count; i++) {
		if (turns->at[i].scheduler)
			hp_mux_scheduler_destroy(turns->at[i].scheduler);
		free(turns->at[i].groups);
		free(turns->at[i].last);
		free(turns->at[i].values);
	}
	free(turns->at);
	free(turns->group_of);
	free(turns->on);
	*turns = (struct hp_turns){ 0 };
}

static uint64_t slice_length_ns(const struct hp_turns *turns)
{
	double affordable_ns = turns->cost_ns * 100 / TURN_COST_PERCENT;

	if (turns->slice_ns)
		return turns->slice_ns;
	if (affordable_ns > HP_MUX_LONGEST_SLICE_NS)
		return HP_MUX_LONGEST_SLICE_NS;
	return affordable_ns > SHORTEST_SLICE_NS ? (uint64_t)affordable_ns : SHORTEST_SLICE_NS;
}

void hp_turns_begin(struct hp_turns *turns, struct hp_sampler *sampler, uint64_t now_ns)
{
	turns->sampler = sampler;
	if (!turns->count)
		return;
	for (size_t i = 0; i < turns->count; i++)
		turns->at[i].begin_ns = now_ns;
	turns->turn_ns = now_ns + slice_length_ns(turns);
}

static void switch_group(struct hp_turns *turns, const struct hp_turn_rotation_set *rotation_set,
			 bool on)
{
	const struct hp_counter_group *group =
		&rotation_set->rotation_set->groups[rotation_set->current];

	for (uint32_t i = 0; i < group->count; i++) {
		turns->on[group->events[i]] = on;
		hp_sampler_switch(turns->sampler, group->events[i], on);
	}
}

/* Tells the scheduler what the last slice counted, so that it can choose the next group. */
static void observe(const struct hp_turns *turns, struct hp_turn_rotation_set *rotation_set,
		    uint64_t end_ns)
{
	const struct hp_counter_group *group =
		&rotation_set->rotation_set->groups[rotation_set->current];
	struct hp_mux_slice slice = {
		.group = rotation_set->current,
		.begin_ns = rotation_set->begin_ns,
		.end_ns = end_ns,
		.counts = rotation_set->values,
	};

	for (uint32_t i = 0; i < group->count; i++) {
		struct hp_sampler_count *last = &rotation_set->last[group->events[i]];
		struct hp_sampler_count now = hp_sampler_read(turns->sampler, group->events[i]);

		rotation_set->values[i] = now.value - last->value;
		if (i == 0) {
			slice.enabled_ns = now.enabled_ns - last->enabled_ns;
			slice.running_ns = now.running_ns - last->running_ns;
		}
		*last = now;
	}
	if (slice.running_ns > slice.enabled_ns)
		slice.running_ns = slice.enabled_ns;
	slice.reference = slice.running_ns;
	hp_mux_scheduler_observe(rotation_set->scheduler, &slice);
}

void hp_turns_go(struct hp_turns *turns, uint64_t now_ns)
{
	uint64_t before_ns = hp_clock_thread_ns();
	double took_ns;

	if (now_ns < turns->turn_ns)
		return;
	for (size_t i = 0; i < turns->count; i++) {
		struct hp_turn_rotation_set *rotation_set = &turns->at[i];

		now_ns = hp_clock_monotonic_ns();
		switch_group(turns, rotation_set, false);
		observe(turns, rotation_set, now_ns);
		rotation_set->current = hp_mux_scheduler_next(rotation_set->scheduler);
		switch_group(turns, rotation_set, true);
		rotation_set->begin_ns = hp_clock_monotonic_ns();
	}
	took_ns = (double)(hp_clock_thread_ns() - before_ns);
	if (turns->cost_ns > 0)
		took_ns = turns->cost_ns + (took_ns - turns->cost_ns) / HP_MUX_COSTS_AVERAGED;
	turns->cost_ns = took_ns;
	turns->turn_ns = hp_clock_monotonic_ns() + slice_length_ns(turns);
}

bool hp_turns_enabled_ns(const struct hp_turns *turns, size_t event, uint64_t *enabled_ns)
{
	*enabled_ns = 0;
	if (!turns->sampler)
		return false;
	for (size_t i = 0; i < turns->count; i++) {
		const struct hp_turn_rotation_set *rotation_set = &turns->at[i];
		uint32_t group = turns->group_of[event];

		if (group == HP_NO_TURN || group < rotation_set->first_group ||
		    group >= rotation_set->first_group + rotation_set->rotation_set->group_count)
			continue;
		for (uint32_t j = 0; j < rotation_set->rotation_set->group_count; j++) {
			uint64_t enabled;
			uint64_t running;

			hp_sampler_times(turns->sampler,
					 rotation_set->rotation_set->groups[j].events[0], &enabled,
					 &running);
			*enabled_ns += enabled;
		}
		return true;
	}
	return false;
}
