/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divisions of items among made-up counters, against all divisions there are. */
#include "../support.h"

#include "../../src/pmu/partition.h"

#include <hpcprof/base/number.h>

enum { MOST_ITEMS = 7, COUNTERS = 4, ROUNDS = 400 };

/* Which counters each item can be on. */
struct counters {
	unsigned masks[MOST_ITEMS];
	size_t asked;
};

/* Kuhn's matching, item by item. */
static bool match(const struct counters *counters, const uint32_t *items, size_t count,
		  size_t which, int *owner, unsigned *seen)
{
	for (unsigned i = 0; i < COUNTERS; i++) {
		if (!(counters->masks[items[which]] >> i & 1) || *seen >> i & 1)
			continue;
		*seen |= 1u << i;
		if (owner[i] < 0 || match(counters, items, count, (size_t)owner[i], owner, seen)) {
			owner[i] = (int)which;
			return true;
		}
	}
	return false;
}

static bool fits(void *context, const uint32_t *items, size_t count)
{
	struct counters *counters = context;
	int owner[COUNTERS];

	counters->asked++;
	for (size_t i = 0; i < COUNTERS; i++)
		owner[i] = -1;
	for (size_t i = 0; i < count; i++) {
		unsigned seen = 0;

		if (!match(counters, items, count, i, owner, &seen))
			return false;
	}
	return true;
}

/* Whether `count` items can be divided into `groups`: tries every way. */
static bool divisible(struct counters *counters, size_t count, uint32_t groups, size_t next,
		      uint32_t *group_of)
{
	if (next == count) {
		for (uint32_t group = 0; group < groups; group++) {
			uint32_t members[MOST_ITEMS];
			size_t size = 0;

			for (uint32_t i = 0; i < count; i++)
				if (group_of[i] == group)
					members[size++] = i;
			if (!fits(counters, members, size))
				return false;
		}
		return true;
	}
	for (group_of[next] = 0; group_of[next] < groups; group_of[next]++)
		if (divisible(counters, count, groups, next + 1, group_of))
			return true;
	return false;
}

static uint32_t fewest(struct counters *counters, size_t count)
{
	uint32_t group_of[MOST_ITEMS];
	uint32_t groups = 0;

	while (!divisible(counters, count, groups, 0, group_of))
		groups++;
	return groups;
}

static void assert_fits(struct counters *counters, size_t count, const uint32_t *group_of,
			uint32_t groups)
{
	for (uint32_t group = 0; group < groups; group++) {
		uint32_t members[MOST_ITEMS];
		size_t size = 0;

		for (uint32_t i = 0; i < count; i++)
			if (group_of[i] == group)
				members[size++] = i;
		ck_assert_uint_gt(size, 0);
		ck_assert(fits(counters, members, size));
	}
}

TEST(there_are_as_few_groups_as_any_division_has)
{
	struct hp_random random = hp_random_seeded(20261120);

	for (size_t round = 0; round < ROUNDS; round++) {
		size_t count = hp_random_between(&random, 1, MOST_ITEMS);
		struct counters counters = { 0 };
		uint32_t group_of[MOST_ITEMS];
		uint32_t groups;

		for (size_t i = 0; i < count; i++)
			counters.masks[i] =
				(unsigned)hp_random_between(&random, 1, (1 << COUNTERS) - 1) &
				(unsigned)hp_random_between(&random, 1, (1 << COUNTERS) - 1);
		for (size_t i = 0; i < count; i++)
			counters.masks[i] |= counters.masks[i] ? 0 : 1;
		hp_assert_ok(hp_partition(count, true, fits, &counters, group_of, &groups));
		assert_fits(&counters, count, group_of, groups);
		ck_assert_msg(groups == fewest(&counters, count), "round %zu: %u groups", round,
			      groups);
	}
}

TEST(an_item_that_came_first_makes_room_for_one_that_cannot_move)
{
	/* First come, first served would need two groups. */
	struct counters counters = { .masks = { 3, 1 } };
	uint32_t group_of[2];
	uint32_t groups;

	hp_assert_ok(hp_partition(2, true, fits, &counters, group_of, &groups));
	ck_assert_uint_eq(groups, 1);
}

TEST(an_item_that_never_fits_is_in_no_group)
{
	struct counters counters = { .masks = { 1, 0, 2 } };
	uint32_t group_of[3];
	uint32_t groups;

	hp_assert_ok(hp_partition(3, true, fits, &counters, group_of, &groups));
	ck_assert_uint_eq(groups, 1);
	ck_assert_uint_eq(group_of[0], 0);
	ck_assert_uint_eq(group_of[1], HP_NO_GROUP);
	ck_assert_uint_eq(group_of[2], 0);
}

TEST(no_items_are_no_groups)
{
	struct counters counters = { 0 };
	uint32_t group_of[1];
	uint32_t groups = 7;

	hp_assert_ok(hp_partition(0, true, fits, &counters, group_of, &groups));
	ck_assert_uint_eq(groups, 0);
}

/* Two counters, any item on either; but the items 0 and 1 share a register: no matroid. */
static bool fits_but_for_a_register(void *context, const uint32_t *items, size_t count)
{
	(void)context;
	return count < 2 || (count == 2 && items[0] + items[1] != 1);
}

TEST(conflicts_that_are_no_matroid_still_get_groups_that_fit)
{
	uint32_t group_of[4];
	uint32_t groups;

	hp_assert_ok(hp_partition(4, true, fits_but_for_a_register, NULL, group_of, &groups));
	ck_assert_uint_ne(group_of[0], group_of[1]);
	for (uint32_t group = 0; group < groups; group++) {
		size_t size = 0;

		for (size_t i = 0; i < 4; i++)
			size += group_of[i] == group;
		ck_assert_uint_le(size, 2);
	}
}

TEST(items_that_are_all_alike_cost_few_trials)
{
	/* 7 items on 4 counters, 2 groups: the full group is not asked about over and over. */
	struct counters counters = { .masks = { 15, 15, 15, 15, 15, 15, 15 } };
	uint32_t group_of[7];
	uint32_t groups;

	hp_assert_ok(hp_partition(7, true, fits, &counters, group_of, &groups));
	ck_assert_uint_eq(groups, 2);
	ck_assert_uint_le(counters.asked, 40);
}

HP_TEST_MAIN("pmu/partition")
