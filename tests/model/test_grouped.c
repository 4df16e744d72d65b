/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ratios of sums over windows, shares of branches, and how sure they are. */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/model/evidence.h>

#include <math.h>

/* As in any program. */
static struct hp_grouped_ratio pace_of(const struct hp_grouped *over,
				       const struct hp_grouped *under, double windows)
{
	struct hp_pace any = hp_pace_of_any();

	return hp_grouped_pace(over, under, windows, &any);
}

/* --- estimates -------------------------------------------------------------------------------- */

TEST(equal_groups_leave_no_doubt)
{
	struct hp_grouped over;
	struct hp_grouped under;
	struct hp_grouped_ratio ratio;

	for (unsigned i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		under.counts[i] = i + 1;
		over.counts[i] = 3.0 * (i + 1);
	}
	ratio = hp_grouped_ratio(&over, &under);
	ck_assert_double_eq_tol(ratio.value, 3, 1e-12);
	ck_assert_double_eq_tol(ratio.deviation, 0, 1e-12);
}

TEST(one_group_says_nothing_of_its_variance)
{
	struct hp_grouped over = { .counts = { 0, 6 } };
	struct hp_grouped under = { .counts = { 0, 2 } };
	struct hp_grouped none = { 0 };

	ck_assert_double_eq_tol(hp_grouped_ratio(&over, &under).value, 3, 1e-12);
	ck_assert(isinf(hp_grouped_ratio(&over, &under).deviation));
	ck_assert(isnan(hp_grouped_ratio(&over, &none).value));
}

/* Of two that agree by chance nobody is certain; of many that agree, nearly. */
TEST(few_groups_vary_as_windows_are_known_to)
{
	struct hp_grouped over = { { 30, 30 } };
	struct hp_grouped under = { { 10, 10 } };
	double two = pace_of(&over, &under, 2).deviation;
	double many;

	ck_assert_double_eq_tol(pace_of(&over, &under, 2).value, 3, 1e-12);
	ck_assert_double_eq_tol(hp_grouped_ratio(&over, &under).deviation, 0, 1e-12);
	ck_assert_double_gt(two, 0.1 * 3);
	ck_assert_double_lt(two, 0.4 * 3);
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		over.counts[i] = 30;
		under.counts[i] = 10;
	}
	many = pace_of(&over, &under, HP_EVIDENCE_GROUPS).deviation;
	ck_assert_double_lt(many, two / 5);
	/* Of four windows each. */
	ck_assert_double_eq_tol(pace_of(&over, &under, 4 * HP_EVIDENCE_GROUPS).deviation, many / 2,
				1e-9);
	/* A program that is steady is taken for it. */
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		over.counts[i] = i % 2 ? 31 : 29;
	ck_assert_double_lt(pace_of(&over, &under, HP_EVIDENCE_GROUPS).deviation,
			    1.2 * hp_grouped_ratio(&over, &under).deviation);
	/* One is less certain than two. */
	over = (struct hp_grouped){ { 30 } };
	under = (struct hp_grouped){ { 10 } };
	ck_assert_double_gt(pace_of(&over, &under, 1).deviation, 1.5 * two);
	ck_assert(isfinite(pace_of(&over, &under, 1).deviation));
	/* Two that differ a lot are believed less than they say with one degree of freedom. */
	over = (struct hp_grouped){ { 40, 10 } };
	under = (struct hp_grouped){ { 10, 10 } };
	ck_assert_double_lt(pace_of(&over, &under, 2).deviation,
			    hp_grouped_ratio(&over, &under).deviation);
}

/* A second one of a moment is next to none. */
TEST(two_unlike_groups_are_as_good_as_one)
{
	struct hp_grouped over = { .counts = { 60, 6 } };
	struct hp_grouped under = { .counts = { 20, 2 } };
	struct hp_grouped alike = { .counts = { 20, 18 } };

	ck_assert(isinf(hp_grouped_ratio(&over, &under).deviation));
	ck_assert(isfinite(hp_grouped_ratio(&over, &alike).deviation));
}

