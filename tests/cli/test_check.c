/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hpcprof check` as somebody types it: what it says, and how it exits. */
#include "../json.h"
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "run.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>
#include <sys/stat.h>

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
	struct test test = { .directory = temporary_directory(),
			     .output = kept(malloc(OUTPUT_BYTES)) };

	test.db = fixture_db(test.directory);
	for (uint64_t i = 0; i < 4; i++) {
		record(test.db, "old", old + i);
		record(test.db, "new", new + (i + 2) % 4);
	}
	return test;
}

/* 600 samples of a millisecond in "same", and so many in "changing". */
TEST(the_verdict_comes_first_and_is_the_exit_status)
{
	static const struct {
		uint64_t old, new;
		const char *arguments;
		int status;
		const char *first; /* what the output begins with */
		const char *said;
	} cases[] = {
		{ 400, 600, "old -- new", 1,
		  "regression: ", "procedure changing in [jit program]" },
		{ 400, 600, "old -- new", 1, "regression: ", "602 ms" },
		{ 400, 600, "--format=json old -- new", 1, "{", "\"verdict\": \"regression\"" },
		{ 400, 600, "--format=json old -- new", 1, "{", "\"schema\": \"hpcprof-check/1\"" },
		{ 400, 400, "old -- new", 0, "pass: ", "4 epochs, 4 runs, 4006 samples" },
		{ 600, 400, "old -- new", 0, "improvement: ", "" },
		{ 600, 400, "new -- old", 1, "regression: ", "" },
		/* Too little to tell. */
		{ 400, 400, "@-7 -- @latest", 3, "", "record both sides together" },
		{ 400, 400, "--min-change=0.1 old -- new", 3, "", "more runs of each side, or" },
		{ 400, 400, "--min-change=0.0001 old -- new", 3, "", "" },
		/* Below the floor that was asked for. */
		{ 400, 600, "--min-change=60 old -- new", 0, "", "" },
		{ 400, 600, "--min-share=30 --min-change=30 old -- new", 0, "", "" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct test test = begin(cases[i].old, cases[i].new);

		assert_check(&test, cases[i].arguments, cases[i].status);
		ck_assert_msg(strncmp(test.output, cases[i].first, strlen(cases[i].first)) == 0,
			      "%s: %s", cases[i].arguments, test.output);
		assert_said(&test, cases[i].said);
		if (cases[i].status == 1 && *cases[i].first != '{')
			hp_assert_lacks(test.output, "procedure same");
	}
}

/* Nodes of the tree, and how many there are more. */
static size_t count_parts(const json_t *node, size_t *left_out)
{
	const json_t *parts = json_at(node, "parts");
	size_t count = json_array_size(parts);
	const json_t *part;
	size_t i;

	*left_out += (size_t)json_integer_value(json_at(node, "parts_left_out"));
	json_array_foreach(parts, i, part) count += count_parts(part, left_out);
	return count;
}

TEST(top_bounds_the_json)
{
	/* An image with three procedures; and with --top the dearest, and a finding. */
	static const struct {
		const char *arguments;
		size_t parts;
		size_t left_out;
	} cases[] = {
		{ "--format=json less -- more", 4, 0 },
		{ "--format=json --top=1 less -- more", 3, 1 },
	};
	struct test test = begin(400, 400);

	for (uint64_t i = 0; i < 8; i++) {
		const struct recorded recorded = {
			.label = i % 2 ? "more" : "less",
			.names = { "same", "changing", "other" },
			.samples = { 600 + i, i % 2 ? 300 : 100, 50 },
		};

		compare_record(test.db, &recorded);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		size_t left_out = 0;
		json_t *root;

		assert_check(&test, cases[i].arguments, 1);
		root = json_parsed(test.output);
		ck_assert_uint_eq(count_parts(json_at(root, "program"), &left_out), cases[i].parts);
		ck_assert_uint_eq(left_out, cases[i].left_out);
		if (i)
			ck_assert_uint_eq(json_array_size(json_at(root, "findings")), 1);
	}
}

TEST(the_base_may_be_in_another_database)
{
	/* Several times as dear: the sides did not take turns. */
	struct test test = begin(400, 5000);
	_cleanup_(hp_db_close_scope) struct hp_db *other;
	char arguments[512];

	hp_assert_ok(hp_db_open(fixture_path(test.directory, "other"), true, &other));
	for (uint64_t i = 0; i < 4; i++)
		record(other, "main", 200 + i);
	snprintf(arguments, sizeof(arguments), "--baseline-db='%s/other' main -- new",
		 test.directory);
	assert_check(&test, arguments, 1);
	assert_said(&test, "changing");
	/* The base is looked for nowhere else. */
	snprintf(arguments, sizeof(arguments), "--baseline-db='%s/other' old -- new",
		 test.directory);
	assert_check(&test, arguments, 2);
	assert_said(&test, "(main)");
}

TEST(a_label_that_nothing_has_exits_with_2_and_says_which_there_are)
{
	struct test test = begin(400, 400);

	assert_check(&test, "nope -- new", 2);
	assert_said(&test, "base: no epoch 'nope'");
	assert_said(&test, "(old)");
	assert_said(&test, "(new)");
	/* With more than are listed, the labels alone. */
	record(test.db, "nightly", 400);
	for (int i = 0; i < 12; i++)
		record(test.db, "new", 400);
	assert_check(&test, "nope -- new", 2);
	assert_said(&test, "labels: new, nightly, old");
}

TEST(wrong_usage_exits_with_2)
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
}

TEST(options_that_record_are_refused_where_nothing_is_recorded)
{
	static const char *const options[] = {
		"-F 99",	  "-c 1000",	   "--no-cap",	      "--overhead=5", "--shadow",
		"--strict",	  "--counters=2",  "--scheduler=rr",  "--slice=10ms", "--probes",
		"--no-registers", "-D 5",	   "--flush=10s",     "-m 8",	      "--warm-up=1",
		"--label=x",	  "--show-output", "--ignore-status",
	};
	struct test test = begin(400, 400);

	for (size_t i = 0; i < HP_ARRAY_COUNT(options); i++) {
		char arguments[128];

		snprintf(arguments, sizeof(arguments), "%s old -- new", options[i]);
		assert_check(&test, arguments, 2);
		assert_said(&test, "is an option for recording");
		assert_said(&test, "--runs=N");
	}
	assert_check(&test, "-q old -- new", 0);
	assert_check(&test, "-e cpu-clock:u -e cycles old -- new", 2);
	assert_said(&test, "one event");
	assert_check(&test, "old -- new --format=json", 2);
	assert_said(&test, "give options before --");
	assert_check(&test, "--runs=1 --baseline-db=. -- true --versus true", 2);
	assert_said(&test, "--baseline-db");
}

TEST(each_side_may_have_done_another_amount_of_work)
{
	struct test test = begin(400, 1400);
	const struct recorded worked = {
		.label = "worked",
		.names = { "same", "changing" },
		.samples = { 600, 400 },
		.work = 10,
	};

	/* 1000 ms of 10 units, 2000 ms of 20; "changing" has 40 of one and 70. */
	assert_check(&test, "old -- new", 1);
	assert_check(&test, "--work=10 --min-change=80 old -- new", 1);
	assert_check(&test, "--work=10 --candidate-work=20 --min-change=80 old -- new", 0);
	assert_said(&test, "per unit of work");
	/* One side alone is compared with nothing. */
	assert_check(&test, "--candidate-work=20 old -- new", 2);
	assert_said(&test, "does not contain its amount of work");
	compare_record(test.db, &worked);
	assert_check(&test, "--min-change=80 --candidate-work=20 worked -- new", 0);
	assert_check(&test, "worked -- new", 1);
	assert_said(&test, "costs are per run");
	assert_check(&test, "--relative --work=10 old -- new", 2);
	assert_check(&test, "--work='([0-9]+) units' old -- new", 2);
	assert_said(&test, "existing epochs need a number");
	assert_check(&test, "--candidate-work=./file --work=1 old -- new", 2);
	assert_check(&test, "--runs=1 --candidate-work=20 -- true --versus true", 2);
}

TEST(empty_and_damaged_epochs_exit_with_5_by_name)
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
}

TEST(an_epoch_that_cannot_be_read_may_be_any_labels)
{
	struct test test = begin(400, 400);
	char *broken = record(test.db, "old", 400);
	char *good = record(test.db, "single", 400);
	char *other = record(test.db, "other", 400);
	char arguments[128];

	fixture_write(fixture_file(test.directory, broken, "meta"), "x", 1);
	assert_check(&test, "old -- new", 5);
	assert_said(&test, broken);
	assert_said(&test, "whether its label is 'old'");
	assert_said(&test, "hpcprof epochs verify");
	/* By its stamp an epoch is what it is. */
	snprintf(arguments, sizeof(arguments), "--min-change=100 --min-share=50 %s -- %s", good,
		 other);
	assert_check(&test, arguments, 0);
}

TEST(a_part_of_a_run_is_not_compared_with_runs)
{
	struct test test = begin(400, 400);
	const struct recorded part = {
		.label = "part",
		.names = { "same", "changing" },
		.samples = { 60, 40 },
		.is_interrupted = true,
	};
	char *stamp = compare_record(test.db, &part);

	assert_check(&test, "old -- part", 3);
	assert_said(&test, stamp);
	assert_said(&test, "was interrupted");
	run_hpcprof(test.directory, "diff", "old part", 3, test.output, OUTPUT_BYTES);
	run_hpcprof(test.directory, "diff", "--relative old part", 0, test.output, OUTPUT_BYTES);
	assert_said(&test, "it contains only a part of the run");
	run_hpcprof(test.directory, "stats", "old part", 0, test.output, OUTPUT_BYTES);
	assert_said(&test, "it contains only a part of the run");
}

TEST(recordings_of_no_run_are_told)
{
	struct test test = begin(400, 400);
	const struct recorded everything = {
		.label = "everything",
		.names = { "same", "changing" },
		.samples = { 6000, 4000 },
		.is_whole_system = true,
	};

	compare_record(test.db, &everything);
	assert_check(&test, "old -- everything", 1);
	assert_said(&test, "has no run of a command");
	assert_check(&test, "--relative --min-change=50 old -- everything", 0);
	hp_assert_lacks(test.output, "has no run of a command");
}

TEST(other_machines_are_compared_by_shares_alone)
{
	struct test test = begin(400, 400);
	const struct recorded elsewhere = {
		.label = "elsewhere",
		.cpu_model = "Another CPU",
		.names = { "same", "changing" },
		.samples = { 600, 400 },
	};

	compare_record(test.db, &elsewhere);
	assert_check(&test, "old -- elsewhere", 3);
	assert_said(&test, "Another CPU");
	assert_said(&test, "--relative");
	assert_check(&test, "--relative --min-change=50 --min-share=30 old -- elsewhere", 0);
	assert_said(&test, "different CPUs");
}

TEST(a_page_is_written_beside_it)
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
	assert_said(&test, "--html takes the name of a file");
}

TEST(what_is_no_file_stays_what_it_is)
{
	struct test test = begin(400, 600);
	static const char *const names[] = { "", "/", "/.", "/pipe", "/null", "/link-to-pipe" };
	const char *pipe = fixture_path(test.directory, "pipe");
	const char *null = fixture_path(test.directory, "null");
	const char *link = fixture_path(test.directory, "link-to-pipe");
	char arguments[512];
	struct stat status;

	ck_assert_int_eq(mkfifo(pipe, 0600), 0);
	ck_assert_int_eq(symlink("/dev/null", null), 0);
	ck_assert_int_eq(symlink("pipe", link), 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		snprintf(arguments, sizeof(arguments), "--html='%s%s' old -- new", test.directory,
			 names[i]);
		assert_check(&test, arguments, 2);
		assert_said(&test, "it is not a file");
		/* Before anything is compared. */
		hp_assert_lacks(test.output, "regression");
	}
	ck_assert_int_eq(lstat(pipe, &status), 0);
	ck_assert(S_ISFIFO(status.st_mode));
	ck_assert_int_eq(lstat(null, &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
}

HP_TEST_MAIN("cli/check")
