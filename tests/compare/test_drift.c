/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sides that did not take turns: what the machine may have made them differ by. */
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "notes.h"

#include <math.h>

enum { RUNS = 5 };
static const uint64_t second_ns = 1000000000;
static const uint64_t hour_ns = 3600 * second_ns;
/* In whose row runs of one occasion lie: half a percent. */
static const double jitter[RUNS] = { 1, 1.004, 0.997, 1.006, 0.995 };

struct test {
	char *directory;
	struct compare_sides sides;
	struct hp_comparison *comparison;
};

/* Runs in a row. */
struct occasion {
	double hour;
	double cost;	  /* 1: three seconds */
	double reference; /* 1: 50 us; 0: none was timed */
	uint8_t build;
	double first; /* the first procedure's share, 0: a fifth */
	const char *path;
};

static struct recorded run_of(const struct occasion *occasion, size_t run)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	double cost = occasion->cost * jitter[run];
	double first = occasion->first > 0 ? occasion->first : 0.2;
	struct recorded recorded = {
		.label = "nightly",
		.build = occasion->build,
		.path = occasion->path,
		.start_ns = 1763650000 * second_ns + (uint64_t)(occasion->hour * (double)hour_ns) +
			    4 * run * second_ns,
		.cpu_ns = (uint64_t)(3e9 * cost),
		.reference_ns = (uint64_t)(50000 * occasion->reference),
	};

	for (size_t i = 0; i < 5; i++) {
		recorded.names[i] = names[i];
		recorded.samples[i] = (uint64_t)(3000 * cost * (i ? (1 - first) / 4 : first));
	}
	return recorded;
}

static struct test test;

static void begin(void)
{
	test = (struct test){ .directory = temporary_directory() };
	test.sides.db = fixture_db(test.directory);
}

SETUP
{
	begin();
}

static void record_earlier(const struct occasion *occasion)
{
	for (size_t i = 0; i < RUNS; i++) {
		struct recorded recorded = run_of(occasion, i);

		compare_record(test.sides.db, &recorded);
	}
}

static const struct hp_compared *compare(const struct occasion *base,
					 const struct occasion *candidate)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < RUNS; i++) {
			struct recorded recorded = run_of(side == HP_BASE ? base : candidate, i);

			compare_add(&test.sides, (enum hp_side)side, &recorded);
		}
	test.comparison = compare_all(&test.sides);
	return test.comparison->program;
}

TEST(twelve_percent_half_an_hour_later_are_no_regression)
{
	const struct occasion base = { 100, 1, 0, 1, 0, NULL };
	const struct occasion candidate = { 100.5, 1.118, 0, 1, 0, NULL };
	const struct hp_compared *program = compare(&base, &candidate);

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_INSUFFICIENT);
	ck_assert_double_eq_tol(program->change.value, 0.118, 1e-3);
	ck_assert_double_lt(program->change.low, 0);
	ck_assert(test.comparison->is_same_build);
	ck_assert(has_note(test.comparison, "same build on both sides"));
	ck_assert(has_note(test.comparison, "an assumption"));
}

TEST(another_build_is_not_the_same)
{
	const struct occasion base = { 100, 1, 0, 1, 0, NULL };
	const struct occasion candidate = { 100.5, 1, 0, 2, 0, NULL };

	compare(&base, &candidate);
	ck_assert(!test.comparison->is_same_build);
	ck_assert(!has_note(test.comparison, "same build"));
}

/* All programs share the libraries of the system. */
TEST(a_library_of_the_system_is_no_build_of_the_program)
{
	static const struct {
		const char *path;
		bool is_own;
	} cases[] = {
		{ "/usr/bin/program", true },
		{ "/lib/program", false },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", false },
		{ "/lib/aarch64-linux-gnu/libc.so.6", false },
		{ "/usr/lib64/libc.so.6", false },
		{ "/lib64/ld-linux-x86-64.so.2", false },
		{ "/usr/lib/libm.so.6", false },
		{ "/usr/lib/jvm/java-17/lib/server/libjvm.so", true },
		{ "/usr/lib/program/program", true },
		{ "/opt/lib/libapp.so", true },
		{ "/library/libapp.so", true },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		const struct occasion base = { 100, 1, 0, 1, 0, cases[i].path };
		const struct occasion candidate = { 100.5, 1, 0, 1, 0, cases[i].path };

		begin();
		compare(&base, &candidate);
		ck_assert_msg(test.comparison->is_same_build == cases[i].is_own, "%s",
			      cases[i].path);
	}
}