TEST(an_interval_suffices_up_to_five_times_either_way)
{
	ck_assert(hp_interval_suffices(10, 2.1, 49, 0));
	ck_assert(!hp_interval_suffices(10, 1.9, 49, 0));
	ck_assert(!hp_interval_suffices(10, 2.1, 51, 0));
	ck_assert(hp_interval_suffices(0, 0, 0, 0));
	ck_assert(!hp_interval_suffices(0, 0, 3, 0));
	/* However uncertain: it hardly ran. */
	ck_assert(hp_interval_suffices(1, 0.01, 51, 60));
	ck_assert(!hp_interval_suffices(NAN, 0, 1, 60));
	ck_assert(!hp_interval_suffices(1, 0, INFINITY, 60));
}

TEST(students_distribution_is_that_of_the_tables)
{
	/* Quantiles for 95 %, from printed tables. */
	static const struct {
		double freedom;
		double quantile;
	} table[] = { { 1, 6.314 },  { 2, 2.920 },  { 3, 2.353 },  { 5, 2.015 },  { 7, 1.895 },
		      { 10, 1.812 }, { 15, 1.753 }, { 30, 1.697 }, { 120, 1.658 } };
	double before = 100;

	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++)
		ck_assert_double_eq_tol(hp_student_widening(table[i].freedom),
					table[i].quantile / 1.6449, 2e-3);
	for (double freedom = 0.5; freedom < 40; freedom += 0.125) {
		double widening = hp_student_widening(freedom);

		ck_assert_double_le(widening, before);
		before = widening;
	}
	ck_assert_double_eq_tol(hp_student_widening(1e9), 1, 1e-6);
}

/* Windows of a program whose rate changes by itself, dealt out to groups in turn: of many such
 * programs, how often the interval holds the truth. */
static double coverage_of(unsigned windows, uint64_t seed)
{
	struct hp_random random = hp_random_seeded(seed);
	unsigned held = 0;
	enum { PROGRAMS = 4000 };

	for (unsigned program = 0; program < PROGRAMS; program++) {
		struct hp_grouped over = { 0 };
		struct hp_grouped under = { 0 };
		struct hp_grouped_ratio ratio;

		for (unsigned i = 0; i < windows; i++) {
			double time = (double)hp_random_between(&random, 80, 120);
			double rate = 0;

			/* Nearly normal, mean 10. */
			for (unsigned k = 0; k < 6; k++)
				rate += (double)hp_random_between(&random, 0, 2000) / 600;
			over.counts[i % HP_EVIDENCE_GROUPS] += rate * time;
			under.counts[i % HP_EVIDENCE_GROUPS] += time;
		}
		ratio = hp_grouped_ratio(&over, &under);
		held += fabs(ratio.value - 10) <= 1.6449 * ratio.deviation;
	}
	return (double)held / PROGRAMS;
}

TEST(intervals_hold_the_truth_as_often_as_they_say)
{
	static const unsigned windows[] = { 2, 3, 4, 8, 16, 20, 37, 64 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(windows); i++) {
		double coverage = coverage_of(windows[i], 5 + i);

		ck_assert_msg(coverage > 0.87 && coverage < 0.93, "%u windows: %.3f", windows[i],
			      coverage);
	}
}

/* --- pace --------------------------------------------------------------------------------------- */

enum { PROCEDURES = 12, FEW_WINDOWS = 3 };

/* Mean 10, nearly normal, with so much deviation of it. */
static double pace(struct hp_random *random, double deviation)
{
	double sum = 0;

	for (unsigned k = 0; k < 12; k++)
		sum += (double)hp_random_between(random, 0, 1000000) / 1e6 - 0.5;
	return 10 * (1 + deviation * sum);
}

/* Three windows of programs in which the pace of each procedure varies so much: how often intervals hold
 * it, known by what procedures tell together, or else as of any program. */
