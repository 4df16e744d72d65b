/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole comparisons of epochs whose costs are known. */
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "notes.h"

#include <math.h>
#include <string.h>

/* What runs alike differ by, in samples of each procedure, in no order that means anything. */
static const int jitter[] = { 0, 3, -2, 1, -3, 2 };

/* Three procedures of 500, 300 and 200 samples a millisecond apart, times the factors. */
static struct recorded run_of(double first, double second, double third, size_t run)
{
	const double factors[] = { first, second, third };
	const uint64_t samples[] = { 500, 300, 200 };
	struct recorded recorded = { .names = { "first", "second", "third" } };

	for (size_t i = 0; i < 3; i++)
		recorded.samples[i] = (uint64_t)((double)samples[i] * factors[i] + 0.5) +
				      (uint64_t)(10 + jitter[(run + i) % HP_ARRAY_COUNT(jitter)]) -
				      10;
	return recorded;
}

struct test {
	char *directory;
	struct compare_sides sides;
	struct hp_comparison *comparison;
};

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

static void add_pair(const struct recorded *base, const struct recorded *candidate)
{
	compare_add(&test.sides, HP_BASE, base);
	compare_add(&test.sides, HP_CANDIDATE, candidate);
}

/* Five runs a side, which take turns. */
static void record_turns(double first, double second, double third)
{
	for (size_t i = 0; i < 5; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(first, second, third, i + 3);

		if (i % 2)
			compare_add(&test.sides, HP_CANDIDATE, &candidate);
		compare_add(&test.sides, HP_BASE, &base);
		if (i % 2 == 0)
			compare_add(&test.sides, HP_CANDIDATE, &candidate);
	}
}

static struct test compared(double first, double second, double third)
{
	begin();
	record_turns(first, second, third);
	test.comparison = compare_all(&test.sides);
	return test;
}

/* So many runs a side, each pair at the same time, on a host that is up to three times as slow; the
 * candidates in the other order than the base's, as epochs may be named. */
static struct test compared_beside(double third, size_t pairs, uint64_t apart_ns)
{
	static const double paces[] = { 1, 2.7, 1.6, 3, 1.2 };
	const uint64_t second_ns = 1000000000;

