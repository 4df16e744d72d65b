/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hpcprof check` as somebody types it: what it says, and how it exits. */
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "run.h"

#include <jansson.h>
#include <string.h>

struct test {
	char *directory;
	struct hp_db *db;
	char *output;
};

enum { OUTPUT_BYTES = 1 << 18 };

#define assert_check(test, arguments, status)                                                      \
	run_hpcprof((test)->directory, "check", arguments, status, (test)->output, OUTPUT_BYTES)
#define assert_said(test, text)                                                                    \
	ck_assert_msg(strstr((test)->output, text) != NULL, "no '%s' in: %s", text, (test)->output)

/* One epoch: 600 samples in one procedure, and so many in the other. */
static char *record(struct hp_db *db, const char *label, uint64_t second)
{
	static uint64_t start_ns = 1763650000000000000;
	const struct recorded recorded = {
		.label = label,
		.start_ns = start_ns += 1000000000,
		.names = { "same", "changing" },
		.samples = { 600, second },
	};

	return compare_record(db, &recorded);
}

/* Four epochs labelled "old", and as many labelled "new", in turns. */
static struct test begin(uint64_t old, uint64_t new)
{
	struct test test = { .directory = fixture_directory(), .output = malloc(OUTPUT_BYTES) };

	test.db = fixture_db(test.directory);
	for (uint64_t i = 0; i < 4; i++) {
		free(record(test.db, "old", old + i));
		free(record(test.db, "new", new + (i + 2) % 4));
	}
	return test;
}

static void end(struct test *test)
{
	free(test->output);
	hp_db_close(test->db);
	fixture_remove(test->directory);
}

START_TEST(a_regression_exits_with_1_and_is_named)
{
	struct test test = begin(400, 600);

	assert_check(&test, "old -- new", 1);
	ck_assert_ptr_eq(strstr(test.output, "regression: "), test.output);
	assert_said(&test, "procedure changing in [jit program]");
	/* 400 samples of a millisecond become 600. */
	assert_said(&test, "602 ms");
	ck_assert_ptr_null(strstr(test.output, "procedure same"));
	end(&test);
}
END_TEST

START_TEST(what_did_not_change_exits_with_0)
{
	struct test test = begin(400, 400);

	assert_check(&test, "old -- new", 0);
	ck_assert_ptr_eq(strstr(test.output, "pass: "), test.output);
	assert_said(&test, "4 epochs, 4 runs, 4006 samples");
	end(&test);
}
END_TEST

START_TEST(an_improvement_exits_with_0)
{
	struct test test = begin(600, 400);

	assert_check(&test, "old -- new", 0);
	ck_assert_ptr_eq(strstr(test.output, "improvement: "), test.output);
	assert_check(&test, "new -- old", 1);
	end(&test);
}
END_TEST

START_TEST(too_little_to_tell_exits_with_3)
{
	struct test test = begin(400, 400);

	assert_check(&test, "@-7 -- @latest", 3);
	assert_said(&test, "more runs of each side would do");
	assert_check(&test, "--min-change=0.0001 old -- new", 3);
	end(&test);
}
END_TEST

START_TEST(a_higher_floor_lets_it_pass)
{
	struct test test = begin(400, 600);

	assert_check(&test, "--min-change=60 old -- new", 0);
	assert_check(&test, "--min-share=30 --min-change=30 old -- new", 0);
	end(&test);
}
END_TEST

START_TEST(the_verdict_is_in_the_json)
{
	struct test test = begin(400, 600);
	json_t *root;

	assert_check(&test, "--format=json old -- new", 1);
	root = json_loads(test.output, 0, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "hpcprof-check/1");
	ck_assert_str_eq(json_string_value(json_object_get(root, "verdict")), "regression");
	json_decref(root);
	end(&test);
}
END_TEST

START_TEST(the_base_may_be_in_another_database)
{
	struct test test = begin(400, 400);
	struct hp_db *other;
	char arguments[512];

	hp_assert_ok(hp_db_open(fixture_path(test.directory, "other"), true, &other));
	for (uint64_t i = 0; i < 4; i++)
		free(record(other, "main", 200 + i));
	snprintf(arguments, sizeof(arguments), "--baseline-db='%s/other' main -- new",
		 test.directory);
	assert_check(&test, arguments, 1);
	assert_said(&test, "changing");
	/* The base is looked for nowhere else. */
	snprintf(arguments, sizeof(arguments), "--baseline-db='%s/other' old -- new",
		 test.directory);
	assert_check(&test, arguments, 2);
	assert_said(&test, "(main)");
	hp_db_close(other);
	end(&test);
}
END_TEST

START_TEST(a_label_that_nothing_has_exits_with_2_and_says_which_there_are)
{
	struct test test = begin(400, 400);

	assert_check(&test, "nope -- new", 2);
	assert_said(&test, "base: no epoch 'nope'");
	assert_said(&test, "(old)");
	assert_said(&test, "(new)");
	end(&test);
}
END_TEST

START_TEST(wrong_usage_exits_with_2)
{
	struct test test = begin(400, 400);

	assert_check(&test, "old new", 2);
	assert_said(&test, "BASE... -- CANDIDATE...");
	assert_check(&test, "old --", 2);
	assert_said(&test, "nothing to compare");
	assert_check(&test, "-- new", 2);
	assert_check(&test, "--min-change=none old -- new", 2);
	assert_check(&test, "--min-change=-3 old -- new", 2);
	assert_check(&test, "--work=0 old -- new", 2);
	assert_check(&test, "--format=xml old -- new", 2);
	assert_check(&test, "-e cache-misses old -- new", 2);
	end(&test);
}
END_TEST

START_TEST(empty_and_damaged_epochs_exit_with_5_by_name)
{
	struct test test = begin(400, 400);
	const struct recorded nothing = { .label = "empty", .names = { "same" } };
	char *empty = compare_record(test.db, &nothing);
	char *broken = record(test.db, "broken", 400);

	assert_check(&test, "old -- empty", 5);
	assert_said(&test, empty);
	fixture_write(
		fixture_path(fixture_path(fixture_path(test.directory, "db"), broken), "meta"), "x",
		1);
	run_hpcprof(test.directory, "check old --", broken, 5, test.output, OUTPUT_BYTES);
	assert_said(&test, broken);
	free(empty);
	free(broken);
	end(&test);
}
END_TEST

START_TEST(a_page_is_written_beside_it)
{
	struct test test = begin(400, 600);
	char arguments[512];
	uint8_t *page;
	size_t size;

	snprintf(arguments, sizeof(arguments), "--html='%s/page.html' old -- new", test.directory);
	assert_check(&test, arguments, 1);
	page = fixture_read(fixture_path(test.directory, "page.html"), &size);
	ck_assert_ptr_nonnull(memmem(page, size, "changing", strlen("changing")));
	free(page);
	snprintf(arguments, sizeof(arguments), "--html='%s/no/page.html' old -- new",
		 test.directory);
	assert_check(&test, arguments, 2);
	end(&test);
}
END_TEST

HP_TEST_MAIN("cli/check", a_regression_exits_with_1_and_is_named, what_did_not_change_exits_with_0,
	     an_improvement_exits_with_0, too_little_to_tell_exits_with_3,
	     a_higher_floor_lets_it_pass, the_verdict_is_in_the_json,
	     the_base_may_be_in_another_database,
	     a_label_that_nothing_has_exits_with_2_and_says_which_there_are,
	     wrong_usage_exits_with_2, empty_and_damaged_epochs_exit_with_5_by_name,
	     a_page_is_written_beside_it)
