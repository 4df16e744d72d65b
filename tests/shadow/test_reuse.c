/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Misses expected of a second level that a stretch of a path does not know, against the level followed all along. */
#include "../support.h"

#include "../../src/shadow/simulate/reuse.h"

#include <string.h>

enum { SETS = 64, WAYS = 8, BLOCKS = SETS * WAYS, STRETCH = 700, STRETCHES = 200, ACCESSES = 3 };

/* Two accesses use blocks of their own at random: one of those finds most of its own, the other hardly any. The third
 * always uses new ones. */
static const uint64_t blocks_of[ACCESSES] = { BLOCKS / 2, 10 * BLOCKS, UINT64_C(1) << 40 };

struct level {
	struct hp_uarch *uarch;
	double misses[ACCESSES], unknown[ACCESSES];
};

static struct level followed, cold; /* all along; from the beginning of each stretch */
static struct reuse reuse[ACCESSES], all;
static double expected[ACCESSES];
static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 20) % below;
}

static void make(struct level *level)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	geometry.l1d = (struct hp_uarch_sets){ 1, 1 };
	geometry.l2 = (struct hp_uarch_sets){ SETS, WAYS };
	geometry.l2_is_inclusive = true;
	level->uarch = hp_uarch_create(&geometry);
	ck_assert_ptr_nonnull(level->uarch);
	at_end((void (*)(void *))hp_uarch_destroy, level->uarch);
}

static unsigned use(struct level *level, unsigned access, uint64_t block, bool counts)
{
	unsigned events = hp_uarch_access(
		level->uarch, access, (block + ((uint64_t)access << 45)) * 64, 8, HP_UARCH_LOAD);

	level->misses[access] += counts && (events & HP_UARCH_L2_MISS);
	level->unknown[access] += counts && (events & HP_UARCH_L2_UNKNOWN);
	return events;
}

static void follow_stretch(void)
{
	for (unsigned i = 0; i < 4 * STRETCH; i++) {
		unsigned access = (unsigned)draw(ACCESSES);
		uint64_t block = draw(blocks_of[access]);
		bool is_stretch = i >= 3 * STRETCH;
		struct hp_uarch_distance distance;
		unsigned events;

		if (i == 3 * STRETCH)
			hp_uarch_resume(cold.uarch);
		(void)use(&followed, access, block, is_stretch);
		if (!is_stretch)
			continue;
		events = use(&cold, access, block, true);
		distance = hp_uarch_l2_distance(cold.uarch);
		if (events & (HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN))
			reuse_add(&reuse[access], &all, &distance, events & HP_UARCH_L2_UNKNOWN);
	}
}

TEST(expected_misses_are_those_of_a_level_that_is_never_cold)
{
	make(&followed);
	make(&cold);
	for (unsigned i = 0; i < STRETCHES; i++) {
		follow_stretch();
		for (unsigned access = 0; access < ACCESSES; access++)
			expected[access] += reuse_take_misses(&reuse[access], &all);
		if (i % 4 != 3)
			continue;
		memset(reuse, 0, sizeof(reuse)); /* a window is over */
		all = (struct reuse){ 0 };
	}
	for (unsigned access = 0; access < ACCESSES; access++) {
		double truth = followed.misses[access] + followed.unknown[access];
		double told = cold.misses[access] + expected[access];

		ck_assert_double_lt(cold.misses[access], 0.5 * truth);
		ck_assert_double_ge(told, 0.95 * truth);
		ck_assert_double_le(told, 1.05 * truth);
	}
}

static struct hp_uarch_distance distance(uint32_t later, uint32_t known)
{
	return (struct hp_uarch_distance){ later, known, 4 };
}

static void add(struct reuse *to, uint32_t later, uint32_t known, unsigned times, bool is_unknown)
{
	const struct hp_uarch_distance one = distance(later, known);

	for (unsigned i = 0; i < times; i++)
		reuse_add(to, &all, &one, is_unknown);
}

/* Of 200 uses that got past one block, 50 found theirs behind it, and of 150 that got past two, 75. */
TEST(an_unknown_use_misses_if_it_would_get_past_all_ways)
{
	add(&reuse[0], 1, 4, 50, false);
	add(&reuse[0], 2, 4, 75, false);
	add(&reuse[0], 4, 4, 75, false);
	add(&reuse[0], 4, 1, 80, true);
	ck_assert_uint_eq(reuse_take_misses(&reuse[0], &all), 80 * 3 / 8);
	/* They have been taken. */
	ck_assert_uint_eq(reuse_take_misses(&reuse[0], &all), 0);
	add(&reuse[0], 4, 2, 10, true);
	ck_assert_uint_eq(reuse_take_misses(&reuse[0], &all), 5);
}

TEST(an_access_with_few_uses_is_judged_by_all)
{
	add(&reuse[0], 0, 4, 1000, false);
	add(&reuse[1], 4, 0, 3, true);
	ck_assert_uint_eq(reuse_take_misses(&reuse[1], &all), 0);
	/* With many uses, by itself. */
	add(&reuse[1], 4, 4, 1000, false);
	add(&reuse[1], 4, 0, 100, true);
	ck_assert_uint_ge(reuse_take_misses(&reuse[1], &all), 99);
}

/* Half a miss each. */
TEST(parts_of_misses_add_up_over_accesses)
{
	uint32_t sum = 0;

	add(&reuse[0], 0, 4, 1000, false);
	add(&reuse[0], 4, 4, 1000, false);
	for (unsigned i = 0; i < 10; i++) {
		reuse[1] = (struct reuse){ 0 };
		add(&reuse[1], 4, 0, 1, true);
		sum += reuse_take_misses(&reuse[1], &all);
	}
	ck_assert_uint_ge(sum, 4);
	ck_assert_uint_le(sum, 6);
}

HP_TEST_MAIN("shadow/reuse")
