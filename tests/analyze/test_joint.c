/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several causes of one access take together, in one scene. */
#include "../support.h"

#include "../../src/analyze/stalls.h"

/* 100 cycles of stall: the cache and the TLB can each have taken 90, and a mispredicted branch some. */
static struct scene_ranges scene_with(double mispredicted)
{
	struct scene_ranges scene = { .stall = 100 };

	scene.bounds[HP_CAUSE_DCACHE] = scene.bounds[HP_CAUSE_DTLB] = 90;
	scene.bounds[HP_CAUSE_MISPREDICT] = mispredicted;
	scene.kinds[HP_CAUSE_DCACHE] = scene.kinds[HP_CAUSE_DTLB] = (struct hp_range){ 5, 90 };
	scene.kinds[HP_CAUSE_MISPREDICT] = (struct hp_range){ 0, mispredicted };
	return scene;
}

static void ck_range(struct hp_range range, double low, double high)
{
	ck_assert_double_eq_tol(range.low, low, 1e-9);
	ck_assert_double_eq_tol(range.high, high, 1e-9);
}

TEST(together_they_take_what_all_others_leave)
{
	struct scene_ranges scene = scene_with(0);

	ck_range(joint_range(HP_FAMILY_DATA, &scene, NULL), 100, 100);
	scene = scene_with(30);
	ck_range(joint_range(HP_FAMILY_DATA, &scene, NULL), 70, 100);
	/* What nothing explains is not theirs. */
	scene.kinds[HP_CAUSE_UNEXPLAINED] = (struct hp_range){ 20, 20 };
	scene.bounds[HP_CAUSE_UNEXPLAINED] = 20;
	scene.bounds[HP_CAUSE_DCACHE] = scene.bounds[HP_CAUSE_DTLB] = 25;
	scene.kinds[HP_CAUSE_DCACHE] = scene.kinds[HP_CAUSE_DTLB] = (struct hp_range){ 25, 25 };
	ck_range(joint_range(HP_FAMILY_DATA, &scene, NULL), 50, 50);
}

TEST(others_take_less_by_the_timing)
{
	struct scene_ranges scene = scene_with(80);

	scene.kinds[HP_CAUSE_MISPREDICT].high = 10;
	ck_range(joint_range(HP_FAMILY_DATA, &scene, NULL), 90, 100);
}

TEST(together_they_take_what_one_of_them_does)
{
	struct scene_ranges scene = scene_with(80);

	scene.kinds[HP_CAUSE_DTLB].low = 40;
	ck_range(joint_range(HP_FAMILY_DATA, &scene, NULL), 40, 100);
}

TEST(the_timing_narrows_them_unless_it_contradicts)
{
	struct scene_ranges scene = scene_with(80);
	struct timed_part timed = { .low = 30, .high = 60 };

	ck_range(joint_range(HP_FAMILY_DATA, &scene, &timed), 30, 60);
	timed.high = 10;
	timed.low = 0;
	ck_range(joint_range(HP_FAMILY_DATA, &scene, &timed), 20, 100);
}

TEST(causes_of_code_are_a_family_of_their_own)
{
	struct scene_ranges scene = scene_with(30);

	ck_range(joint_range(HP_FAMILY_CODE, &scene, NULL), 0, 0);
	ck_assert_uint_eq(hp_family_kinds(HP_FAMILY_DATA) & hp_family_kinds(HP_FAMILY_CODE), 0);
	ck_assert_uint_eq(hp_family_kinds(HP_FAMILY_COUNT), 0);
}

static const struct hp_cause in_best_case = {
	.kind = HP_CAUSE_DEPENDENCY,
	.low = 0.2,
	.high = 0.3,
	.likely = 0.25,
	.has_culprit = true,
	.culprit = { 1 },
};
static const struct hp_cause beyond_it = {
	.kind = HP_CAUSE_DEPENDENCY,
	.low = 0.1,
	.high = 0.5,
	.likely = 0.3,
	.has_culprit = true,
	.culprit = { 2 },
};

/* A dependency of two parts, and a miss, if the timing gives so much to dependencies. */
static struct hp_cause dependency(double low, double high)
{
	struct hp_cause causes[] = {
		beyond_it,
		{ .kind = HP_CAUSE_DCACHE, .low = 0.1, .high = 0.4, .likely = 0.2 },
		in_best_case,
	};
	struct hp_range timed[HP_CAUSE_COUNT] = { 0 };

