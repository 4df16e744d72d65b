/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hpcprof stats`: figures that were worked out by hand. */
#include "../json.h"
#include "../compare_fixture.h"
#include "../db_fixture.h"
#include "run.h"

#include <math.h>
#include <string.h>

struct test {
	char *directory;
	struct hp_db *db;
	char *output;
};

enum { OUTPUT_BYTES = 1 << 16 };

#define assert_stats(test, arguments, status)                                                      \
	run_hpcprof((test)->directory, "stats", arguments, status, (test)->output, OUTPUT_BYTES)

/* Three sets; "varying" has 10, 20 and 60 samples of its 90, "even" 100 in each, "once" 7 in
 * one. */
static struct test test;

static void begin(void)
{
	static const uint64_t varying[] = { 10, 20, 60 };
	static const uint64_t once[] = { 0, 7, 0 };

	test = (struct test){ .directory = temporary_directory(),
			      .output = kept(malloc(OUTPUT_BYTES)) };
	test.db = fixture_db(test.directory);
	for (size_t i = 0; i < 3; i++) {
		const struct recorded recorded = {
			.label = "set",
			.names = { "even", "varying.part.0", "once" },
			.samples = { 100, varying[i], once[i] },
		};

		compare_record(test.db, &recorded);
	}
}

SETUP
{
	begin();
}

static double number(const json_t *object, const char *key)
{
	ck_assert_msg(json_is_number(json_object_get(object, key)), "no number %s", key);
	return json_number_value(json_object_get(object, key));
}

TEST(figures_are_those_by_hand_and_what_matters_comes_first)
{
	const json_t *row;
	json_t *root;
	json_t *rows;

	assert_stats(&test, "--format=json set", 0);
	root = json_parsed(test.output);
	ck_assert_str_eq(string_at(root, "schema"), "hpcprof-stats/1");
	ck_assert_uint_eq(json_array_size(json_at(root, "sets")), 3);
	rows = json_at(root, "rows");
	ck_assert_uint_eq(json_array_size(rows), 3);
	/* All of the one that is in one set alone is its range; it matters less all the same. */
	row = json_at(rows, "1");
	ck_assert_str_eq(string_at(row, "name"), "once");
	ck_assert_double_eq_tol(number(row, "range"), 1, 1e-12);
	ck_assert_double_eq_tol(number(row, "sets"), 1, 1e-12);
	ck_assert_double_eq_tol(number(row, "min"), 0, 1e-12);
	row = json_at(rows, "0");
	ck_assert_str_eq(string_at(row, "name"), "varying");
	ck_assert_double_eq_tol(number(row, "range"), 50.0 / 90, 1e-9);
	ck_assert_double_eq_tol(number(row, "sum"), 90, 1e-9);
	ck_assert_double_eq_tol(number(row, "mean"), 30, 1e-9);
	/* (20^2 + 10^2 + 30^2) / 2 = 700. */
	ck_assert_double_eq_tol(number(row, "deviation"), sqrt(700), 1e-9);
	ck_assert_double_eq_tol(number(row, "max"), 60, 1e-9);
	ck_assert_double_eq_tol(number(row, "share"), 90.0 / 397, 1e-9);
	row = json_at(rows, "2");
	ck_assert_double_eq_tol(number(row, "range"), 0, 1e-9);
}

TEST(the_table_has_the_columns_of_the_figure)
{
	assert_stats(&test, "set", 0);
	hp_assert_contains(test.output, "1 = 110 (set), 2 = 127 (set), 3 = 160 (set)", "; all 397",
			   " 55.56%        90.00  22.67%    3");
	assert_stats(&test, "--limit=1 set", 0);
	hp_assert_contains(test.output, "not shown: 2 more");
}

TEST(names_are_short_for_people_where_that_tells_them_apart)
{
	const struct recorded recorded = {
		.label = "long",
		.names = { "std::vector<int, std::allocator<int> >::push_back(int const&)",
			   "ns::Table<std::string, std::vector<int> >::find(int)",
			   "ns::Table<std::string, std::vector<long> >::find(int)" },
		.samples = { 10, 10, 10 },
	};

	compare_record(test.db, &recorded);
	assert_stats(&test, "long", 0);
	hp_assert_contains(test.output, ", one sample every 1 ms\n",
			   " std::vector<\u2026>::push_back  ");
	for (size_t i = 1; i < 3; i++)
		hp_assert_contains(test.output, recorded.names[i]);
	assert_stats(&test, "--format=csv long", 0);
	hp_assert_contains(test.output, recorded.names[0]);
}

TEST(images_are_sums_of_procedures)
{
	assert_stats(&test, "--images --format=csv set", 0);
	/* (160 - 110) / 397; mean 132.333. */
	hp_assert_contains(test.output, "\n0.125944584,397,1,3,132.333333,", "[jit program]");
}

TEST(sets_of_another_rate_count_as_if_at_the_mean_one)
{
	const struct recorded recorded = {
		.label = "fast",
		.period = 500000,
		.names = { "even" },
		.samples = { 200 },
	};
	const struct recorded slow = { .label = "slow", .names = { "even" }, .samples = { 100 } };
	json_t *root;
	const json_t *row;

	compare_record(test.db, &recorded);
	compare_record(test.db, &slow);
	assert_stats(&test, "--format=json fast slow", 0);
	root = json_parsed(test.output);
	row = json_at(root, "rows.0");
	ck_assert_double_eq_tol(number(row, "range"), 0, 1e-9);
	ck_assert_double_eq_tol(number(row, "sum"), 300, 1e-6);
}

TEST(wrong_usage_is_told)
{
	assert_stats(&test, "", 2);
	assert_stats(&test, "nope", 2);
	assert_stats(&test, "--limit=0 set", 2);
	assert_stats(&test, "--format=html set", 2);
	assert_stats(&test, "-e cache-misses set", 2);
}

HP_TEST_MAIN("cli/stats")
