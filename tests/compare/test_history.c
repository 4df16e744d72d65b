/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one epoch a side learns from earlier ones, whose dispersion is known. */
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "made_up.h"
#include "notes.h"

#include <math.h>
#include <string.h>

struct test {
	char *directory;
	struct compare_sides sides;
	struct hp_random random;
	struct hp_comparison *comparison;
};

static struct test begin(uint64_t seed)
{
	struct test test = { .directory = temporary_directory(), .random = hp_random_seeded(seed) };

	test.sides.db = fixture_db(test.directory);
	return test;
}

/* Eight procedures of 400 samples. */
static struct recorded draw(struct test *test, double dispersion, double run_deviation)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	double run = exp(run_deviation * made_up_normal(&test->random));
	struct recorded recorded = { .label = "nightly", .build = 1 };

	for (size_t i = 0; i < MOST_PROCEDURES; i++) {
		recorded.names[i] = names[i];
		recorded.samples[i] = (uint64_t)made_up_count(&test->random, 400 * run, dispersion);
	}
	recorded.cpu_ns = (uint64_t)(3.2e9 * run);
	return recorded;
}

static void record_earlier(struct test *test, const struct recorded *recorded)
{
	struct recorded timed = *recorded;

	test->sides.next_start_ns += 1000000000;
	if (!timed.start_ns)
		timed.start_ns = test->sides.next_start_ns;
	compare_record(test->sides.db, &timed);
}

static void record_many(struct test *test, size_t count, double dispersion, double run_deviation)
{
	for (size_t i = 0; i < count; i++) {
		struct recorded recorded = draw(test, dispersion, run_deviation);

		record_earlier(test, &recorded);
	}
}

/* The candidate is another build. */
static void compare(struct test *test, double dispersion, double run_deviation)
{
	struct recorded base = draw(test, dispersion, run_deviation);
	struct recorded candidate = draw(test, dispersion, run_deviation);

	candidate.build = 2;
	compare_add(&test->sides, HP_BASE, &base);
	compare_add(&test->sides, HP_CANDIDATE, &candidate);
	test->comparison = compare_all(&test->sides);
}

TEST(dispersion_is_that_of_earlier_epochs)
{
	const double truth[] = { 1, 2, 4 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(truth); i++) {
		struct test test = begin(7 + i);

		record_many(&test, 12, truth[i], 0.01);
		compare(&test, truth[i], 0.01);
		printf("# of %.1f: %.2f\n", truth[i], test.comparison->dispersion);
		ck_assert_uint_eq(test.comparison->learned_epochs, 12);
		/* 88 degrees of freedom: a deviation of 15 %. */
		ck_assert_double_ge(test.comparison->dispersion, fmax(1, 0.6 * truth[i]));
		ck_assert_double_le(test.comparison->dispersion, 1.45 * truth[i]);
		ck_assert(has_note(test.comparison, "as in 12 earlier epochs"));
		ck_assert(!has_note(test.comparison, "assumed"));
	}
}

TEST(how_much_runs_differ_is_learned)
{
	struct test test = begin(3);

	record_many(&test, 14, 1, 0.06);
	compare(&test, 1, 0.06);
	ck_assert_double_ge(test.comparison->run_deviation, 0.035);
	ck_assert_double_le(test.comparison->run_deviation, 0.085);
	ck_assert(has_note(test.comparison, "as in 14 earlier epochs"));
}

TEST(one_epoch_that_is_out_of_line_teaches_nothing)
{
	struct test test = begin(5);
	struct recorded outlier = draw(&test, 1, 0);

	for (size_t i = 0; i < MOST_PROCEDURES; i++)
		outlier.samples[i] *= i % 2 ? 2 : 1;
	outlier.cpu_ns = outlier.cpu_ns * 3 / 2;
	record_many(&test, 4, 1, 0.005);
	record_earlier(&test, &outlier);
	record_many(&test, 4, 1, 0.005);
	compare(&test, 1, 0.005);
	ck_assert_uint_eq(test.comparison->learned_epochs, 8);
	ck_assert_double_le(test.comparison->dispersion, 1.6);
	ck_assert_double_le(test.comparison->run_deviation, 0.02);
}

TEST(never_less_than_chance)
{
	struct test test = begin(5);
	const struct recorded equal = draw(&test, 1, 0);

	for (int i = 0; i < 10; i++)
		record_earlier(&test, &equal);
	compare(&test, 1, 0);
	ck_assert_uint_eq(test.comparison->learned_epochs, 10);
	ck_assert_double_ge(test.comparison->dispersion, 1);
	ck_assert_double_le(test.comparison->dispersion, 1.1);
}

/* 8 degrees of freedom that say 1, at most, and 10 that say 1.3. */
TEST(few_epochs_leave_most_of_what_is_assumed)
{
	struct test test = begin(5);
	const struct recorded equal = draw(&test, 1, 0);

	record_earlier(&test, &equal);
	record_earlier(&test, &equal);
	compare(&test, 1, 0);
	ck_assert_uint_eq(test.comparison->learned_epochs, 2);
	ck_assert_double_eq_tol(test.comparison->dispersion, (8 * 1 + 10 * 1.3) / 18, 1e-6);
}

/* What runs of other builds differ by is not chance. */
TEST(builds_are_replicates_of_themselves_alone)
{
	struct test test = begin(5);

	for (uint8_t build = 10; build < 16; build++) {
		struct recorded recorded = draw(&test, 1, 0.3);

		recorded.build = build;
		record_earlier(&test, &recorded);
	}
	compare(&test, 1, 0);
	ck_assert_uint_eq(test.comparison->learned_epochs, 0);
	ck_assert_double_eq_tol(test.comparison->dispersion, 1.3, 1e-9);
	ck_assert(has_note(test.comparison, "assumed to vary by 1.3 times"));
}

TEST(only_earlier_epochs_of_the_same_on_the_same_machine_are_history)
{
	struct test test = begin(5);

	for (int i = 0; i < 3; i++) {
		struct recorded recorded = draw(&test, 4, 0.2);
		struct recorded other = recorded;

		other.label = "another";
		record_earlier(&test, &other);
		other = recorded;
		other.cpu_model = "Another CPU";
		record_earlier(&test, &other);
		other = recorded;
		other.event = "cache-misses:u";
		other.unit = HP_UNIT_EVENTS;
		record_earlier(&test, &other);
		other = recorded;
		other.start_ns = 1763650000000000000;
		record_earlier(&test, &other);
	}
	compare(&test, 1, 0);
	ck_assert_uint_eq(test.comparison->learned_epochs, 0);
}

/* Where procedures vary by more than is assumed: as replicates of which nothing is known, changes
 * are found in many; with what earlier epochs say, in few. */
TEST(what_varies_much_raises_no_alarms_once_that_is_known)
{
	enum { ROUNDS = 60 };
	size_t alarms[2] = { 0 };

	for (uint64_t round = 0; round < ROUNDS; round++)
		for (size_t has_history = 0; has_history < 2; has_history++) {
			struct test test = begin(100 + round);

			record_many(&test, has_history ? 8 : 0, 6, 0.01);
			compare(&test, 6, 0.01);
			alarms[has_history] += test.comparison->verdict == HP_VERDICT_REGRESSION;
		}
	printf("# alarms of %d: %zu, with a history %zu\n", ROUNDS, alarms[0], alarms[1]);
	ck_assert_uint_ge(alarms[0], ROUNDS / 10);
	ck_assert_uint_le(alarms[1], ROUNDS / 20);
}

HP_TEST_MAIN("compare/history")
