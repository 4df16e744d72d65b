/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each window's counts stand for: the time of their procedures, phases, commands and
 * recordings. */
#include "counted.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__

SETUP
{
	count_all();
}

/* Of the time of windows three quarters were in the loop, of all of it half: windows came by the
 * leaf too seldom, and by the loop too often. */
TEST(counts_are_of_the_time_of_their_procedure)
{
	json_t *list;

	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 7500);
	put_ticks(1, 0, WINDOWS, 0, 2500);
	list = json_at(view_of(record(0), HP_VIEW_PROCEDURES), "images.0.procedures");
	assert_near(number_at(json_with(list, "name", "counted_leaf"), "counts.calls.estimate"),
		    40000 * 2, 0.05);
	assert_near(number_at(json_with(list, "name", "counted_loop"), "counts.calls.estimate"),
		    4000 / 1.5, 0.05);
}

static const char *text_of(struct fixture *fixture, enum hp_report_view view, const char *name,
			   enum hp_report_format format)
{
	struct hp_report_options options = { .view = view, .of.listed = name, .format = format };

	return fixture_output(fixture, &options);
}

/* In windows `from` to `end`. */
static void add_tick(struct hp_counted *list, uint32_t image, const char *at, uint64_t count,
		     size_t from, size_t end)
{
	struct hp_counted tick = { .kind = HP_COUNTED_TICK,
				   .image = image,
				   .at = { offset_of(at) },
				   .to_image = image,
				   .to = { offset_of(at) } };

	for (size_t i = from; i < end; i++)
		tick.counts[i * PARTS] = count;
	list[stratum.tick_count++] = tick;
}

static void take_all(struct hp_counted *all_ticks)
{
	qsort(all_ticks, stratum.tick_count, sizeof(*all_ticks), compare_items);
	stratum.ticks = all_ticks;
}

/* Each window was in another procedure. Some weights make ticks fit samples, but nothing else tells that
 * the first one had too many: windows may be as far off wherever they were not. */
TEST(weights_that_fit_do_not_make_counts_certain)
{
	const char *const places[WINDOWS] = { counted_back, counted_leaf_then, counted_hidden,
					      (const char *)(uintptr_t)counted_function };
	const struct fixture_count counts[] = {
		clock_at(places[0], 1000),
		clock_at(places[1], 1000),
		clock_at(places[2], 1000),
		clock_at(places[3], 1000),
	};
	static const char said[] = "in user code; they missed some of what ran";
	struct hp_counted all_ticks[WINDOWS];
	struct fixture *fixture;
	json_t *figure;

	hp_assert_lacks(text_of(record(0), HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), said);

	for (size_t i = 0; i < WINDOWS; i++)
		add_tick(all_ticks, 0, places[i], i ? 60 : 300, i, i + 1);
	take_all(all_ticks);
	fixture = record_counts(counts, WINDOWS);
	assert_contains(text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), said);
	assert_contains(text_of(fixture, HP_VIEW_STALLS, NULL, HP_FORMAT_TEXT), said);
	figure = json_at(json_with(json_at(view_of(fixture, HP_VIEW_EXECUTIONS), "procedures"),
				   "name", "counted_leaf"),
			 "calls");
	ck_assert_double_gt(number_at(figure, "high"), 1.5 * number_at(figure, "low"));
}

/* Here a place of the C library, too, has more ticks than its samples are worth: by no more than chance
 * would explain, were it not for what the program's own places say. */
TEST(what_windows_missed_is_missing_in_each_image)
{
	static const uint64_t sorted[WINDOWS] = { 100, 100, 100, 100 };
	const char *const in_library = (const char *)(uintptr_t)qsort;
	struct hp_image_id images[2], library;
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 1600),
		{ "cpu-clock:u", &library, "t", 0, 1000000, offset_of(in_library), 400 },
	};
	struct hp_counted all_ticks[3];
	Dl_info found;
	uint32_t own;

	ck_assert(dladdr(in_library, &found));
	identify(found.dli_fname, &library);
	own = hp_image_id_compare(&self, &library) > 0;
	images[own] = self;
	images[!own] = library;
	for (size_t i = 0; i < item_count; i++) {
		items[i].image = own;
		items[i].to_image = items[i].kind == HP_COUNTED_BLOCK ? 0 : own;
	}
	block(in_library, in_library + 1, 1, sorted);
	items[item_count - 1].image = !own;
	stratum.item_count = item_count;
	qsort(items, item_count, sizeof(*items), compare_items);
	add_tick(all_ticks, own, counted_back, 150, 0, WINDOWS);
	add_tick(all_ticks, own, counted_leaf_then, 25, 0, WINDOWS);
	add_tick(all_ticks, !own, in_library, 26, 0, WINDOWS);
	take_all(all_ticks);
	windows.images = images;
	windows.image_count = HP_ARRAY_COUNT(images);
	assert_near(
		number_at(json_with(json_at(view_of(record_counts(counts, 3), HP_VIEW_EXECUTIONS),
					    "procedures"),
				    "name", "qsort"),
			  "calls.estimate"),
		4000 * 0.1 / 0.1294, 0.05);
}