static double held_at(double deviation, bool is_learned, uint64_t seed)
{
	struct hp_random random = hp_random_seeded(seed);
	enum { PROGRAMS = 500 };
	double held = 0;

	for (unsigned program = 0; program < PROGRAMS; program++) {
		struct hp_grouped over[PROCEDURES] = { 0 };
		struct hp_grouped under = { { 100, 90, 110 } };
		struct hp_paces paces = { 0 };
		struct hp_pace known;

		for (unsigned i = 0; i < PROCEDURES; i++) {
			for (unsigned j = 0; j < FEW_WINDOWS; j++)
				over[i].counts[j] = under.counts[j] * pace(&random, deviation);
			hp_paces_add(&paces, &over[i], &under, FEW_WINDOWS, 1 + i % 3);
		}
		known = is_learned ? hp_pace_of_all(&paces) : hp_pace_of_any();
		for (unsigned i = 0; i < PROCEDURES; i++) {
			struct hp_grouped_ratio ratio =
				hp_grouped_pace(&over[i], &under, FEW_WINDOWS, &known);

			held += fabs(ratio.value - 10) <= HP_NORMAL_90 * ratio.deviation;
		}
	}
	return held / PROGRAMS / PROCEDURES;
}

TEST(procedures_tell_together_how_much_windows_differ)
{
	/* Steady, as usual, and restless. */
	static const double deviations[] = { 0.07, 0.2, 0.5 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(deviations); i++) {
		double held = held_at(deviations[i], true, 11 + i);

		ck_assert_msg(held > 0.86 && held < 0.97, "%g: %.3f", deviations[i], held);
	}
	ck_assert_double_gt(held_at(0.07, false, 11), 0.98);
	ck_assert_double_lt(held_at(0.5, false, 13), 0.84);
}

/* Two of 64 windows had this code; that there are others does not make it more certain. */
TEST(what_few_windows_have_is_no_surer_for_the_others)
{
	const struct hp_grouped over = { { 30, 30 } };
	const struct hp_grouped under = { { 10, 10 } };

	ck_assert_double_ge(pace_of(&over, &under, 4 * HP_EVIDENCE_WINDOWS).deviation,
			    0.4 * pace_of(&over, &under, 2).deviation);
}

/* Half of them are steady, or all are alike. */
static double freedom_if(double steady, double restless)
{
	struct hp_random random = hp_random_seeded(5);
	struct hp_paces paces = { 0 };

	for (unsigned i = 0; i < 200; i++) {
		struct hp_grouped over = { 0 }, under = { 0 };

		for (unsigned j = 0; j < HP_EVIDENCE_WINDOWS; j++) {
			under.counts[j] = 100;
			over.counts[j] = 100 * pace(&random, i % 2 ? restless : steady);
		}
		hp_paces_add(&paces, &over, &under, HP_EVIDENCE_WINDOWS, 1);
	}
	return hp_paces_freedom(&paces);
}

TEST(one_tells_little_of_another_that_is_unlike_it)
{
	ck_assert_double_gt(freedom_if(0.2, 0.2), 20);
	ck_assert_double_lt(freedom_if(0.05, 0.5), 4);
}

TEST(one_window_tells_no_pace)
{
	struct hp_grouped over = { { 30 } };
	struct hp_grouped under = { { 10 } };
	struct hp_grouped none = { 0 };
	struct hp_paces paces = { 0 };

	hp_paces_add(&paces, &over, &under, 1, 1);
	hp_paces_add(&paces, &over, &none, 1, 1);
	hp_paces_add(&paces, &none, &under, 1, 1);
	ck_assert_double_eq(hp_pace_of_all(&paces).variance, hp_pace_of_any().variance);
	ck_assert_double_eq(hp_pace_of_all(&paces).freedom, hp_pace_of_any().freedom);
}

/* --- shares ----------------------------------------------------------------------------------- */