	timed[HP_CAUSE_DEPENDENCY] = (struct hp_range){ low, high };
	ck_assert_uint_eq(joint_kinds(timed, causes, 3), 2);
	ck_assert_uint_eq(causes[1].kind, HP_CAUSE_DCACHE);
	ck_range((struct hp_range){ causes[1].low, causes[1].high }, 0.1, 0.4);
	ck_assert_uint_eq(causes[0].culprit.value, 2); /* of the likelier part */
	return causes[0];
}

TEST(a_wait_in_the_best_case_and_beyond_it_is_one)
{
	struct hp_cause known = dependency(0.6, 0.7);
	struct hp_cause unknown = dependency(0, 1), contradicted = dependency(0.85, 1);

	ck_range((struct hp_range){ known.low, known.high }, 0.6, 0.7);
	ck_assert_double_eq_tol(known.likely, 0.6, 1e-9);
	ck_range((struct hp_range){ unknown.low, unknown.high }, 0.3, 0.8);
	ck_assert_double_eq_tol(unknown.likely, 0.55, 1e-9);
	ck_range((struct hp_range){ contradicted.low, contradicted.high }, 0.3, 0.8);
}

/* 30 % of the time may be a miss, and 15 % slots: a dependency took what these do not. */
static double least_dependency(double slots)
{
	struct hp_cause causes[] = {
		{ .kind = HP_CAUSE_DEPENDENCY, .low = 0.1, .high = 0.8, .likely = 0.3 },
		{ .kind = HP_CAUSE_ISSUE_WIDTH, .low = 0, .high = 0.1, .likely = 0.1 },
		{ .kind = HP_CAUSE_DCACHE, .low = 0, .high = 0.3, .likely = 0.2 },
	};

	joint_eliminate(slots, causes, 3);
	ck_range((struct hp_range){ causes[1].low, causes[1].high }, 0, 0.1);
	ck_assert_double_eq_tol(causes[2].low, fmax(0, 0.2 - slots), 1e-9);
	ck_assert_double_eq_tol(causes[0].likely, fmax(0.3, causes[0].low), 1e-9);
	return causes[0].low;
}

TEST(a_cause_took_what_no_other_can_have_taken)
{
	ck_assert_double_eq_tol(least_dependency(0.15), 0.55, 1e-9);
	/* Nothing is known of the slots. */
	ck_assert_double_eq_tol(least_dependency(1), 0.1, 1e-9);
}

TEST(a_timing_far_from_the_measured_time_does_not_fit)
{
	struct timed timed = { .spread = 0 };
	struct timed_parts parts;

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		timed.lanes[lane] = 20;
	timed.cycles = 21;
	timed_parts(&timed, &parts);
	ck_assert(parts.fits);
	timed.cycles = 30;
	timed_parts(&timed, &parts);
	ck_assert(!parts.fits);
	timed.spread = 0.5; /* but it may have run more often */
	timed_parts(&timed, &parts);
	ck_assert(parts.fits);
}

/* A fence and two waits, of which the fence took 0.9 for sure. */
TEST(what_a_cause_took_for_sure_is_likely)
{
	struct suspect suspects[] = { { .kind = HP_CAUSE_SYNC },
				      { .kind = HP_CAUSE_DEPENDENCY },
				      { .kind = HP_CAUSE_DEPENDENCY } };
	const struct case_file file = { .suspects = suspects, .count = 3 };
	struct hp_range kinds[HP_CAUSE_COUNT] = { [HP_CAUSE_SYNC] = { 0.9, 1 } };
	double likely[] = { 0.4, 0.4, 0.2, 0 };

	for (int twice = 0; twice < 2; twice++) {
		likely_at_least(&file, kinds, likely);
		ck_assert_double_eq_tol(likely[0], 0.9, 1e-9);
		ck_assert_double_eq_tol(likely[1], 0.2 / 3, 1e-9);
		ck_assert_double_eq_tol(likely[2], 0.1 / 3, 1e-9);
	}
	/* One that had nothing, and what was not explained. */
	kinds[HP_CAUSE_SYNC].low = 0.2;
	kinds[HP_CAUSE_DEPENDENCY].low = 0.3;
	likely[0] = likely[3] = 0.5;
	likely[1] = likely[2] = 0;
	likely_at_least(&file, kinds, likely);
	ck_assert_double_eq_tol(likely[0], 0.2 + 0.3 * 5 / 8, 1e-9);
	ck_assert_double_eq_tol(likely[1], 0.15, 1e-9);
	ck_assert_double_eq_tol(likely[2], 0.15, 1e-9);
	ck_assert_double_eq_tol(likely[3], 0.5 * 5 / 8, 1e-9);
}

HP_TEST_MAIN("analyze/joint")
