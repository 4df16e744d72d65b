/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule.h"

#include "../tuning.h"

void schedule_init(struct schedule *schedule, uint64_t seed)
{
	*schedule = (struct schedule){ .random = hp_random_seeded(seed) };
}

static void draw(struct schedule *schedule, uint64_t from_ns, uint64_t most_ns)
{
	uint64_t last_ns = schedule->end_ns > from_ns ? schedule->end_ns - 1 : from_ns;

	if (last_ns - from_ns > most_ns)
		last_ns = from_ns + most_ns;
	schedule->due_ns = hp_random_between(&schedule->random, from_ns, last_ns);
}

void schedule_next(struct schedule *schedule, uint64_t now_ns, uint64_t slot_ns)
{
	uint64_t length_ns = slot_ns ? slot_ns : 1;

	schedule->start_ns = schedule->end_ns;
	if (now_ns > schedule->start_ns)
		schedule->start_ns += (now_ns - schedule->start_ns) / length_ns * length_ns;
	schedule->end_ns = schedule->start_ns + length_ns;
	/* If the slot has already begun, use the rest of it. */
	draw(schedule, schedule->start_ns > now_ns ? schedule->start_ns : now_ns, length_ns);
}

void schedule_not_before(struct schedule *schedule, uint64_t earliest_ns)
{
	uint64_t rest_ns = (schedule->end_ns - schedule->start_ns) / SLOT_REST_PART;

	if (schedule->due_ns >= earliest_ns)
		return;
	if (schedule->end_ns < earliest_ns + rest_ns)
		schedule->end_ns = earliest_ns + rest_ns;
	draw(schedule, earliest_ns, schedule->end_ns - earliest_ns);
}

void schedule_again(struct schedule *schedule, uint64_t now_ns)
{
	uint64_t length_ns = schedule->end_ns - schedule->start_ns;

	if (now_ns >= schedule->end_ns)
		schedule_next(schedule, now_ns, length_ns);
	else
		draw(schedule, now_ns, length_ns / SLOT_AGAIN_PART);
}

bool schedule_is_late(const struct schedule *schedule, uint64_t now_ns)
{
	uint64_t part_ns = (schedule->end_ns - schedule->start_ns) / SLOT_LATE_PART;

	return now_ns > schedule->due_ns + (part_ns > SLOT_LATE_NS ? part_ns : SLOT_LATE_NS);
}

void schedule_skip(struct schedule *schedule, uint64_t now_ns)
{
	uint64_t length_ns = schedule->end_ns - schedule->start_ns;

	if (now_ns > schedule->end_ns)
		schedule->end_ns +=
			(now_ns - schedule->end_ns + length_ns - 1) / length_ns * length_ns;
	schedule_next(schedule, now_ns, length_ns);
}
