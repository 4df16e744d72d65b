/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which matches are believed, by times that are made up: samples 1 ms apart. */
#include "../support.h"

#include "../../src/shadow/match/matches.h"

#include <unistd.h>

enum { SAMPLES = 40, MS = 1000000, WATCH_MS = 3 };

struct bench {
	struct hp_engine_sample samples[SAMPLES];
	struct code_cache cache; /* empty: no counters */
	struct matches matches;
};

static struct bench bench;

static void tear_down(void *nothing)
{
	(void)nothing;
	matches_clear(&bench.matches);
}

SETUP
{
	for (size_t i = 0; i < SAMPLES; i++)
		bench.samples[i].time_ns = (i + 1) * MS;
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, SAMPLES,
		      &(struct matches_past){ .pace = 0 });
	ck_assert_uint_eq(bench.matches.watch_ns, WATCH_MS * MS);
	bench.matches.start_ns = 100 * MS;
	at_end(tear_down, NULL);
}

/* `ms` since the start, in the shadow's time. */
static uint64_t at(double ms)
{
	return 100 * MS + (uint64_t)(ms * MS);
}

static void match(size_t sample, double ms)
{
	ck_assert(matches_add(&bench.matches, sample, at(ms), &bench.cache));
	matches_settle(&bench.matches, at(ms));
}

/* That are believed. */
static size_t first(void)
{
	ck_assert_uint_ge(bench.matches.believed_count, 1);
	return bench.matches.believed[0].sample;
}

static size_t last(void)
{
	ck_assert_uint_ge(bench.matches.believed_count, 2);
	return bench.matches.believed[bench.matches.believed_count - 1].sample;
}

TEST(a_match_is_believed_when_it_has_been_watched)
{
	match(0, 2);
	ck_assert(matches_is_watched(&bench.matches, 0));
	ck_assert_uint_eq(bench.matches.believed_count, 0);
	match(1, 4);
	ck_assert_uint_eq(bench.matches.believed_count, 0);
	match(2, 6);
	ck_assert_uint_eq(first(), 0);
	ck_assert(!matches_is_watched(&bench.matches, 0));
	ck_assert_uint_eq(bench.matches.believed_count, 1);
	ck_assert_uint_eq(matches_newest(&bench.matches), 2);
	matches_settle(&bench.matches, at(10.5));
	ck_assert_uint_eq(first(), 0);
	ck_assert_uint_eq(last(), 2);
	ck_assert_uint_eq(matches_newest(&bench.matches), 2);
}

TEST(one_that_comes_by_again_never_was)
{
	match(0, 2);
	match(1, 4);
	matches_take_back(&bench.matches, 0);
	matches_take_back(&bench.matches, 30); /* which never was either */
	ck_assert(!matches_is_watched(&bench.matches, 0));
	ck_assert(matches_is_watched(&bench.matches, 1));
	matches_take_back(&bench.matches, 1);
	ck_assert_uint_eq(matches_newest(&bench.matches), SIZE_MAX);
	matches_settle(&bench.matches, at(50));
	ck_assert_uint_eq(bench.matches.believed_count, 0);
}

TEST(a_shadow_does_not_run_much_faster_than_its_original)
{
	/* From the start: sample 3 was taken after 4 ms. */
	ck_assert(matches_is_too_early(&bench.matches, 3, at(1.2)));
	ck_assert(!matches_is_too_early(&bench.matches, 3, at(1.4)));
	match(0, 2);
	/* Since the newest match: 8 ms. */
	ck_assert(matches_is_too_early(&bench.matches, 8, at(4.5)));
	ck_assert(!matches_is_too_early(&bench.matches, 8, at(4.8)));
}

/* In ms since the start. */
static double lost(size_t next, double seen_ms, uint64_t blocks)
{
	return (double)(matches_lost_ns(&bench.matches, next, at(seen_ms), blocks) - at(0)) / MS;
}

