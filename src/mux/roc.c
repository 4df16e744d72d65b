/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roc: chooses groups by the rate of change. Lim 2014, sections 3.1 to 3.3; the head of scheduler.h
 * says what is from the paper and what is added here.
 */
#include "scheduler.h"
#include "triangle.h"

#include <stdlib.h>

#define KEPT 3

/* The newest observation comes last. */
struct roc_group {
	uint64_t x[KEPT]; /* ns counted until each observation */
	uint32_t observations;
	uint32_t turns;	    /* number of turns so far, at most KEPT */
	uint64_t last_turn; /* number of its last turn */
	uint64_t last_end_ns;
	uint32_t first_event;
};

struct roc_event {
	uint64_t y[KEPT]; /* count until each observation */
};

struct roc {
	uint64_t turn;
	struct roc_group *groups;
	/* of all groups; events that are always counted tell nothing about groups */
	struct roc_event *events;
};

static bool create(struct hp_mux_scheduler *scheduler)
{
	const struct hp_mux_plan *plan = &scheduler->plan;
	uint32_t event_count = hp_mux_plan_first(plan, plan->group_count);
	struct roc *roc = calloc(1, sizeof(*roc));

	scheduler->state = roc;
	if (!roc)
		return false;
	roc->groups = calloc(plan->group_count, sizeof(*roc->groups));
	roc->events = calloc(event_count + 1, sizeof(*roc->events));
	if (!roc->groups || !roc->events)
		return false;
	for (uint32_t i = 0; i < plan->group_count; i++)
		roc->groups[i].first_event = hp_mux_plan_first(plan, i);
	return true;
}

static void destroy(struct hp_mux_scheduler *scheduler)
{
	struct roc *roc = scheduler->state;

	if (roc) {
		free(roc->groups);
		free(roc->events);
	}
	free(roc);
}

/* Half of the distance of B from the line, in µs at the event's mean rate. The paper sets periods
 * so that each event has one sample per ms (its table 1 and equation 8), which makes rare and
 * frequent events comparable. It is at most the time counted, so below 2^54. */
static uint64_t area_of(const struct roc_group *group, const struct roc_event *event)
{
	uint64_t counted_us = group->x[KEPT - 1] / 1000, count = event->y[KEPT - 1];

	if (count == 0)
		return 0;
	return (uint64_t)((unsigned __int128)hp_mux_triangle(group->x, event->y) * counted_us /
			  count);
}

/* 2^64 areas of at most 2^64 in all, times a share and µs below 2^54, stay below 2^128. */
static unsigned __int128 cost_of(const struct hp_mux_scheduler *scheduler, uint32_t group)
{
	const struct roc *roc = scheduler->state;
	const struct roc_group *mine = &roc->groups[group];
	uint64_t waited_us = (scheduler->now_ns - mine->last_end_ns) / 1000;
	uint64_t area = 1;

	for (uint32_t i = 0; mine->observations == KEPT && i < scheduler->groups[group].event_count;
	     i++) {
		uint64_t one = area_of(mine, &roc->events[mine->first_event + i]);

		if (__builtin_add_overflow(area, one, &area))
			area = UINT64_MAX;
	}
	return (unsigned __int128)area * hp_mux_plan_share(&scheduler->plan, group) * waited_us;
}

/* The group that has waited too long; otherwise one with fewer than three turns; otherwise the one
 * with the largest cost. */
static uint32_t choose(const struct hp_mux_scheduler *scheduler)
{
	const struct roc *roc = scheduler->state;
	uint32_t longest = 0, newest = 0, costliest = 0;
	unsigned __int128 most = 0;

	for (uint32_t i = 0; i < scheduler->plan.group_count; i++) {
		const struct roc_group *mine = &roc->groups[i];
		unsigned __int128 cost = cost_of(scheduler, i);

		if (mine->last_turn < roc->groups[longest].last_turn)
			longest = i;
		if (mine->turns < roc->groups[newest].turns)
			newest = i;
		if (i == 0 || cost > most ||
		    (cost == most && mine->last_turn < roc->groups[costliest].last_turn)) {
			costliest = i;
			most = cost;
		}
	}
	if (roc->turn - roc->groups[longest].last_turn >= HP_MUX_ROC_PATIENCE * scheduler->round)
		return longest;
	return roc->groups[newest].turns < KEPT ? newest : costliest;
}

static uint32_t next(struct hp_mux_scheduler *scheduler)
{
	struct roc *roc = scheduler->state;
	uint32_t chosen = choose(scheduler);
	struct roc_group *group = &roc->groups[chosen];

	group->last_turn = ++roc->turn;
	if (group->turns < KEPT)
		group->turns++;
	return chosen;
}

static void append(uint64_t kept[KEPT], uint64_t more)
{
	kept[0] = kept[1];
	kept[1] = kept[2];
	kept[2] += more;
}

static void observe(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice)
{
	struct roc *roc = scheduler->state;
	struct roc_group *group = &roc->groups[slice->group];

	group->last_end_ns = slice->end_ns;
	if (slice->running_ns == 0)
		return;
	append(group->x, slice->running_ns);
	for (uint32_t i = 0; i < scheduler->groups[slice->group].event_count; i++)
		append(roc->events[group->first_event + i].y, slice->counts[i]);
	if (group->observations < KEPT)
		group->observations++;
}

const struct scheduler_kind hp_mux_roc = { "roc", create, destroy, next, observe };
