/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/model/clock.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hp_clock_clear(struct hp_clock *clock)
{
	free(clock->classes);
	*clock = (struct hp_clock){ 0 };
}

/* Index of the class with this rate, or where it would be inserted. */
static size_t find_class(const struct hp_clock *clock, uint64_t hz)
{
	size_t at = 0;

	while (at < clock->class_count && clock->classes[at].hz < hz)
		at++;
	return at;
}

static bool insert_class(struct hp_clock *clock, size_t at, const struct hp_clock_class *added)
{
	struct hp_clock_class *grown =
		reallocarray(clock->classes, clock->class_count + 1, sizeof(*grown));

	if (!grown)
		return false;
	memmove(grown + at + 1, grown + at, (clock->class_count - at) * sizeof(*grown));
	grown[at] = *added;
	clock->classes = grown;
	clock->class_count++;
	return true;
}

static struct hp_error *add_class(struct hp_clock *clock, const struct hp_clock_class *added)
{
	size_t at = find_class(clock, added->hz);

	if (at == clock->class_count || clock->classes[at].hz != added->hz)
		return insert_class(clock, at, added) ? NULL : hp_error_create_no_memory();
	if (__builtin_add_overflow(clock->classes[at].count, added->count,
				   &clock->classes[at].count))
		return hp_error_create(HP_ERROR_DAMAGED,
				       "the measurements of the clock add up to more than 64 bits");
	return NULL;
}

bool hp_clock_note(struct hp_clock *clock, double hz)
{
	struct hp_clock_class one = { .count = 1 };
	struct hp_error *error;

	if (!(hz >= slowest_hz && hz <= fastest_hz))
		return true;
	one.hz = (uint64_t)llround(exp2(round(log2(hz) * clock_classes) / clock_classes));
	error = add_class(clock, &one);
	hp_error_destroy(error);
	return !error;
}

void hp_clock_note_sharing(struct hp_clock *clock, bool is_shared)
{
	clock->looks++;
	clock->shared += is_shared;
}

struct hp_error *hp_clock_add(struct hp_clock *into, const struct hp_clock *from)
{
	struct hp_error *error = NULL;

	if (__builtin_add_overflow(into->looks, from->looks, &into->looks) ||
	    __builtin_add_overflow(into->shared, from->shared, &into->shared))
		return hp_error_create(HP_ERROR_DAMAGED,
				       "the looks at the core add up to more than 64 bits");
	for (size_t i = 0; i < from->class_count && !error; i++)
		error = add_class(into, &from->classes[i]);
	return error;
}

uint64_t hp_clock_measurements(const struct hp_clock *clock)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < clock->class_count; i++) {
		if (__builtin_add_overflow(sum, clock->classes[i].count, &sum))
			return UINT64_MAX;
	}
	return sum;
}

double hp_clock_percentile(const struct hp_clock *clock, double percent)
{
	double wanted = percent / 100 * (double)hp_clock_measurements(clock);
	double seen = 0;

	for (size_t i = 0; i < clock->class_count; i++) {
		seen += (double)clock->classes[i].count;
		if (seen >= wanted)
			return (double)clock->classes[i].hz;
	}
	return clock->class_count ? (double)clock->classes[clock->class_count - 1].hz : 0;
}