/* What a machine's occasions differ by, it differs by the next time. */
TEST(occasions_are_learned_from)
{
	static const double quiet[] = { 1, 1.006, 0.993, 1.002, 0.997, 1.008, 0.995, 1.001 };

	for (int is_noisy = 0; is_noisy < 2; is_noisy++) {
		const struct occasion base = { 100, 1, 0, 1, 0, NULL };
		const struct occasion candidate = { 100.5, 1.2, 0, 2, 0, NULL };
		const struct hp_compared *program;

		begin();
		for (size_t i = 0; i < HP_ARRAY_COUNT(quiet); i++) {
			double cost = pow(quiet[i], is_noisy ? 20 : 1);
			const struct occasion earlier = { (double)i, cost, 0, 1, 0, NULL };

			record_earlier(&earlier);
		}
		program = compare(&base, &candidate);
		ck_assert(has_note(test.comparison, "on 9 occasions"));
		ck_assert_int_eq(test.comparison->verdict,
				 is_noisy ? HP_VERDICT_INSUFFICIENT : HP_VERDICT_REGRESSION);
		ck_assert_double_eq_tol(program->change.value, 0.2, 1e-3);
	}
}

/* Runs in a row cannot say it, however many they are: 40 in one occasion. */
TEST(runs_in_a_row_are_one_occasion)
{
	const struct occasion base = { 100, 1, 0, 1, 0, NULL };
	const struct occasion candidate = { 100.5, 1.2, 0, 2, 0, NULL };

	for (size_t i = 0; i < 8; i++) {
		const struct occasion earlier = { 1 + (double)i * 22 / 3600, 1, 0, 1, 0, NULL };

		record_earlier(&earlier);
	}
	compare(&base, &candidate);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_INSUFFICIENT);
	ck_assert(has_note(test.comparison, "on 2 occasions"));
}

TEST(what_slowed_the_reference_down_is_taken_away)
{
	const struct occasion base = { 100, 1, 1, 1, 0, NULL };
	const struct occasion alike = { 100.5, pow(1.2, 0.6), 1, 1, 0, NULL };
	const struct occasion slowed = { 100.5, pow(1.2, 0.6), 1.2, 1, 0, NULL };
	const struct hp_compared *program = compare(&base, &slowed);
	const struct hp_compared *uncorrected;
	struct test seen = test;

	begin();
	uncorrected = compare(&base, &alike);
	ck_assert_double_eq_tol(program->change.value, 0, 1e-3);
	ck_assert_double_eq_tol(compare_find(seen.comparison, "b")->change.value, 0, 5e-3);
	ck_assert(has_note(seen.comparison, "reference loop took 20.0 % more time"));
	/* What is shown of both sides is what they differ by. */
	ck_assert_double_eq_tol(seen.comparison->machine, pow(1.2, 0.6), 1e-3);
	ck_assert_double_eq_tol(program->side[HP_CANDIDATE].cost.value /
					program->side[HP_BASE].cost.value,
				1, 1e-3);
	ck_assert_double_eq_tol(
		compare_find(seen.comparison, "b")->side[HP_CANDIDATE].cost.value /
			compare_find(seen.comparison, "b")->side[HP_BASE].cost.value,
		1, 5e-3);
	/* An epoch's cost is as it was measured. */
	ck_assert_double_eq_tol(seen.comparison->sides[HP_CANDIDATE].epochs[0].cost,
				3e9 * pow(1.2, 0.6), 5e6);
	ck_assert_double_eq_tol(test.comparison->machine, 1, 1e-9);
	ck_assert_double_eq_tol(uncorrected->change.value, pow(1.2, 0.6) - 1, 1e-3);
	/* The farther it moved, the less is known. */
	ck_assert_double_gt(program->smallest_change, uncorrected->smallest_change);
}

TEST(costs_that_never_followed_the_reference_are_left_alone)
{
	const struct occasion base = { 100, 1, 1, 1, 0, NULL };
	const struct occasion candidate = { 100.5, 1, 1.2, 1, 0, NULL };
	const struct hp_compared *program;

	for (size_t i = 0; i < 6; i++) {
		const struct occasion earlier = { (double)i, 1, i % 2 ? 1.3 : 0.8, 1, 0, NULL };

		record_earlier(&earlier);
	}
	program = compare(&base, &candidate);
	ck_assert_double_eq_tol(program->change.value, 0, 1e-3);
	ck_assert(has_note(test.comparison, "costs did not follow it"));
}

/* A whole that costs 30 % more hides what became of a procedure; its share does not. */
TEST(shares_are_said_beside_costs)
{
	const struct occasion base = { 100, 1, 0, 1, 0, NULL };
	const struct occasion candidate = { 100.5, 1.3, 0, 1, 0.2, NULL };
	const struct hp_compared *procedure;

	compare(&base, &candidate);
	procedure = compare_find(test.comparison, "a");
	ck_assert_double_eq_tol(procedure->change.value, 0.3, 0.01);
	ck_assert_double_eq_tol(procedure->share_change.value, 0, 0.01);
	ck_assert_double_gt(procedure->share_p, 0.5);
}

HP_TEST_MAIN("compare/drift")