TEST(a_shadow_that_comes_by_no_sample_has_lost_the_path)
{
	const double delay = most_delay_ns / MS;

	/* Perhaps it is slow. */
	ck_assert_uint_eq(matches_lost_ns(&bench.matches, 0, 0, 0), UINT64_MAX);
	bench.matches.past.pace = 2;
	/* From where the next one is due, or from where one was seen. */
	ck_assert_double_eq_tol(lost(0, 0, 0), 2 * (1 + LOST_DISTANCES) + delay, 1e-5);
	ck_assert_double_eq_tol(lost(9, 0, 0), 2 * (10 + LOST_DISTANCES) + delay, 1e-5);
	ck_assert_double_eq_tol(lost(0, 30, 0), 30 + 2 * LOST_DISTANCES + delay, 1e-5);
	/* What is new has to be translated. */
	ck_assert_double_eq_tol(lost(0, 30, 7) - lost(0, 30, 0), 7 * new_block_ns / MS, 1e-5);
	/* By the pace of this window rather than of earlier ones. */
	for (size_t i = 0; i < 10; i++)
		match(i, 3 * (double)(i + 1));
	ck_assert_double_eq_tol(lost(10, 30, 0), 33 + 3 * LOST_DISTANCES + delay, 1e-5);
	ck_assert_double_eq_tol(lost(19, 30, 0), 60 + 3 * LOST_DISTANCES + delay, 1e-5);
}

TEST(nor_much_faster_than_it_has_so_far)
{
	/* Three times slower than the original, each time. */
	for (size_t i = 0; i < 10; i++)
		match(i, 3 * (double)(i + 1));
	/* Ten samples on: at a third of that pace, 10 ms; at a third of the original's, 3.3. */
	ck_assert(matches_is_too_early(&bench.matches, 19, at(30 + 9)));
	ck_assert(!matches_is_too_early(&bench.matches, 19, at(30 + 11)));
}

/* The code was new at first: that is no pace. */
TEST(it_may_become_faster)
{
	for (size_t i = 0; i < 10; i++)
		match(i, 20 * (double)(i + 1));
	match(10, 202);
	match(11, 204);
	match(12, 206);
	matches_settle(&bench.matches, at(250));
	ck_assert_uint_eq(last(), 12);
	/* Seven samples on, at twice the original's time. */
	ck_assert(!matches_is_too_early(&bench.matches, 19, at(206 + 14)));
}

TEST(windows_before_tell_its_pace)
{
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, SAMPLES,
		      &(struct matches_past){ .pace = 2 });
	bench.matches.start_ns = 100 * MS;
	/* Sample 19 was taken after 20 ms. */
	ck_assert(matches_is_too_early(&bench.matches, 19, at(13)));
	ck_assert(!matches_is_too_early(&bench.matches, 19, at(14)));
}

/* Sample 10 came by at 5 ms, and its moment was at 33. The next one seems to be fourteen times
 * slower than the original: from the start on it is three times. */
TEST(after_one_that_was_early_the_pace_is_not_lost)
{
	match(10, 5);
	matches_settle(&bench.matches, at(38));
	match(12, 39);
	matches_settle(&bench.matches, at(50));
	ck_assert_uint_eq(bench.matches.believed_count, 2);
	ck_assert(bench.matches.pace <= 3);
	ck_assert(!matches_is_too_early(&bench.matches, 14, at(45)));
}

TEST(when_all_come_too_late_the_last_match_was_none)
{
	match(0, 3);
	match(1, 6);
	match(20, 12);
	for (unsigned i = 0; i < 3; i++) {
		matches_settle(&bench.matches, at(66 + 3 * i));
		ck_assert_uint_eq(last(), 20);
		ck_assert(matches_is_too_late(&bench.matches, 21 + i, at(66 + 3 * i), 0));
		matches_add_late(&bench.matches);
	}
	ck_assert_uint_eq(matches_newest(&bench.matches), 0);
	ck_assert(!matches_is_too_late(&bench.matches, 24, at(75), 0));
	match(24, 75);
	matches_settle(&bench.matches, at(200));
	ck_assert_uint_eq(first(), 0);
	ck_assert_uint_eq(last(), 24);
}

