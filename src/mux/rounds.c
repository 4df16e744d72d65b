/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rr and rr-random: in each round a group has as many turns as its share; in declaration order, or
 * in random order.
 */
#include "scheduler.h"

#include <stdlib.h>

/* State of one group. rr: how far it is behind its due turns; rr-random: its turns left in this
 * round. */
struct rounds {
	uint64_t left; /* rr-random: turns left in this round, over all groups */
	int64_t due[];
};

static bool create(struct hp_mux_scheduler *scheduler)
{
	struct rounds *rounds;

	scheduler->state = calloc(1, sizeof(struct rounds) +
					     scheduler->plan.group_count * sizeof(rounds->due[0]));
	return scheduler->state != NULL;
}

static void destroy(struct hp_mux_scheduler *scheduler)
{
	free(scheduler->state);
}

/* In each turn every group earns its share, and the group with the most pays for the turn. So after
 * a round all are at 0 again, and had their turns as evenly spread as possible. */
static uint32_t next_in_order(struct hp_mux_scheduler *scheduler)
{
	struct rounds *rounds = scheduler->state;
	uint32_t chosen = 0;

	for (uint32_t i = 0; i < scheduler->plan.group_count; i++) {
		rounds->due[i] += hp_mux_plan_share(&scheduler->plan, i);
		if (rounds->due[i] > rounds->due[chosen])
			chosen = i;
	}
	rounds->due[chosen] -= (int64_t)scheduler->round;
	return chosen;
}

/* Drawing without replacement gives a round in random order. */
static uint32_t next_at_random(struct hp_mux_scheduler *scheduler)
{
	struct rounds *rounds = scheduler->state;
	uint32_t chosen = 0;
	uint64_t drawn;

	if (rounds->left == 0) {
		for (uint32_t i = 0; i < scheduler->plan.group_count; i++)
			rounds->due[i] = hp_mux_plan_share(&scheduler->plan, i);
		rounds->left = scheduler->round;
	}
	drawn = hp_random_between(&scheduler->random, 1, rounds->left--);
	while (drawn > (uint64_t)rounds->due[chosen])
		drawn -= (uint64_t)rounds->due[chosen++];
	rounds->due[chosen]--;
	return chosen;
}

const struct scheduler_kind hp_mux_rr = { "rr", create, destroy, next_in_order, NULL };
const struct scheduler_kind hp_mux_rr_random = { "rr-random", create, destroy, next_at_random,
						 NULL };
