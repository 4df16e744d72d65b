/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/mux/plan.h>

static const struct hp_mux_group groups[] = { { 2, 0 }, { 3, 5 }, { 1, 1 } };
static const struct hp_mux_plan plan = { groups, 3, 2, false };

TEST(events_are_numbered_group_by_group_and_those_always_counted_last)
{
	ck_assert_uint_eq(hp_mux_plan_first(&plan, 0), 0);
	ck_assert_uint_eq(hp_mux_plan_first(&plan, 1), 2);
	ck_assert_uint_eq(hp_mux_plan_first(&plan, 2), 5);
	ck_assert_uint_eq(hp_mux_plan_first(&plan, 3), 6);
	ck_assert_uint_eq(hp_mux_plan_events(&plan), 8);
}

TEST(a_share_that_nobody_said_is_one)
{
	ck_assert_uint_eq(hp_mux_plan_share(&plan, 0), 1);
	ck_assert_uint_eq(hp_mux_plan_share(&plan, 1), 5);
}

TEST(a_plan_needs_groups_and_events_and_has_limits)
{
	const struct hp_mux_group none = { 0, 0 }, many = { HP_MUX_MAX_EVENTS, 0 },
				  greedy = { 1, HP_MUX_MAX_SHARE + 1 };

	hp_assert_ok(hp_mux_plan_check(&plan));
	hp_assert_ok(hp_mux_plan_check(&(struct hp_mux_plan){ &many, 1, 0, false }));
	hp_assert_ok(hp_mux_plan_check(&(struct hp_mux_plan){ &none, 1, 1, false }));
	hp_assert_fails(HP_ERROR_USAGE,
			hp_mux_plan_check(&(struct hp_mux_plan){ groups, 0, 2, false }));
	hp_assert_fails(HP_ERROR_USAGE,
			hp_mux_plan_check(&(struct hp_mux_plan){ &none, 1, 0, false }));
	hp_assert_fails(HP_ERROR_USAGE,
			hp_mux_plan_check(&(struct hp_mux_plan){ &many, 1, 1, false }));
	hp_assert_fails(HP_ERROR_USAGE,
			hp_mux_plan_check(&(struct hp_mux_plan){ &greedy, 1, 0, false }));
}

TEST(a_slice_that_contradicts_itself_or_the_plan_is_refused)
{
	const uint64_t counts[5] = { 0 };
	const struct hp_mux_slice good = { 1, 100, 200, 90, 80, 80, counts };
	struct hp_mux_slice bad;

	hp_assert_ok(hp_mux_slice_check(&plan, &good, 100));
	hp_assert_fails(HP_ERROR_USAGE, hp_mux_slice_check(&plan, &good, 101));
	bad = good;
	bad.group = 3;
	hp_assert_fails(HP_ERROR_USAGE, hp_mux_slice_check(&plan, &bad, 0));
	bad = good;
	bad.end_ns = 99;
	hp_assert_fails(HP_ERROR_USAGE, hp_mux_slice_check(&plan, &bad, 0));
	bad = good;
	bad.running_ns = 91;
	hp_assert_fails(HP_ERROR_USAGE, hp_mux_slice_check(&plan, &bad, 0));
}

HP_TEST_MAIN("mux/plan")