TEST(a_share_is_as_certain_as_throws_of_a_coin)
{
	struct hp_share few = hp_share_of(25, 75, 0.1);
	struct hp_share many;

	ck_assert_double_eq_tol(few.value, 0.25, 0.01);
	/* sqrt(0.25 * 0.75 / 100), and a little more that no number of throws takes away */
	ck_assert_double_gt(few.deviation, 0.043);
	ck_assert_double_lt(few.deviation, 0.052);
	many = hp_share_of(2.5e8, 7.5e8, 0.1);
	ck_assert_double_lt(many.deviation, few.deviation / 2);
	ck_assert_double_gt(many.deviation, 0.01);
}

TEST(what_never_happened_may_still)
{
	struct hp_share never = hp_share_of(0, 50, 0.3);
	struct hp_share always = hp_share_of(50, 0, 0.3);

	ck_assert(never.value > 0 && never.value < 0.001 && never.deviation > 0);
	ck_assert(always.value < 1 && always.value > 0.999);
	ck_assert(isnan(hp_share_of(0, 0, 0.3).value));
	never = hp_share_of(0, 1e15, 0.3);
	always = hp_share_of(1e15, 0, 0.3);
	ck_assert(never.value > 0 && never.deviation > 0);
	ck_assert(always.value < 1 && always.deviation > 0);
}

static double log_odds(double share)
{
	return log(share / (1 - share));
}

/* 1.6449 deviations are the 90 % interval's half. */
static bool holds(const struct hp_share *share, double odds)
{
	double width = share->deviation / (share->value * (1 - share->value));

	return fabs(log_odds(share->value) - odds) <= 1.6449 * width;
}

static struct hp_share throw_coins(struct hp_random *random, unsigned count, double chance,
				   double bias)
{
	unsigned part = 0;

	for (unsigned i = 0; i < count; i++)
		part += hp_random_between(random, 0, 999999) < chance * 1e6;
	return hp_share_of(part, count - part, bias);
}

/* Of branches that are each off by a normal error, in logarithms of odds. */
TEST(shares_hold_the_truth_as_often_as_they_say)
{
	static const double biases[] = { 0, 0.3, 0.8 };
	enum { BRANCHES = 3000 };
	struct hp_random random = hp_random_seeded(11);

	for (size_t b = 0; b < HP_ARRAY_COUNT(biases); b++) {
		unsigned held = 0;

		for (unsigned branch = 0; branch < BRANCHES; branch++) {
			double odds = (double)hp_random_between(&random, 0, 4000) / 1000 - 2;
			double own = odds;
			struct hp_share share;

			for (unsigned k = 0; k < 12; k++)
				own += biases[b] *
				       ((double)hp_random_between(&random, 0, 1000) / 1000 - 0.5);
			share = throw_coins(&random, 500, 1 / (1 + exp(-own)), biases[b]);
			held += holds(&share, odds);
		}
		ck_assert_msg(held > 0.87 * BRANCHES && held < 0.93 * BRANCHES,
			      "bias of %.1f: %u of %u", biases[b], held, BRANCHES);
	}
}

/* As in real programs: two in three of those that were only seen to go one way never go the other;
 * the rest do, of all orders of magnitude. */
TEST(branches_that_go_one_way_are_foreseen_to_go_on)
{
	enum { BRANCHES = 20000, THROWS = 8 };
	struct hp_random random = hp_random_seeded(12);
	unsigned seen = 0;
	unsigned below = 0;
	unsigned above = 0;

	for (unsigned branch = 0; branch < BRANCHES; branch++) {
		bool is_only_way = hp_random_between(&random, 0, 2) > 0;
		double odds = -(double)hp_random_between(&random, 0, 10000) / 1000;
		double chance = is_only_way ? 0 : 1 / (1 + exp(-odds));
		struct hp_share share = throw_coins(&random, THROWS, chance, 0.3);
		double high;

		if (share.value > 0.5 / THROWS)
			continue;
		high = log_odds(share.value) +
		       1.6449 * share.deviation / (share.value * (1 - share.value));
		seen++;
		below += chance < share.value;
		above += chance > 0 && odds > high;
	}
	ck_assert(below > seen / 2);
	ck_assert_msg(above < 0.1 * seen && above > 0.01 * seen, "%u of %u", above, seen);
}

HP_TEST_MAIN("model/grouped")
