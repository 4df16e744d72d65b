/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hpcprof diff`: all differences, and no verdict. */
#include "../json.h"
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "run.h"

#include <string.h>

struct test {
	char *directory;
	struct hp_db *db;
	char *output;
};

enum { OUTPUT_BYTES = 1 << 16 };

#define assert_diff(test, arguments, status)                                                       \
	run_hpcprof((test)->directory, "diff", arguments, status, (test)->output, OUTPUT_BYTES)

/* Three epochs a side; "slower" has 200 samples and then 300, "faster" 400 and then 390. */
static struct test test;

static void begin(void)
{
	test = (struct test){ .directory = temporary_directory(),
			      .output = kept(malloc(OUTPUT_BYTES)) };
	test.db = fixture_db(test.directory);
	for (uint64_t i = 0; i < 3; i++) {
		const struct recorded old = {
			.label = "old",
			.start_ns = (1763650000 + 2 * i) * 1000000000,
			.names = { "faster", "slower" },
			.samples = { 400 + i, 201 - i },
		};
		const struct recorded new = {
			.label = "new",
			.start_ns = (1763650001 + 2 * i) * 1000000000,
			.names = { "faster", "slower" },
			.samples = { 390 + i, 301 - i },
		};

		compare_record(test.db, &old);
		compare_record(test.db, &new);
	}
}

SETUP
{
	begin();
}

TEST(all_procedures_are_shown_the_greatest_difference_first)
{
	const char *slower;
	const char *faster;

	assert_diff(&test, "old new", 0);
	slower = strstr(test.output, "procedure slower");
	faster = strstr(test.output, "procedure faster");
	ck_assert_ptr_nonnull(slower);
	ck_assert_ptr_nonnull(faster);
	ck_assert(slower < faster);
	ck_assert(strstr(test.output, "the program") < slower);
	/* 200 samples of a millisecond become 300. */
	hp_assert_contains(test.output, "200 ms     300 ms  +50.0 %");
	hp_assert_lacks(test.output, "regression:");
	assert_diff(&test, "--top=1 old new", 0);
	hp_assert_contains(test.output, "not shown: 2 more");
}

TEST(what_is_over_the_limit_for_certain_exits_with_1)
{
	/* 15 % of the program. */
	assert_diff(&test, "--fail-over=5 old new", 1);
	assert_diff(&test, "--fail-over=30 old new", 0);
	assert_diff(&test, "--fail-over=5 new old", 0);
}

static double number(const json_t *object, const char *key)
{
	ck_assert_msg(json_is_number(json_object_get(object, key)), "no number %s", key);
	return json_number_value(json_object_get(object, key));
}

static double change(const json_t *compared)
{
	return number(json_at(compared, "change"), "estimate");
}

TEST(json_has_the_program_and_the_greatest_differences)
{
	const json_t *procedures;
	json_t *root;

	assert_diff(&test, "--format=json old new", 0);
	root = json_parsed(test.output);
	ck_assert_str_eq(string_at(root, "schema"), "hpcprof-diff/1");
	ck_assert_ptr_null(json_at(root, "verdict"));
	/* 601 samples become 691. */
	ck_assert_double_eq_tol(change(json_at(root, "program")), 90.0 / 601, 1e-9);
	procedures = json_at(root, "procedures");
	ck_assert_uint_eq(json_array_size(procedures), 2);
	ck_assert_str_eq(string_at(procedures, "0.name"), "slower");
	ck_assert_double_eq_tol(change(json_at(procedures, "0")), 0.5, 1e-9);
	ck_assert_double_eq_tol(change(json_at(procedures, "1")), -10.0 / 401, 1e-9);
	ck_assert_double_eq_tol(number(root, "procedures_left_out"), 0, 1e-9);
	assert_diff(&test, "--format=json --top=1 old new", 0);
	root = json_parsed(test.output);
	ck_assert_uint_eq(json_array_size(json_at(root, "procedures")), 1);
	ck_assert_double_eq_tol(number(root, "procedures_left_out"), 1, 1e-9);
}

TEST(work_may_be_another_on_each_side)
{
	json_t *root;

	assert_diff(&test, "--format=json --work=2 --candidate-work=4 old new", 0);
	root = json_parsed(test.output);
	ck_assert_str_eq(string_at(root, "per"), "unit of work");
	ck_assert_double_eq_tol(change(json_at(root, "program")), 691.0 / 2 / 601 - 1, 1e-9);
	assert_diff(&test, "--candidate-work=4 old new", 2);
	assert_diff(&test, "--work=much old new", 2);
	assert_diff(&test, "--work=2 --relative old new", 2);
}

/* Each command says it, and goes on. */
TEST(an_epoch_that_is_passed_over_is_told)
{
	static const struct {
		const char *command;
		const char *arguments;
		int status;
	} cases[] = {
		{ "report", "", 0 },
		{ "report", "@-1", 0 },
		{ "diff", "@-1 @latest", 0 },
		{ "check", "@-1 -- @latest", 3 },
		{ "stats", "@-1..@latest", 0 },
		{ "epochs", "list @latest", 0 },
	};
	const struct recorded last = { .names = { "same" }, .samples = { 100 } };
	char *stamp = compare_record(test.db, &last);
	char expected[128];

	fixture_write(fixture_path(fixture_path(fixture_path(test.directory, "db"), stamp), "meta"),
		      "damaged", 7);
	snprintf(expected, sizeof(expected),
		 "warning: passed over epoch %s, which cannot be read: meta: offset 0x", stamp);
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		run_hpcprof(test.directory, cases[i].command, cases[i].arguments, cases[i].status,
			    test.output, OUTPUT_BYTES);
		ck_assert_msg(strstr(test.output, expected), "%s %s: %s", cases[i].command,
			      cases[i].arguments, test.output);
	}
	/* By its name it is wanted, and by another's nothing is passed over. */
	assert_diff(&test, "old new", 5);
	hp_assert_lacks(test.output, "passed over");
}

TEST(wrong_usage_is_told)
{
	assert_diff(&test, "old", 2);
	assert_diff(&test, "old old", 2);
	assert_diff(&test, "old new old", 2);
	hp_assert_contains(test.output, "hpcprof check");
	assert_diff(&test, "old nope", 2);
	assert_diff(&test, "--fail-over=much old new", 2);
	assert_diff(&test, "--top=0 old new", 2);
	assert_diff(&test, "--format=html old new", 2);
	assert_diff(&test, "--annotate=nobody old new", 2);
	hp_assert_contains(test.output, "neither side has a procedure 'nobody'");
}

HP_TEST_MAIN("cli/diff")