/* One that was late is not three in a row. */
TEST(a_late_one_between_others_says_nothing)
{
	for (size_t i = 0; i < 8; i += 2) {
		match(i, 3 * (double)(i + 1));
		matches_add_late(&bench.matches);
	}
	ck_assert_uint_eq(matches_newest(&bench.matches), 6);
}

TEST(what_comes_long_after_its_time_was_missed)
{
	match(0, 2);
	/* Two samples on: four times slower, 30 ms for all else, and some for code that is new. */
	ck_assert(!matches_is_too_late(&bench.matches, 2, at(2 + 4 * 2 + 29), 0));
	ck_assert(matches_is_too_late(&bench.matches, 2, at(2 + 4 * 2 + 31), 0));
	ck_assert(!matches_is_too_late(&bench.matches, 2, at(2 + 4 * 2 + 31), 100));
	ck_assert(!matches_is_too_late(&bench.matches, 30, at(2 + 4 * 2 + 31), 0));
}

TEST(one_that_may_be_early_is_watched_until_its_time_has_come)
{
	match(0, 2);
	/* Twenty samples on, after half their time. Shadows take twice as long as a rule, and half
	 * of that more: until 60 ms behind the first, and 3 more. */
	match(20, 12);
	ck_assert_uint_eq(matches_left_to_watch(&bench.matches, at(12)), 53 * MS);
	matches_settle(&bench.matches, at(64.9));
	ck_assert(matches_is_watched(&bench.matches, 20));
	matches_settle(&bench.matches, at(65));
	ck_assert_uint_eq(last(), 20);
	ck_assert_uint_eq(matches_left_to_watch(&bench.matches, at(65)), 0);
}

TEST(of_too_many_the_oldest_is_forgotten)
{
	for (size_t i = 0; i <= WATCHED_MATCHES; i++)
		match(i, 1 + 0.1 * (double)i);
	ck_assert(!matches_is_watched(&bench.matches, 0));
	ck_assert(matches_is_watched(&bench.matches, 1));
	ck_assert(matches_is_watched(&bench.matches, WATCHED_MATCHES));
	matches_settle(&bench.matches, at(20));
	ck_assert_uint_eq(first(), 1);
	ck_assert_uint_eq(last(), WATCHED_MATCHES);
}

TEST(the_clock_of_one_that_is_gone_believes_nothing)
{
	match(0, 2);
	matches_settle(&bench.matches, 0);
	ck_assert(matches_is_watched(&bench.matches, 0));
}

TEST(without_times_the_next_match_is_enough)
{
	for (size_t i = 0; i < SAMPLES; i++)
		bench.samples[i].time_ns = 0;
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, SAMPLES,
		      &(struct matches_past){ .pace = 0 });
	ck_assert(!matches_is_too_early(&bench.matches, 9, at(0)));
	ck_assert_uint_eq(matches_lost_ns(&bench.matches, 0, at(0), 0), UINT64_MAX);
	match(0, 0);
	ck_assert_uint_eq(bench.matches.believed_count, 0);
	match(4, 0);
	ck_assert_uint_eq(first(), 0);
	match(5, 0);
	ck_assert_uint_eq(last(), 4);
}

TEST(a_window_is_cut_into_parts_of_one_length)
{
	const struct match *believed = bench.matches.believed;

	/* 39 ms in all: parts of 9.75. */
	for (size_t i = 0; i < SAMPLES; i++)
		if (i < 15 || i > 22)
			match(i, 2 * (double)(i + 1));
	matches_settle(&bench.matches, at(200));
	ck_assert_uint_eq(bench.matches.believed_count, 5);
	ck_assert_uint_eq(believed[0].sample, 0);
	ck_assert_uint_eq(believed[1].sample, 10);
	/* Where it was missed for some time the part is longer. */
	ck_assert_uint_eq(believed[2].sample, 23);
	ck_assert_uint_eq(believed[3].sample, 33);
	ck_assert_uint_eq(believed[4].sample, 39);
}

