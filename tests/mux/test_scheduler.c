/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/mux/triangle.h"

#include <hpcprof/mux/scheduler.h>

#include <math.h>
#include <string.h>

#define MAX_GROUPS 8

/* A machine: each group has one event, with a rate that a function of time gives. */
struct machine {
	struct hp_mux_group groups[MAX_GROUPS];
	struct hp_mux_plan plan;
	struct hp_mux_scheduler *scheduler;
	uint64_t (*count)(uint32_t group, uint64_t ms);
	uint64_t now_ms;
	uint64_t turns[MAX_GROUPS], longest_wait[MAX_GROUPS], last[MAX_GROUPS], turn;
};

static uint64_t even(uint32_t group, uint64_t ms)
{
	(void)ms;
	return 1000 * (group + 1);
}

/* Group 0 wild, the others even. */
static uint64_t one_wild(uint32_t group, uint64_t ms)
{
	return group == 0 ? (ms * 2654435761u >> 7) % 200000 : 1000;
}

static uint64_t none(uint32_t group, uint64_t ms)
{
	(void)group;
	(void)ms;
	return 0;
}

/* Group 0 rare and wild, group 1 frequent and even but for a thousandth. */
static uint64_t rare_and_frequent(uint32_t group, uint64_t ms)
{
	uint64_t drawn = ms * 2654435761u >> 7;

	if (group == 0)
		return drawn % 40;
	return group == 1 ? 1000000000 + drawn % 1000000 : 1000;
}

static void start(struct machine *machine, enum hp_mux_policy policy, uint32_t groups,
		  uint64_t seed)
{
	const struct hp_mux_scheduler_options options = { policy, seed };

	for (uint32_t i = 0; i < groups; i++)
		machine->groups[i].event_count = 1;
	machine->plan = (struct hp_mux_plan){ machine->groups, groups, 0, false };
	hp_assert_ok(hp_mux_scheduler_create(&machine->plan, &options, &machine->scheduler));
}

/* One slice of 4 ms; returns the group. */
static uint32_t step(struct machine *machine)
{
	uint32_t group = hp_mux_scheduler_next(machine->scheduler);
	uint64_t count = machine->count(group, machine->now_ms), wait;
	const struct hp_mux_slice slice = {
		.group = group,
		.begin_ns = machine->now_ms * 1000000,
		.end_ns = (machine->now_ms + 4) * 1000000,
		.enabled_ns = 4000000,
		.running_ns = 4000000,
		.reference = 4000000,
		.counts = &count,
	};

	ck_assert_uint_lt(group, machine->plan.group_count);
	hp_mux_scheduler_observe(machine->scheduler, &slice);
	machine->now_ms += 4;
	machine->turn++;
	wait = machine->turn - machine->last[group];
	if (wait > machine->longest_wait[group])
		machine->longest_wait[group] = wait;
	machine->last[group] = machine->turn;
	machine->turns[group]++;
	return group;
}

static void stop(struct machine *machine)
{
	hp_mux_scheduler_destroy(machine->scheduler);
}

TEST(rr_takes_groups_in_the_order_of_declaration)
{
	struct machine machine = { .count = even };

	start(&machine, HP_MUX_RR, 5, 1);
	for (uint32_t i = 0; i < 20; i++)
		ck_assert_uint_eq(step(&machine), i % 5);
	stop(&machine);
}

TEST(rr_gives_a_group_its_share_of_each_round_and_spreads_it)
{
	struct machine machine = { .count = even };
	uint32_t round[4];

	machine.groups[0].share = 2;
	start(&machine, HP_MUX_RR, 3, 1);
	for (int i = 0; i < 10; i++) {
		uint64_t before = machine.turns[0];

		for (int j = 0; j < 4; j++)
			round[j] = step(&machine);
		ck_assert_uint_eq(machine.turns[0] - before, 2);
		ck_assert(!(round[0] == 0 && round[1] == 0) && !(round[2] == 0 && round[3] == 0));
	}
	ck_assert_uint_eq(machine.turns[1], 10);
	ck_assert_uint_eq(machine.turns[2], 10);
	stop(&machine);
}