	begin();
	for (size_t i = 0; i < pairs; i++) {
		struct recorded base = run_of(paces[i], paces[i], paces[i], i);

		base.start_ns = (10 * i + 1000) * second_ns;
		compare_add(&test.sides, HP_BASE, &base);
	}
	for (size_t i = pairs; i-- > 0;) {
		struct recorded candidate = run_of(paces[i], paces[i], third * paces[i], i + 3);

		candidate.start_ns = (10 * i + 1000) * second_ns + apart_ns;
		compare_add(&test.sides, HP_CANDIDATE, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	return test;
}

TEST(runs_at_the_same_time_are_compared_with_each_other)
{
	for (size_t pairs = 3; pairs <= 5; pairs++) {
		struct test same = compared_beside(1, pairs, 3000000);
		struct test dearer = compared_beside(1.4, pairs, 3000000);
		const struct hp_compared *third = compare_find(dearer.comparison, "third");

		ck_assert(has_note(same.comparison, "the run at the same time"));
		ck_assert_int_eq(same.comparison->verdict, HP_VERDICT_PASS);
		ck_assert_int_eq(dearer.comparison->verdict, HP_VERDICT_REGRESSION);
		ck_assert_double_eq_tol(dearer.comparison->program->change.value, 0.08, 0.01);
		ck_assert(third->is_finding);
		ck_assert_double_le(third->change.low, 0.4);
		ck_assert_double_ge(third->change.high, 0.4);
		ck_assert(!compare_find(dearer.comparison, "first")->is_finding);
	}
}

TEST(one_pair_cannot_have_drifted_apart)
{
	compared_beside(1, 1, 3000000);
	ck_assert(test.comparison->is_side_by_side);
	ck_assert(test.comparison->is_interleaved);
	ck_assert(has_note(test.comparison, "are assumed to differ"));
	ck_assert(!has_note(test.comparison, "drifted"));
}

/* The shortest run takes a second. */
TEST(runs_that_hardly_met_are_no_such_pairs)
{
	struct test met = compared_beside(1, 3, 400000000);
	struct test hardly = compared_beside(1, 3, 900000000);

	ck_assert(has_note(met.comparison, "the run at the same time"));
	ck_assert(!has_note(hardly.comparison, "the run at the same time"));
	ck_assert(hardly.comparison->is_interleaved);
	ck_assert_int_eq(hardly.comparison->verdict, HP_VERDICT_INSUFFICIENT);
	hp_assert_contains(hardly.comparison->shortages[0].advice, "--side-by-side");
}

TEST(three_at_the_same_time_are_no_pairs)
{
	for (size_t i = 0; i < 4; i++) {
		struct recorded run = run_of(1, 1, 1, i);

		run.start_ns = 1000000000000 + i * 1000000;
		compare_add(&test.sides, (enum hp_side)(i % 2), &run);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert(!has_note(test.comparison, "the run at the same time"));
}

/* --- verdicts -------------------------------------------------------------------------------- */

TEST(what_stayed_the_same_passes)
{
	const struct hp_comparison *found = compared(1, 1, 1).comparison;

	ck_assert_int_eq(found->verdict, HP_VERDICT_PASS);
	ck_assert_uint_eq(found->finding_count, 0);
	ck_assert_uint_eq(found->shortage_count, 0);
	ck_assert(found->is_interleaved);
	ck_assert_double_le(found->program->change.low, 0);
	ck_assert_double_ge(found->program->change.high, 0);
	ck_assert_uint_eq(found->sides[HP_BASE].epoch_count, 5);
	ck_assert_uint_eq(found->sides[HP_CANDIDATE].runs, 5);
	ck_assert_str_eq(found->event, "cpu-clock:u");
}

TEST(the_procedure_that_got_dearer_is_named)
{
	const struct hp_compared *third = compare_find(compared(1, 1, 1.4).comparison, "third");

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(third->is_finding);
	ck_assert_double_le(third->change.low, 0.4);
	ck_assert_double_ge(third->change.high, 0.4);
	ck_assert_double_eq_tol(third->change.value, 0.4, 0.02);
	/* 40 % of 200 samples of a millisecond. */
	ck_assert_double_eq_tol(third->lost.value, 80e6, 4e6);
	ck_assert(!compare_find(test.comparison, "first")->is_finding);
	ck_assert(!compare_find(test.comparison, "second")->is_finding);
	/* 8 % of the whole. */
	ck_assert(test.comparison->program->is_finding);
	ck_assert_ptr_eq(test.comparison->findings[0], test.comparison->program);
	ck_assert_ptr_eq(test.comparison->findings[1], third);
	ck_assert_uint_eq(test.comparison->finding_count, 2);
}

TEST(what_slows_all_down_is_the_programs_change_alone)
{
	compared(1.2, 1.2, 1.2);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(test.comparison->program->is_finding);
	ck_assert_double_eq_tol(test.comparison->program->change.value, 0.2, 0.01);
	ck_assert(!compare_find(test.comparison, "second")->is_finding);
	ck_assert(!compare_find(test.comparison, "third")->is_finding);
}

TEST(what_got_cheaper_is_an_improvement)
{
	compared(1, 0.6, 1);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_IMPROVEMENT);
	ck_assert(compare_find(test.comparison, "second")->is_finding);
	ck_assert_double_le(compare_find(test.comparison, "second")->lost.high, 0);
}

TEST(a_loss_is_a_regression_whatever_was_won_elsewhere)
{
	compared(1, 0.6, 1.6);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(!test.comparison->program->is_finding);
	ck_assert_str_eq(test.comparison->findings[0]->name, "third");
	ck_assert_str_eq(test.comparison->findings[1]->name, "second");
}

TEST(changes_below_the_floor_are_no_findings)
{
	record_turns(1, 1, 1.4);
	test.sides.options.least_change = 0.5;
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
}

TEST(runs_that_differ_too_much_are_not_enough)
{
	for (size_t i = 0; i < 3; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(1, 1, 1, i + 1);

		base.cpu_ns = (uint64_t)(1e9 * (1 + 0.05 * ((double)i - 1)));
		candidate.cpu_ns = (uint64_t)(1e9 * (1 - 0.05 * ((double)i - 1)));
		add_pair(&base, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_INSUFFICIENT);
	ck_assert_uint_eq(test.comparison->shortage_count, 1);
	ck_assert_uint_ge(test.comparison->shortages[0].more_runs, 10);
	ck_assert_double_ge(test.comparison->program->smallest_change, 0.1);
}

TEST(one_epoch_a_side_says_what_it_assumes)
{
	struct recorded base = run_of(1, 1, 1, 0);
	struct recorded candidate = run_of(1, 1, 3, 1);

	add_pair(&base, &candidate);
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(compare_find(test.comparison, "third")->is_finding);
	ck_assert_double_eq_tol(test.comparison->dispersion, 1.3, 1e-9);
	ck_assert(!test.comparison->is_interleaved);
	ck_assert_uint_ge(test.comparison->note_count, 3);
}

/* --- costs ----------------------------------------------------------------------------------- */

TEST(parts_add_up)
{
	const struct hp_compared *program = compared(1, 1, 1.4).comparison->program;

	ck_assert_uint_eq(program->part_count, 1);
	for (size_t side = 0; side < HP_SIDES; side++) {
		const struct hp_compared *image = program->parts[0];
		double sum = 0;

		for (size_t i = 0; i < image->part_count; i++)
			sum += image->parts[i]->side[side].cost.value;
		ck_assert_double_eq_tol(image->side[side].cost.value, sum, 1);
		/* Here the CPU time is the samples'. */
		ck_assert_double_eq_tol(program->side[side].cost.value, sum, 1e3);
		ck_assert_uint_eq(image->side[side].samples, program->side[side].samples);
	}
}

TEST(shares_tell_what_got_dearer_than_the_rest_and_not_what_slows_all_down)
{
	test.sides.options.is_relative = true;
	record_turns(1.2, 1.2, 1.2);
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_double_eq_tol(compare_find(test.comparison, "first")->side[HP_BASE].cost.value,
				0.5, 0.01);
	begin();
	test.sides.options.is_relative = true;
	record_turns(1.2, 1.2, 1.9);
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert_str_eq(test.comparison->findings[0]->name, "third");
}

TEST(half_the_period_is_the_same_cost)
{
	for (size_t i = 0; i < 4; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(2, 2, 2, i);

		candidate.period = 500000;
		add_pair(&base, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_double_eq_tol(compare_find(test.comparison, "first")->change.value, 0, 0.01);
	ck_assert_double_eq_tol(test.comparison->sides[HP_CANDIDATE].period, 500000, 1);
}

TEST(time_and_cycles_are_both_cycles)
{
	for (size_t i = 0; i < 4; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(1, 1, 1, i + 1);

		base.clock_hz = 2e9;
		candidate.event = "cycles:u";
		candidate.unit = HP_UNIT_CYCLES;
		candidate.period = 2000000;
		add_pair(&base, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->unit, HP_UNIT_CYCLES);
	/* Clocks are kept in classes 0.27 % apart. */
	ck_assert_double_eq_tol(test.comparison->program->change.value, 0, 0.01);
	ck_assert_double_eq_tol(test.comparison->program->side[HP_BASE].cost.value, 2e9, 2e7);
}

TEST(costs_are_for_a_unit_of_work_when_all_runs_say_how_much_it_was)
{
	for (size_t i = 0; i < 4; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(2, 2, 2, i + 1);

		base.work = 10;
		candidate.work = 20;
		add_pair(&base, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_str_eq(test.comparison->per, "unit of work");
	/* A tenth of 500 samples of a millisecond. */
	ck_assert_double_eq_tol(compare_find(test.comparison, "first")->side[HP_BASE].cost.value,
				50e6, 1e6);
}

/* --- names ----------------------------------------------------------------------------------- */

TEST(clones_and_split_off_parts_are_their_procedure)
{
	for (size_t i = 0; i < 4; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(1, 1, 0.5, i + 1);

		candidate.names[0] = "first.isra.0";
		candidate.names[2] = "third.constprop.0.part.1";
		/* The other half of the third. */
		candidate.names[3] = "third.lto_priv.7";
		candidate.samples[3] = 100;
		add_pair(&base, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_uint_eq(test.comparison->program->parts[0]->part_count, 3);
	ck_assert_double_eq_tol(compare_find(test.comparison, "third")->change.value, 0, 0.02);
}

TEST(what_only_one_side_has_is_new_or_gone)
{
	for (size_t i = 0; i < 4; i++) {
		struct recorded base = run_of(1, 1, 1, i);
		struct recorded candidate = run_of(1, 1, 1, i + 1);

		candidate.names[2] = "another";
		add_pair(&base, &candidate);
	}
	test.comparison = compare_all(&test.sides);
	ck_assert(isinf(compare_find(test.comparison, "another")->change.value));
	ck_assert_double_eq_tol(compare_find(test.comparison, "third")->change.value, -1, 1e-9);
}

/* --- what cannot be compared ----------------------------------------------------------------- */

static void refused(enum hp_error_class class, size_t named)
{
	struct hp_comparison *comparison = NULL;
	struct hp_error *error = compare_try(&test.sides, &comparison);

	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->class, class);
	for (size_t side = named < 2 ? named : 0; side < (named < 2 ? named + 1 : 2); side++)
		hp_assert_contains(error->message, test.sides.stamps[side][0]);
	hp_error_destroy(error);
}

TEST(events_without_anything_in_common_are_refused)
{
	static const struct recorded events[] = {
		{ .event = "cache-misses:u", .unit = HP_UNIT_EVENTS },
		/* The kernel alone is none of user mode. */
		{ .event = "cpu-clock:k", .unit = HP_UNIT_NS },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(events); i++) {
		struct recorded base = run_of(1, 1, 1, 0);
		struct recorded candidate = base;

		candidate.event = events[i].event;
		candidate.unit = events[i].unit;
		begin();
		add_pair(&base, &candidate);
		refused(HP_ERROR_USAGE, 2);
	}
}

/* Whichever side it is that knows of the kernel. */
TEST(epochs_with_and_without_the_kernel_compare_by_user_mode)
{
	for (int with = 0; with < HP_SIDES; with++) {
		begin();
		for (size_t i = 0; i < 5; i++) {
			struct recorded runs[HP_SIDES] = { run_of(1, 1, 1, i),
							   run_of(1, 1, 1, i + 3) };

			runs[with].event = "cpu-clock";
			runs[with].unit = HP_UNIT_NS;
			runs[with].kernel_samples = 4000;
			for (size_t side = 0; side < HP_SIDES; side++) {
				runs[side].cpu_ns = 5000000000;
				compare_add(&test.sides, (enum hp_side)side, &runs[side]);
			}
		}
		test.comparison = compare_all(&test.sides);
		ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
		ck_assert(has_note(test.comparison, "only samples in user mode are compared"));
		for (size_t i = 0; i < test.comparison->program->part_count; i++)
			ck_assert_str_ne(test.comparison->program->parts[i]->name, "[kernel]");
	}
}

TEST(epochs_that_both_have_the_kernel_compare_it_too)
{
	for (size_t i = 0; i < 5; i++)
		for (size_t side = 0; side < HP_SIDES; side++) {
			struct recorded run = run_of(1, 1, 1, i + 3 * side);

			run.event = "cpu-clock";
			run.unit = HP_UNIT_NS;
			run.kernel_samples = 4000;
			compare_add(&test.sides, (enum hp_side)side, &run);
		}
	test.comparison = compare_all(&test.sides);
	ck_assert(!has_note(test.comparison, "only samples in user mode"));
	ck_assert_uint_eq(compare_find(test.comparison, "[kernel]")->side[HP_BASE].samples,
			  5 * 4000);
}

TEST(different_cpus_compare_by_shares_alone)
{
	struct recorded base = run_of(1, 1, 1, 0);
	struct recorded candidate = run_of(1, 1, 1, 1);

	candidate.cpu_model = "Another CPU";
	add_pair(&base, &candidate);
	refused(HP_ERROR_INSUFFICIENT, 2);
	test.sides.options.is_relative = true;
	test.comparison = compare_all(&test.sides);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
}

TEST(an_epoch_without_samples_is_refused_by_name)
{
	struct recorded base = run_of(1, 1, 1, 0);
	const struct recorded candidate = { .names = { "first" } };

	add_pair(&base, &candidate);
	refused(HP_ERROR_DAMAGED, HP_CANDIDATE);
}

/* What is gone does not change the figures; but it may be the least that somebody did. */
TEST(an_epoch_whose_files_contradict_is_named)
{
	const char *epoch;
	struct fixture_names names;
	size_t removed = 0;

	record_turns(1, 1, 1);
	epoch = fixture_path(fixture_path(test.directory, "db"), test.sides.stamps[HP_BASE][2]);
	names = fixture_names(epoch);
	for (size_t i = 0; i < names.count; i++)
		if (strstr(names.at[i], ".sym"))
			removed += remove(fixture_path(epoch, names.at[i])) == 0;
	ck_assert_uint_gt(removed, 0);
	test.comparison = compare_all(&test.sides);
	ck_assert(has_note(test.comparison, test.sides.stamps[HP_BASE][2]));
	ck_assert(has_note(test.comparison, ".sym: it is missing, but meta lists it"));
}

HP_TEST_MAIN("compare/compare")