/* Of twenty samples in windows twelve where ten are due are chance. */
TEST(a_few_samples_are_no_reason_to_think_that_windows_were_elsewhere)
{
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 3);
	put_ticks(1, 0, WINDOWS, 0, 2);
	assert_leaf_runs(record(0), 40000, 0.01);
}

/* Windows came by the leaf a few times, but not where its time went: 160 executions of 12 ms each
 * there cannot be. They are as many as others execute in its time. */
TEST(a_few_counts_beside_much_time_are_of_another_occasion)
{
	uint64_t start = offset_of(counted_leaf);
	struct fixture *fixture;
	json_t *leaf;

	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS &&
				   items[i].at.value - start < offset_of(counted_hidden) - start;
		     j++)
			items[i].counts[j] /= 240;
	take_ticks();
	stratum.tick_count = 1;
	put_ticks(0, 0, WINDOWS, 0, 100);
	fixture = record(0);
	leaf = listed(fixture, "counted_leaf");
	ck_assert_double_lt(executions(leaf, counted_leaf_then, "low"), 40000);
	ck_assert_double_gt(executions(leaf, counted_leaf_then, "low"), 5000);
	ck_assert_double_gt(executions(leaf, counted_leaf_then, "high"), 80000);
	ck_assert_double_gt(executions(listed(fixture, "counted_loop"), counted_loop, "estimate"),
			    0);
}

/* The same of one way through the leaf, while windows saw the other as often as it ran. */
TEST(so_are_those_of_one_way_through_a_procedure)
{
	static const uint64_t hardly[WINDOWS] = { 2, 3, 3, 2 };
	static const uint64_t mostly[WINDOWS] = { 998, 1017, 977, 998 };
	json_t *figure;

	for (size_t i = 0; i < item_count; i++) {
		bool is_then = items[i].at.value == offset_of(counted_leaf_then) ||
			       items[i].to.value == offset_of(counted_leaf_then);
		bool is_end = items[i].kind == HP_COUNTED_BLOCK
				      ? items[i].at.value == offset_of(counted_leaf_end)
				      : items[i].to.value == offset_of(counted_leaf_end);

		if (is_then || is_end)
			set_counts(&items[i], is_then ? hardly : mostly);
	}
	take_ticks();
	ticks[1].at.value = ticks[1].to.value = offset_of(counted_leaf_end);
	put_ticks(0, 0, WINDOWS, 0, 50);
	put_ticks(1, 0, WINDOWS, 0, 50);
	figure = json_at(instruction_at(listed(record(0), "counted_leaf"), counted_leaf_then),
			 "executions");
	ck_assert(has_null(figure) || number_at(figure, "high") > 1000);
}

/* Half of all time was another command's, which had no windows and ran other code: that is no
 * reason to think that windows came by anything too often. */
TEST(commands_without_windows_are_no_part_of_their_time)
{
	struct hp_image_id elsewhere = self;
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 2000),
		{ "cpu-clock:u", &elsewhere, "other", 0, 1000000, 0x1000, 4000 },
	};

	elsewhere.path = (char[]){ "/nowhere/at/all" };
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 5000);
	put_ticks(1, 0, WINDOWS, 0, 5000);
	assert_leaf_runs(record_counts(counts, HP_ARRAY_COUNT(counts)), 40000, 0.04);
}

/* Two phases, one of which had three quarters of the time: what ran in the other, sampled or not,
 * has a quarter. That is half of what the windows of the other phase saw of it. */
static void assert_weighted(double seen)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 3000),
		clock_at(counted_leaf_then, 1000),
	};
	json_t *call = json_at(view_of(record_counts(counts, 2), HP_VIEW_CALLS), "calls.1");

	ck_assert_str_eq(string_at(call, "caller.name"), "counted_hidden");
	assert_near(number_at(call, "calls.estimate"), 10 * seen / 2, 0.1);
}