TEST(rr_random_gives_each_group_its_share_of_each_round_in_changing_order)
{
	struct machine machine = { .count = even };
	char seen[64][8] = { "" };
	int orders = 0;

	machine.groups[1].share = 3;
	start(&machine, HP_MUX_RR_RANDOM, 3, 7);
	for (int i = 0; i < 60; i++) {
		uint64_t before[3];
		char order[8] = "";
		int known = 0;

		memcpy(before, machine.turns, sizeof(before));
		for (int j = 0; j < 5; j++)
			order[j] = (char)('0' + step(&machine));
		ck_assert_uint_eq(machine.turns[0] - before[0], 1);
		ck_assert_uint_eq(machine.turns[1] - before[1], 3);
		ck_assert_uint_eq(machine.turns[2] - before[2], 1);
		for (int j = 0; j < orders; j++)
			known |= strcmp(seen[j], order) == 0;
		if (!known)
			strcpy(seen[orders++], order);
	}
	/* There are 20 orders; 60 draws miss more than 8 of them once in ten million runs. */
	ck_assert_int_ge(orders, 12);
	stop(&machine);
}

TEST(a_scheduler_repeats_itself_given_its_seed_and_differs_with_another)
{
	for (int policy = 0; policy < HP_MUX_POLICY_COUNT; policy++) {
		struct machine a = { .count = one_wild }, b = a, c = a;
		int differs = 0;

		start(&a, (enum hp_mux_policy)policy, 5, 3);
		start(&b, (enum hp_mux_policy)policy, 5, 3);
		start(&c, (enum hp_mux_policy)policy, 5, 4);
		for (int i = 0; i < 500; i++) {
			uint32_t one = step(&a);

			ck_assert_uint_eq(one, step(&b));
			differs |= one != step(&c);
		}
		if (policy == HP_MUX_RR_RANDOM || policy == HP_MUX_ADAPTIVE)
			ck_assert(differs);
		stop(&a);
		stop(&b);
		stop(&c);
	}
}

static void starve(uint64_t (*count)(uint32_t, uint64_t), enum hp_mux_policy policy,
		   uint64_t patience)
{
	struct machine machine = { .count = count };

	start(&machine, policy, 6, 11);
	for (int i = 0; i < 5000; i++)
		step(&machine);
	for (int i = 0; i < 6; i++) {
		uint64_t wait = machine.turn - machine.last[i];

		ck_assert_uint_gt(machine.turns[i], 0);
		/* Once patience has run out, the others whose has too come first at worst. */
		ck_assert_uint_le(machine.longest_wait[i], patience * 6 + 6);
		ck_assert_uint_le(wait, patience * 6 + 6);
	}
	stop(&machine);
}

TEST(no_scheduler_starves_a_group_however_wild_another_is)
{
	starve(one_wild, HP_MUX_RR, 1);
	starve(one_wild, HP_MUX_RR_RANDOM, 2);
	starve(one_wild, HP_MUX_ROC, HP_MUX_ROC_PATIENCE);
	starve(one_wild, HP_MUX_ADAPTIVE, HP_MUX_ADAPTIVE_PATIENCE);
}

TEST(no_scheduler_starves_a_group_when_nothing_happens)
{
	starve(none, HP_MUX_ROC, HP_MUX_ROC_PATIENCE);
	starve(none, HP_MUX_ADAPTIVE, HP_MUX_ADAPTIVE_PATIENCE);
}

TEST(roc_and_adaptive_give_a_wild_group_more_than_rr_does)
{
	for (int i = 0; i < 2; i++) {
		struct machine machine = { .count = one_wild };

		start(&machine, i ? HP_MUX_ROC : HP_MUX_ADAPTIVE, 6, 5);
		for (int j = 0; j < 3000; j++)
			step(&machine);
		ck_assert_uint_gt(machine.turns[0], 3000 / 6 * 3 / 2);
		stop(&machine);
	}
}

TEST(roc_goes_by_how_much_a_rate_changes_not_by_how_large_it_is)
{
	struct machine machine = { .count = rare_and_frequent };

	start(&machine, HP_MUX_ROC, 6, 5);
	for (int i = 0; i < 3000; i++)
		step(&machine);
	ck_assert_uint_gt(machine.turns[0], 4 * machine.turns[1]);
	stop(&machine);
}

