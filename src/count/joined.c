/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "joined.h"

#include <math.h>
#include <stdlib.h>

struct hp_mux_estimates *joined_create(size_t count)
{
	struct hp_mux_estimates *estimates = calloc(1, sizeof(*estimates));

	if (!estimates)
		return NULL;
	estimates->count = count;
	estimates->events = calloc(count + 1, sizeof(*estimates->events));
	estimates->covariance = calloc(count * count + 1, sizeof(*estimates->covariance));
	estimates->groups = calloc(count + 1, sizeof(*estimates->groups));
	if (!estimates->events || !estimates->covariance || !estimates->groups) {
		hp_mux_estimates_destroy(estimates);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		estimates->events[i] = (struct hp_mux_estimate){
			.count = NAN,
			.low = NAN,
			.high = NAN,
			.verdict = HP_MUX_NOT_COUNTED,
		};
	return estimates;
}

/* The event in the list with number `index` in the rotation set's plan. */
static uint32_t event_of(const struct hp_rotation_set *rotation_set, size_t index)
{
	for (uint32_t i = 0; i < rotation_set->group_count; i++) {
		if (index < rotation_set->groups[i].count)
			return rotation_set->groups[i].events[index];
		index -= rotation_set->groups[i].count;
	}
	return rotation_set->always[index];
}

/* The smallest width of an interval, relative to the count. */
static void widen(struct hp_mux_estimates *estimates, uint32_t index, double doubt)
{
	struct hp_mux_estimate *event = &estimates->events[index];
	double half = doubt * event->count;

	if (event->verdict != HP_MUX_ESTIMATED || !(half > 0))
		return;
	event->low = fmax(fmin(event->low, event->count - half), (double)event->raw);
	event->high = fmax(event->high, event->count + half);
	/* As a standard deviation: half of the width. */
	estimates->covariance[index * estimates->count + index] += half * half / 4;
}

void joined_add(struct hp_mux_estimates *into, const struct hp_mux_estimates *from,
		const struct hp_rotation_set *rotation_set, double doubt)
{
	for (size_t i = 0; i < from->count; i++) {
		uint32_t event = event_of(rotation_set, i);

		into->events[event] = from->events[i];
		/* Counted all the time, so the error does not depend on turns. */
		into->groups[event] = from->group_count > 1 && from->groups[i] < from->group_count
					      ? into->group_count + from->groups[i]
					      : UINT32_MAX;
		for (size_t j = 0; j < from->count; j++)
			into->covariance[event * into->count + event_of(rotation_set, j)] =
				hp_mux_covariance(from, i, j);
	}
	for (size_t i = 0; i < from->count; i++)
		widen(into, event_of(rotation_set, i), doubt);
	if (from->group_count > 1)
		into->group_count += from->group_count;
	if (from->between > into->between)
		into->between = from->between;
}