/* Two windows saw each. */
TEST(phases_have_the_weight_of_their_time)
{
	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < WINDOWS / 2; j++)
			if (items[i].at.value == offset_of(counted_hidden))
				items[i].counts[j * PARTS] = 0;
	take_ticks();
	put_ticks(0, 0, WINDOWS / 2, 0, 100);
	put_ticks(1, WINDOWS / 2, WINDOWS, 0, 100);
	assert_weighted(98 + 100);
}

/* All windows alike saw the one phase in their first half and the other in their second. */
TEST(phases_within_windows_have_the_weight_of_their_time_too)
{
	for (size_t i = 0; i < WINDOWS; i++) {
		stratum.groups[i * PARTS].time_ns = window_ns / 2;
		stratum.groups[i * PARTS + 1].time_ns = window_ns / 2;
		for (size_t j = 0; j < item_count; j++)
			if (items[j].at.value == offset_of(counted_hidden)) {
				items[j].counts[i * PARTS + 1] = items[j].counts[i * PARTS];
				items[j].counts[i * PARTS] = 0;
			}
	}
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 50);
	put_ticks(1, 0, WINDOWS, 1, 50);
	assert_weighted(100 + 102 + 98 + 100);
}

/* How often the leaf ran is not known, but that in three of four runs it went straight on. */
static void assert_relative(struct fixture *fixture)
{
	json_t *leaf = listed(fixture, "counted_leaf");

	ck_assert(json_is_null(json_at(instruction_at(leaf, counted_leaf), "executions.estimate")));
	assert_near(executions(leaf, counted_leaf_then, "relative"), 0.75, 0.02);
	ck_assert(has_source(leaf, "shadow"));
}

TEST(truncated_windows_only_say_how_counts_are_to_each_other)
{
	is_relative = true;
	count_all();
	assert_relative(record(0));
}

/* Of 4 s that were sampled of the command only 1 is told of: the rest was merged to it. */
TEST(time_that_nobody_told_of_makes_counts_relative)
{
	stratum.time_ns = 1000000000;
	assert_relative(record(0));
}

/* A tenth of the time at most may be of commands that nobody counted. */
TEST(commands_without_windows_are_allowed_for_or_make_counts_relative)
{
	struct fixture *fixture = record(200);
	json_t *leaf = listed(fixture, "counted_leaf");

	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 40000 / 0.95, 0.02, .low_below = 40000 * 0.98 });
	assert_near(number_at(view_of(fixture, HP_VIEW_CALLS), "calls.0.calls.estimate"),
		    40000 / 0.95, 0.005);
	assert_relative(record(1000));
}

/* Another recording of the same, of 1 s, which had no windows: it ran likewise, presumably. */
TEST(recordings_without_windows_ran_like_those_with_them)
{
	struct hp_window_stratum strata[] = {
		stratum, { .recording = 78, .command = command, .time_ns = 1000000000 }
	};
	json_t *leaf;

	windows.strata = strata;
	windows.stratum_count = 2;
	leaf = listed(record(0), "counted_leaf");
	/* Time has a little say in what is that uncertain: a guess about a fifth of it. */
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 50000, 0.05, .low_below = 50000 / 1.2 });
	strata[1].time_ns = 40000000000;
	assert_relative(record(0));
}

/* Two recordings, of which windows cover different shares: each count stands for its own. */
TEST(each_recording_has_its_own_share_of_time_counted)
{
	struct hp_window_stratum strata[] = { stratum, stratum };
	struct fixture *fixture;
	json_t *list;

	strata[1].recording = 78;
	strata[1].time_ns = 8000000000;
	windows.strata = strata;
	windows.stratum_count = 2;
	fixture = record(0);
	assert_leaf_runs(fixture, 40000 + 80000, 0.01);
	list = json_at(view_of(fixture, HP_VIEW_CALLS), "calls");
	/* What both recordings saw is one row. */
	ck_assert_uint_eq(json_array_size(list), 2);
	assert_near(number_at(list, "0.calls.estimate"), 40000 + 80000, 0.001);
}

/* Counts of windows that waited for other threads are left out where others tell how often. */
TEST(relative_counts_do_not_add_to_absolute_ones)
{
	is_relative = true;
	block(counted_leaf, counted_leaf_then, 2, around);
	sort_items();
	assert_leaf_runs(record(0), 40000, 0.01);
}

HP_TEST_MAIN("report/weights")

#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