/* A tenth of jitter, and a slice because another was due first. */
TEST(adaptive_looks_at_groups_alike_at_regular_distances)
{
	struct machine machine = { .count = even };

	start(&machine, HP_MUX_ADAPTIVE, 8, 5);
	for (int i = 0; i < 4000; i++)
		step(&machine);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_le(machine.longest_wait[i], 8 + 4);
	stop(&machine);
}

/* adaptive makes ages go as 1 / share; roc, whose waiting begins when the last slice ends, less. */
TEST(a_share_weighs_where_variability_does_not_differ)
{
	for (int i = 0; i < 2; i++) {
		struct machine machine = { .count = none };

		machine.groups[2].share = 3;
		start(&machine, i ? HP_MUX_ROC : HP_MUX_ADAPTIVE, 4, 5);
		for (int j = 0; j < 6000; j++)
			step(&machine);
		for (int j = 0; j < 4; j++) {
			if (j != 2)
				ck_assert_uint_gt(2 * machine.turns[2],
						  (i ? 2 : 4) * machine.turns[j]);
		}
		stop(&machine);
	}
}

TEST(an_unsound_slice_is_ignored)
{
	struct machine a = { .count = one_wild }, b = a;
	const uint64_t count = 1;
	const struct hp_mux_slice foreign = { 17, 0, 1, 1, 1, 1, &count };
	const struct hp_mux_slice early = { 1, 0, 1, 1, 1, 1, &count };

	start(&a, HP_MUX_ROC, 4, 1);
	start(&b, HP_MUX_ROC, 4, 1);
	for (int i = 0; i < 200; i++) {
		ck_assert_uint_eq(step(&a), step(&b));
		hp_mux_scheduler_observe(a.scheduler, &foreign);
		hp_mux_scheduler_observe(a.scheduler, &early);
	}
	stop(&a);
	stop(&b);
}

/* Lim 3.2 as printed, in rational numbers: delta_y, then what B lies off it, then half of that. */
static uint64_t triangle_by_the_paper(const uint64_t x[3], const uint64_t y[3])
{
	double ax = (double)x[0], bx = (double)x[1], cx = (double)x[2];
	double ay = (double)y[0], by = (double)y[1], cy = (double)y[2];
	double delta_y = cx > ax ? (cy - ay) * (bx - ax) / (cx - ax) : 0;
	double off = by - ay - floor(delta_y);

	return (uint64_t)(fabs(off) / 2);
}

TEST(the_triangle_is_the_papers)
{
	struct hp_random random = hp_random_seeded(99);

	for (int i = 0; i < 100000; i++) {
		uint64_t most = 1ull << hp_random_between(&random, 0, 24);
		uint64_t x[3] = { hp_random_between(&random, 0, most) }, y[3];

		y[0] = hp_random_between(&random, 0, most);
		for (int j = 1; j < 3; j++) {
			x[j] = x[j - 1] + hp_random_between(&random, 0, most);
			y[j] = y[j - 1] + hp_random_between(&random, 0, most);
		}
		/* 2^24 * 2^25 is a whole double, and a quotient of such near a whole number is it.
		 */
		ck_assert_uint_eq(hp_mux_triangle(x, y), triangle_by_the_paper(x, y));
	}
}

TEST(the_triangle_of_points_on_a_line_or_at_one_place_is_what_it_must_be)
{
	const uint64_t line_x[3] = { 10, 20, 40 }, line_y[3] = { 100, 200, 400 };
	const uint64_t same_x[3] = { 5, 5, 5 }, rise_y[3] = { 0, 8, 8 };
	const uint64_t far_x[3] = { 0, 1ull << 62, 1ull << 63 }, far_y[3] = { 0, 0, 1ull << 63 };

	ck_assert_uint_eq(hp_mux_triangle(line_x, line_y), 0);
	ck_assert_uint_eq(hp_mux_triangle(same_x, rise_y), 4);
	ck_assert_uint_eq(hp_mux_triangle(far_x, far_y), 1ull << 61);
}

TEST(policies_have_names_that_lead_back)
{
	enum hp_mux_policy policy;

	for (int i = 0; i < HP_MUX_POLICY_COUNT; i++) {
		ck_assert(hp_mux_policy_parse(hp_mux_policy_name((enum hp_mux_policy)i), &policy));
		ck_assert_int_eq((int)policy, i);
	}
	ck_assert(!hp_mux_policy_parse("fifo", &policy));
}

HP_TEST_MAIN("mux/scheduler")
