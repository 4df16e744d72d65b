/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "told_times.h"

#include <hpcprof/base/number.h>

#include <math.h>
#include <string.h>

enum { PER_MS = 1000, PER_US = 1000000, PER_NS = 1000000000 };

/* What the fraction of a second may be counted in. */
static const uint64_t fractions[] = { PER_US, PER_NS };
/* What a program converts a time to. */
static const uint64_t units[] = { 1, PER_MS, PER_US, PER_NS };

void told_times_add(struct told_times *times, uint64_t seconds, uint64_t fraction)
{
	times->at[times->next++ % TOLD_TIMES] = (struct told_time){ seconds, fraction };
}

/* Small numbers are most often something else. */
static bool is_integer_of(uint64_t word, const struct told_time *time, uint64_t per_s,
			  uint64_t unit)
{
	return word >= LEAST_TOLD_TIME && unit <= per_s &&
	       word == time->seconds * unit + time->fraction / (per_s / unit);
}

static bool is_double_of(uint64_t word, const struct told_time *time, uint64_t per_s, uint64_t unit)
{
	double seconds = (double)time->seconds + (double)time->fraction / (double)per_s;
	double value;

	memcpy(&value, &word, sizeof(value));
	return value > 0 && fabs(value - seconds * (double)unit) <= told_time_error * value;
}

static bool is_of(uint64_t word, const struct told_time *time, uint64_t per_s)
{
	if (word >= LEAST_TOLD_TIME && word == time->fraction)
		return true;
	for (size_t i = 0; i < HP_ARRAY_COUNT(units); i++)
		if (is_integer_of(word, time, per_s, units[i]) ||
		    is_double_of(word, time, per_s, units[i]))
			return true;
	return false;
}

bool told_times_have(const struct told_times *times, uint64_t word)
{
	size_t count = times->next < TOLD_TIMES ? times->next : TOLD_TIMES;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < HP_ARRAY_COUNT(fractions); k++)
			if (times->at[i].fraction < fractions[k] &&
			    is_of(word, &times->at[i], fractions[k]))
				return true;
	return false;
}