TEST(a_window_ends_with_the_first_match_behind_what_was_wanted)
{
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, 20,
		      &(struct matches_past){ .pace = 0 });
	bench.matches.start_ns = 100 * MS;
	for (size_t i = 3; i < SAMPLES; i++) {
		/* Nothing matches for some time about the end. */
		if (i < 14 || i > 22)
			match(i, 2 * (double)(i + 1));
		ck_assert(i > 24 || !matches_are_complete(&bench.matches));
	}
	matches_settle(&bench.matches, at(200));
	ck_assert(matches_are_complete(&bench.matches));
	ck_assert_uint_eq(first(), 3);
	ck_assert_uint_eq(last(), 23);
}

TEST(without_such_a_match_it_ends_with_the_last_one)
{
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, 20,
		      &(struct matches_past){ .pace = 0 });
	bench.matches.start_ns = 100 * MS;
	for (size_t i = 0; i < 17; i++)
		match(i, 2 * (double)(i + 1));
	matches_settle(&bench.matches, at(200));
	ck_assert(!matches_are_complete(&bench.matches));
	ck_assert_uint_eq(last(), 16);
}

/* Replays that met fewer of the states that are looked for were faster. */
TEST(in_rounds_windows_before_do_not_tell_when_it_is_lost)
{
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, SAMPLES,
		      &(struct matches_past){ .pace = 1.3 });
	bench.matches.start_ns = 100 * MS;
	matches_set_end(&bench.matches);
	match(0, 2);
	matches_settle(&bench.matches, at(50));
	matches_meet_again(&bench.matches);
	ck_assert_double_ge(lost(SAMPLES - 1, 0, 0), slowest_pace * SAMPLES);
}

/* A first window of new code, or of calls that map memory, takes six times as long as its original. */
TEST(a_slow_window_before_does_not_make_matches_too_early)
{
	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, SAMPLES,
		      &(struct matches_past){ .pace = 6 });
	bench.matches.start_ns = 100 * MS;
	ck_assert(!matches_is_too_early(&bench.matches, 9, at(1.5 * 10)));
	ck_assert(matches_is_too_early(&bench.matches, 9, at(0.5 * 10)));
	/* The window's own pace does. */
	bench.matches.pace = 6;
	ck_assert(matches_is_too_early(&bench.matches, 9, at(1.5 * 10)));
}

/* The first two matches were in new code, whose copy took 40 ms per ms of its original. */
TEST(after_new_code_matches_are_not_too_early)
{
	match(0, 40);
	match(1, 80);
	matches_settle(&bench.matches, at(200));
	ck_assert_uint_eq(last(), 1);
	ck_assert_double_eq_tol(bench.matches.pace, 40, 1e-5);
	ck_assert(matches_is_too_early(&bench.matches, 11, at(80 + 1.9 * 10)));
	ck_assert(!matches_is_too_early(&bench.matches, 11, at(80 + 2.1 * 10)));
	/* If it is, its state occurs again by the time that it is watched until. */
	match(11, 80 + 2.1 * 10);
	matches_settle(&bench.matches, at(80 + 40 * 10));
	ck_assert(matches_is_watched(&bench.matches, 11));
}

