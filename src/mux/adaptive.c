/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adaptive: groups whose counts vary more have more slices, at even distances. scheduler.h has the
 * reasoning.
 *
 * Each group has a period (the sum of all weights over its own weight) and a turn at which it is
 * due: its last turn plus its period. The group that is due first is next. With equal weights this
 * is rr.
 */
#include "scheduler.h"
#include "tuning.h"

#include <math.h>
#include <stdlib.h>

/* Largest factor between a group's weight and the average, in either direction. The longest period
 * is that of one group at the lower bound while the others are at the upper one. */
#define MOST sqrt(HP_MUX_ADAPTIVE_PATIENCE)

struct adaptive_group {
	double due;	 /* in turns */
	double observed; /* units of the reference event, in the last observation */
	double carried;	 /* units of the reference event, in slices too short for a rate */
	double counted;	 /* units of the reference event, in all observations */
	double noise;	 /* sum of 1/o1 + 1/o2 over pairs of observations */
	uint64_t observations;
	uint32_t first_event;
	double variability, weight; /* when all groups were weighed last */
};

struct adaptive_event {
	double rate;	/* in the last observation */
	double squares; /* sum of the squared differences of successive rates */
	double count, count_squares, carried;
};

struct adaptive {
	/* number of slices, and their length in units of the reference event */
	double slices, length;
	struct adaptive_group *groups;
	struct adaptive_event *events;
};

static bool create(struct hp_mux_scheduler *scheduler)
{
	const struct hp_mux_plan *plan = &scheduler->plan;
	struct adaptive *adaptive = calloc(1, sizeof(*adaptive));

	scheduler->state = adaptive;
	if (!adaptive)
		return false;
	adaptive->groups = calloc(plan->group_count, sizeof(*adaptive->groups));
	adaptive->events =
		calloc(hp_mux_plan_first(plan, plan->group_count) + 1, sizeof(*adaptive->events));
	if (!adaptive->groups || !adaptive->events)
		return false;
	for (uint32_t i = 0; i < plan->group_count; i++) {
		adaptive->groups[i].first_event = hp_mux_plan_first(plan, i);
		adaptive->groups[i].weight = hp_mux_plan_share(plan, i);
		/* In the first round each group has a turn. */
		adaptive->groups[i].due = i;
	}
	return true;
}

static void destroy(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;

	if (adaptive) {
		free(adaptive->groups);
		free(adaptive->events);
	}
	free(adaptive);
}

/* The relative variance of a group's counts per unit of the reference event, over all its events;
 * NaN: unknown. */
static double variability_of(const struct hp_mux_scheduler *scheduler, uint32_t number)
{
	const struct adaptive *adaptive = scheduler->state;
	const struct adaptive_group *group = &adaptive->groups[number];
	double sum = NAN;

	for (uint32_t i = 0; group->noise > 0 && i < scheduler->groups[number].event_count; i++) {
		const struct adaptive_event *event = &adaptive->events[group->first_event + i];
		double rate = event->count / group->counted;

		if (event->count * event->count > slices_behind_needed * event->count_squares)
			sum = (isnan(sum) ? 0 : sum) +
			      event->squares / group->noise / (rate * rate);
	}
	return sum;
}

/* Neyman's weights, the square roots of the variances, drawn toward the average. A group without
 * data has the average weight. */
static void weigh(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;
	uint32_t count = scheduler->plan.group_count;
	double mean = 0, most = 0, known = 0;

	for (uint32_t i = 0; i < count; i++) {
		adaptive->groups[i].variability = variability_of(scheduler, i);
		most = fmax(most, adaptive->groups[i].variability);
	}
	for (uint32_t i = 0; i < count && most > 0; i++) {
		struct adaptive_group *group = &adaptive->groups[i];

		if (isnan(group->variability))
			continue;
		group->variability = log(fmax(group->variability, least_variability * most)) / 2;
		mean += group->variability;
		known++;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct adaptive_group *group = &adaptive->groups[i];
		double n = (double)group->observations, off = 0;

		if (known > 0 && !isnan(group->variability))
			off = difference_trusted * n / (n + half_trusted_observations) *
			      (group->variability - mean / known);
		group->weight = hp_mux_plan_share(&scheduler->plan, i) *
				exp(fmin(fmax(off, -log(MOST)), log(MOST)));
	}
}

/* Uniformly distributed in [0, 1). */
static double random_unit(struct hp_random *random)
{
	return (double)(hp_random_next(random) >> 11) * 0x1p-53;
}

static uint32_t next(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;
	double jitter = 1 + period_jitter * (2 * random_unit(&scheduler->random) - 1);
	double weights = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < scheduler->plan.group_count; i++) {
		weights += adaptive->groups[i].weight;
		if (adaptive->groups[i].due < adaptive->groups[first].due)
			first = i;
	}
	adaptive->groups[first].due += jitter * weights / adaptive->groups[first].weight;
	return first;
}

/* Updates the rate of an event by an observation of length `observed`, including what was carried
 * to it. */
static void learn(const struct adaptive_group *group, struct adaptive_event *event, uint64_t count,
		  double observed)
{
	double counted = (double)count + event->carried, rate = counted / observed;

	if (group->observations > 0)
		event->squares += (rate - event->rate) * (rate - event->rate);
	event->rate = rate;
	event->count += counted;
	event->count_squares += counted * counted;
	event->carried = 0;
}

static void observe(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice)
{
	struct adaptive *adaptive = scheduler->state;
	struct adaptive_group *group = &adaptive->groups[slice->group];
	struct adaptive_event *events = adaptive->events + group->first_event;
	uint32_t event_count = scheduler->groups[slice->group].event_count;
	double observed = group->carried + (double)slice->reference;

	if (slice->running_ns == 0)
		return;
	adaptive->slices++;
	adaptive->length += (double)slice->reference;
	if (observed <= 0 || observed * adaptive->slices < short_slice * adaptive->length) {
		group->carried = observed;
		for (uint32_t i = 0; i < event_count; i++)
			events[i].carried += (double)slice->counts[i];
		return;
	}
	for (uint32_t i = 0; i < event_count; i++)
		learn(group, &events[i], slice->counts[i], observed);
	if (group->observations > 0)
		group->noise += 1 / observed + 1 / group->observed;
	group->observed = observed;
	group->counted += observed;
	group->carried = 0;
	group->observations++;
	weigh(scheduler);
}

const struct scheduler_kind hp_mux_adaptive = { "adaptive", create, destroy, next, observe };
