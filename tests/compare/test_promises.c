/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether verdicts keep what they promise, on thousands of made-up programs. */
#include "../../src/compare/statistics.h"
#include "made_up.h"

/* How many of all comparisons, as shares. */
struct shares {
	double regression;
	double told; /* the program's change is told from chance */
	double first;
	double insufficient;
};

static struct shares judge_many(const struct made_up *program, size_t draws)
{
	struct hp_random random = hp_random_seeded(3);
	struct shares shares = { 0 };
	double one = 1 / (double)draws;

	for (size_t i = 0; i < draws; i++) {
		struct judged judged = made_up_judge(program, &random);

		shares.regression += judged.verdict == HP_VERDICT_REGRESSION ? one : 0;
		shares.insufficient += judged.verdict == HP_VERDICT_INSUFFICIENT ? one : 0;
		shares.told += judged.program_p <= COMPARE_FALSE_ALARMS / 2 ? one : 0;
		shares.first += judged.is_first_found ? one : 0;
	}
	return shares;
}

/* Three seconds of runs that differ by one percent, taking turns. */
static const struct made_up usual = {
	.runs = 5,
	.samples = 5000,
	.dispersion = 1,
	.run_deviation = 0.01,
	.in_turns = true,
};

/* 2000 comparisons each way. */
TEST(where_nothing_changed_two_of_a_hundred_are_regressions_at_most)
{
	for (int in_turns = 0; in_turns < 2; in_turns++) {
		struct made_up program = usual;
		double regressions = 0;

		program.in_turns = in_turns;
		for (program.dispersion = 1; program.dispersion <= 5; program.dispersion++)
			regressions += judge_many(&program, 400).regression / 5;
		printf("# false alarms%s: %.2f %%\n", in_turns ? " of sides in turns" : "",
		       100 * regressions);
		ck_assert_double_le(regressions, 0.02);
	}
}

TEST(ten_percent_in_a_procedure_of_a_fifth_is_found)
{
	struct made_up program = usual;
	struct shares shares;

	program.samples = 10000;
	program.first_slower = 0.1;
	shares = judge_many(&program, 400);
	printf("# found: %.1f %%\n", 100 * shares.first);
	ck_assert_double_ge(shares.first, 0.95);
	ck_assert_double_ge(shares.regression, 0.95);
}

TEST(an_even_drift_neither_alarms_nor_hides)
{
	struct made_up still = usual;
	struct made_up drifting;
	struct shares shares[2];

	still.run_deviation = 0.008;
	drifting = still;
	drifting.drift = 0.05;
	shares[0] = judge_many(&drifting, 1000);
	printf("# false alarms while 5 %% drifts: %.2f %%\n", 100 * shares[0].regression);
	ck_assert_double_le(shares[0].regression, 0.02);
	still.slower = drifting.slower = 0.03;
	shares[0] = judge_many(&still, 600);
	shares[1] = judge_many(&drifting, 600);
	printf("# 3 %% is told from chance: %.1f %%, while 5 %% drifts %.1f %%; not enough to "
	       "tell: "
	       "%.1f %%, %.1f %%\n",
	       100 * shares[0].told, 100 * shares[1].told, 100 * shares[0].insufficient,
	       100 * shares[1].insufficient);
	ck_assert_double_ge(shares[1].told, 0.8);
	ck_assert_double_ge(shares[1].told, shares[0].told - 0.03);
}

static void five_percent_of_the_program_are_told(struct made_up program, double share)
{
	double told;

	program.first_slower = 0;
	program.slower = 0.05;
	told = judge_many(&program, 400).told;
	printf("# 5 %% of the program is told: %.1f %%\n", 100 * told);
	ck_assert_double_ge(told, share);
}

/* A host that lends its CPUs out: runs differ by a tenth, but two that follow each other by
 * little. */
TEST(what_runs_beside_each_other_share_neither_alarms_nor_hides)
{
	struct made_up program = usual;
	struct shares shares;

	program.beside = 0.1;
	shares = judge_many(&program, 2000);
	printf("# false alarms where pairs differ by 10 %%: %.2f %%\n", 100 * shares.regression);
	ck_assert_double_le(shares.regression, 0.02);
	program.first_slower = 0.2;
	shares = judge_many(&program, 400);
	printf("# 20 %% in a procedure of a fifth is found: %.1f %%\n", 100 * shares.first);
	ck_assert_double_ge(shares.first, 0.9);
	five_percent_of_the_program_are_told(program, 0.9);
}

/* Runs at the same time on one CPU: differ by 0.6 %, whatever the host does meanwhile, and that is
 * not the same for all procedures. As many samples as 4000 Hz take in 3 s. */
static const struct made_up beside = {
	.runs = 5,
	.samples = 12000,
	.dispersion = 1,
	.run_deviation = 0.006,
	.at_once = true,
	.beside = 0.3,
	.unlike = true,
};

TEST(side_by_side_two_of_a_hundred_are_regressions_at_most)
{
	for (size_t runs = 2; runs <= 8; runs += runs < 4 ? 1 : 2) {
		struct made_up program = beside;
		double regressions = 0;

		program.runs = runs;
		for (program.dispersion = 1; program.dispersion <= 3; program.dispersion++)
			regressions += judge_many(&program, 400).regression / 3;
		printf("# false alarms of %zu pairs side by side: %.2f %%\n", runs,
		       100 * regressions);
		ck_assert_double_le(regressions, 0.02);
	}
}

TEST(side_by_side_hosts_hide_nothing)
{
	struct made_up program = beside;
	struct shares shares;

	for (int percent = 5; percent <= 10; percent += 5) {
		program.first_slower = percent / 100.0;
		shares = judge_many(&program, 400);
		printf("# side by side %d %% in a procedure of a fifth is found: %.1f %%\n",
		       percent, 100 * shares.first);
	}
	/* Of the smaller one chance in samples hides half. */
	ck_assert_double_ge(shares.first, 0.95);
	five_percent_of_the_program_are_told(program, 0.99);
}

/* Whoever was told so comes back with so many runs, of a program that did become 3 % slower. */
TEST(as_many_more_runs_as_are_asked_for_tell_the_change_four_times_out_of_five)
{
	struct hp_random random = hp_random_seeded(5);
	const double deviations[] = { 0.015, 0.03 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(deviations); i++) {
		size_t came_back = 0;
		size_t told = 0;
		double runs = 0;

		for (int draw = 0; draw < 250; draw++) {
			struct made_up program = usual;
			struct judged judged;

			program.runs = 4;
			program.run_deviation = deviations[i];
			judged = made_up_judge(&program, &random);
			if (judged.verdict != HP_VERDICT_INSUFFICIENT)
				continue;
			ck_assert_uint_ge(judged.more_runs, 1);
			program.runs += judged.more_runs;
			program.slower = 0.03;
			judged = made_up_judge(&program, &random);
			came_back++;
			told += judged.program_p <= COMPARE_FALSE_ALARMS / 2;
			runs += (double)program.runs;
		}
		printf("# runs that differ by %.1f %%: with %.1f runs a side %.1f %% told of %zu\n",
		       100 * deviations[i], runs / (double)came_back,
		       100 * (double)told / (double)came_back, came_back);
		ck_assert_uint_ge(came_back, 100);
		ck_assert_double_ge((double)told / (double)came_back, 0.78);
	}
}

HP_TEST_MAIN("compare/promises")
