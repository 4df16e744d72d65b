/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Few windows: what they tell of how often code ran, and what only its time does. */
#include "counted.h"

#ifdef __x86_64__

SETUP
{
	count_all();
}

/* How often anything ran is in no view, but which way branches go, is. */
static void assert_insufficient(struct fixture *fixture)
{
	json_t *loop = listed(fixture, "counted_loop");
	json_t *body = instruction_at(loop, counted_body);
	json_t *document = view_of(fixture, HP_VIEW_CALLS);

	ck_assert(has_null(json_at(body, "executions")));
	ck_assert(json_is_null(json_at(body, "cycles.per_execution")));
	/* One window says little even of that. */
	assert_near(executions(loop, counted_loop, "relative"), 0.1, 0.5);
	ck_assert_uint_eq(json_array_size(json_at(document, "calls")), 2);
	ck_assert(has_null(json_at(document, "calls.0.calls")));
	document = view_of(fixture, HP_VIEW_EXECUTIONS);
	ck_assert(has_null(json_at(document, "procedures.0.calls")));
	ck_assert(has_null(json_at(document, "procedures.0.instructions")));
	ck_assert(has_null(json_at(document, "lines.0.executions")));
	document = view_of(fixture, HP_VIEW_PROCEDURES);
	ck_assert(has_null(json_at(document, "images.0.procedures.0.counts.calls")));
	ck_assert(json_is_null(json_at(document, "images.0.procedures.0.counts.cycles_per_call")));
}

TEST(one_window_is_not_enough_to_tell_how_often)
{
	keep_windows(1);
	assert_insufficient(record(0));
}

/* The leaf has the samples of 400 ms of all 800 ms, and as much of those in the window. */
static void assert_leaf_by_time(void)
{
	json_t *leaf;

	take_ticks();
	put_ticks(0, 0, 1, 0, 500);
	put_ticks(1, 0, 1, 0, 500);
	leaf = listed(record(0), "counted_leaf");
	assert_near(executions(leaf, counted_leaf, "estimate"), 40000, 0.1);
	ck_assert_double_lt(executions(leaf, counted_leaf, "low"), 40000 / 1.2);
	ck_assert_double_gt(executions(leaf, counted_leaf, "high"), 40000 * 1.2);
}

TEST(but_with_samples_in_it_time_tells_how_often)
{
	keep_windows(1);
	assert_leaf_by_time();
}

TEST(so_it_does_where_windows_were_truncated)
{
	keep_windows(1);
	stratum.relative[0] = stratum.groups[0];
	stratum.groups[0] = (struct hp_window_group){ 0 };
	for (size_t i = 0; i < item_count; i++)
		items[i].is_relative = true;
	assert_leaf_by_time();
}

TEST(one_window_and_a_moment_are_not_enough_either)
{
	keep_windows(2);
	for (size_t i = 0; i < item_count; i++)
		items[i].counts[PARTS] /= 25;
	stratum.groups[PARTS].time_ns /= 25;
	assert_insufficient(record(0));
}

TEST(two_windows_that_agree_are_enough)
{
	keep_windows(2);
	assert_near(executions(listed(record(0), "counted_loop"), counted_body, "estimate"),
		    20 * (1000 + 1020), 0.04);
}

/* A procedure of 100 ms: what the leaf and the loop execute in 400 ms each tells. */
TEST(what_no_window_saw_executes_as_much_as_others_in_its_time)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 2000),
		clock_at((const char *)(uintptr_t)sort_items, 400),
	};
	struct fixture *fixture;
	json_t *list, *unseen;
	double executed;

	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 500);
	put_ticks(1, 0, WINDOWS, 0, 500);
	fixture = record_counts(counts, HP_ARRAY_COUNT(counts));
	list = json_at(view_of(fixture, HP_VIEW_EXECUTIONS), "procedures");
	unseen = json_with(list, "name", "sort_items");
	executed = number_at(json_with(list, "name", "counted_leaf"), "instructions.estimate") +
		   number_at(json_with(list, "name", "counted_loop"), "instructions.estimate");
	ck_assert_str_eq(string_at(unseen, "source"), "time");
	ck_assert_str_eq(string_at(json_with(list, "name", "counted_leaf"), "source"), "windows");
	ck_assert(has_null(json_at(unseen, "calls")));
	ck_assert_double_lt(number_at(unseen, "instructions.low"), executed / 10);
	ck_assert_double_gt(number_at(unseen, "instructions.high"), executed / 10);
	ck_assert_double_lt(number_at(unseen, "instructions.high"), executed);
	assert_contains(
		fixture_output(fixture, &(struct hp_report_options){ .view = HP_VIEW_EXECUTIONS,
								     .format = HP_FORMAT_TEXT }),
		"no calls: no window saw it run");
}

HP_TEST_MAIN("report/by-time")

#else

#include <stdio.h>

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