/* The first round was not over, or the path was lost in it. */
TEST(after_a_window_in_rounds_one_without_an_end_counts_nothing)
{
	const struct match *moments[HP_WINDOW_PARTS + 1];
	struct matches_past past = { 0 };

	matches_set_end(&bench.matches);
	match(0, 2);
	matches_settle(&bench.matches, at(50));
	matches_meet_again(&bench.matches);
	match(SAMPLES - 1, 100);
	matches_finish(&bench.matches, at(300));
	matches_remember(&bench.matches, &past);
	ck_assert(past.was_in_rounds);

	matches_begin(&bench.matches, getpid(), bench.samples, SAMPLES, SAMPLES, &past);
	bench.matches.start_ns = 100 * MS;
	matches_set_end(&bench.matches);
	for (size_t i = 0; i < 20; i++)
		match(i, 2 * (double)(i + 1));
	matches_finish(&bench.matches, at(300));
	ck_assert(!bench.matches.is_in_rounds);
	ck_assert_uint_eq(matches_moments(&bench.matches, moments), 0);
	/* With its end it counts, and tells that there are no rounds any more. */
	match(SAMPLES - 1, 100);
	matches_finish(&bench.matches, at(300));
	ck_assert_uint_gt(matches_moments(&bench.matches, moments), 1);
	matches_remember(&bench.matches, &past);
	ck_assert(!past.was_in_rounds);
}

TEST(of_a_program_in_rounds_only_the_end_counts)
{
	const struct match *moments[HP_WINDOW_PARTS + 1];

	matches_set_end(&bench.matches);
	for (size_t i = 0; i < 30; i++)
		match(i, 2 * (double)(i + 1));
	ck_assert_uint_gt(matches_moments(&bench.matches, moments), 1);
	ck_assert(matches_is_kept(&bench.matches, 0));
	ck_assert(!matches_is_kept(&bench.matches, 1));
	matches_meet_again(&bench.matches);
	ck_assert(!matches_is_kept(&bench.matches, 0));
	ck_assert_uint_eq(matches_moments(&bench.matches, moments), 0);
	/* Nor do they tell the pace, or how far the copy is. */
	ck_assert(matches_is_too_early(&bench.matches, SAMPLES - 1, at(10)));
	ck_assert(!matches_is_too_early(&bench.matches, SAMPLES - 1, at(20)));
	/* Without an end it is lost at some time. */
	ck_assert_uint_lt(matches_lost_ns(&bench.matches, SAMPLES - 1, 0, 0), at(1000));
	/* An early end is watched until it would be late, as its state may occur in each round, too. */
	match(SAMPLES - 1, 30);
	matches_settle(&bench.matches, at(100));
	ck_assert(matches_is_watched(&bench.matches, SAMPLES - 1));
	matches_take_back(&bench.matches, SAMPLES - 1);
	match(SAMPLES - 1, 100);
	matches_settle(&bench.matches, at(104));
	ck_assert(matches_are_complete(&bench.matches));
	ck_assert_uint_eq(matches_moments(&bench.matches, moments), 2);
	ck_assert_ptr_eq(moments[0], &bench.matches.start);
	ck_assert_uint_eq(moments[1]->sample, SAMPLES - 1);
	ck_assert_double_eq_tol(bench.matches.pace, 2.5, 1e-6);
}

/* Code that waits to be fetched runs many times as fast in a copy. */
TEST(the_windows_own_end_may_come_early_if_its_state_does_not_recur)
{
	const size_t end = SAMPLES - 1;

	ck_assert(!matches_can_be(&bench.matches, end, at(1)));
	matches_set_end(&bench.matches);
	ck_assert(!matches_can_be(&bench.matches, end - 1, at(1)));
	ck_assert(matches_can_be(&bench.matches, end, at(1)));
	match(end, 1);
	/* A copy may take six times as long as the original, and half as long again is allowed for. */
	matches_settle(&bench.matches, at(SAMPLES * 6 * 1.5 + WATCH_MS - 1));
	ck_assert(matches_is_watched(&bench.matches, end));
	matches_settle(&bench.matches, at(SAMPLES * 6 * 1.5 + WATCH_MS + 1));
	ck_assert(matches_are_complete(&bench.matches));
	/* A state of rounds says no more than that of other samples. */
	matches_meet_again(&bench.matches);
	ck_assert(!matches_can_be(&bench.matches, end, at(1)));
}

HP_TEST_MAIN("shadow/matches")
