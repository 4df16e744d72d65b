/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far windows are off the rest of the time: places whose truth is drawn. */
#include "../support.h"
#include "draws.h"

#include "../../src/infer/moved.h"

#include <hpcprof/model/evidence.h>

enum { PLACES = 300 };

static struct place_ticks places[PLACES];
static double truths[PLACES];

/* Places from one tick to a hundred, whose logarithms are off by so much. */
static void draw(struct hp_random *random, double deviation)
{
	for (size_t i = 0; i < PLACES; i++) {
		double expected = exp(log(100) * uniform(random));

		truths[i] = deviation * normal(random);
		places[i] = (struct place_ticks){
			.expected = expected,
			.seen = poisson(random, expected * exp(-truths[i])),
			.samples = 1e6,
		};
	}
}

TEST(intervals_hold_the_truth_in_nine_of_ten_places)
{
	static const double deviations[] = { 0.03, 0.1, 0.3, 1 };
	struct hp_random random = hp_random_seeded(5);

	for (size_t i = 0; i < HP_ARRAY_COUNT(deviations); i++) {
		unsigned held = 0, drawn = 0;
		double variance = 0;

		for (size_t j = 0; j < 20; j++) {
			draw(&random, deviations[i]);
			variance = moved_variance_of(places, PLACES);
			for (size_t k = 0; k < PLACES; k++, drawn++) {
				struct moved moved = moved_of(&places[k], variance);

				held += fabs(moved.log - truths[k]) <
					HP_NORMAL_90 * moved.deviation;
			}
			/* Where chance is larger than what they are off by, it may be nothing. */
			ck_assert_double_lt(sqrt(variance), 2 * deviations[i] + 0.05);
			if (deviations[i] >= 0.3)
				ck_assert_double_gt(sqrt(variance), deviations[i] / 2);
		}
		/* What is less than chance is not told from nothing. */
		if (deviations[i] >= 0.3) {
			ck_assert_uint_gt(held * 100, drawn * 85U);
			ck_assert_uint_lt(held * 100, drawn * 96U);
		}
	}
}

TEST(no_ticks_where_many_were_expected_say_much)
{
	const struct place_ticks none = { .expected = 12, .samples = 100 };
	struct moved steady = moved_of(&none, 0.0001);
	struct moved varied = moved_of(&none, 1);

	/* Of a program that does the same all the time, nothing; … */
	ck_assert_double_lt(steady.log, 0.01);
	/* … of one with phases, that it ran several times as often, and how often is open. */
	ck_assert_double_gt(exp(varied.log), 4);
	ck_assert_double_lt(exp(varied.log), 9);
	ck_assert_double_gt(varied.deviation, 0.3);
}

TEST(time_that_windows_surely_did_not_see_is_apart)
{
	const struct place_ticks more = { .expected = 60, .seen = 6, .samples = 2000 };
	const struct place_ticks as_many = { .expected = 60, .seen = 55, .samples = 2000 };
	const struct place_ticks fewer = { .expected = 60, .seen = 120, .samples = 2000 };
	struct moved moved = moved_of(&more, 1);

	/* Ten times as much time as in windows: nine tenths of it were elsewhere, or some less. */
	ck_assert_double_gt(moved_apart(&moved), 0.7);
	ck_assert_double_lt(moved_apart(&moved), 0.9);
	/* In a program that does the same all the time that was chance. */
	moved = moved_of(&more, 1e-6);
	ck_assert_double_lt(moved_apart(&moved), 0.01);
	moved = moved_of(&as_many, 1);
	ck_assert_double_eq(moved_apart(&moved), 0);
	moved = moved_of(&fewer, 1);
	ck_assert_double_eq(moved_apart(&moved), 0);
}

TEST(few_samples_leave_open_what_was_to_be_expected)
{
	struct place_ticks place = { .expected = 500, .seen = 100, .samples = 1e6 };
	struct moved many = moved_of(&place, 1);

	place.samples = 2;
	ck_assert_double_gt(moved_of(&place, 1).deviation, 2 * many.deviation);
	ck_assert_double_lt(fabs(many.log - log(5)), 0.05);
}

TEST(a_place_that_has_all_ticks_is_not_off)
{
	struct place_ticks most = place_ticks_of(950, 1000, 0.95, 0.951, 1e5);
	struct place_ticks few = place_ticks_of(50, 1000, 0.05, 0.049, 5e3);

	ck_assert_double_lt(moved_of(&most, 1).deviation, moved_of(&few, 1).deviation / 5);
	ck_assert_double_eq_tol(most.expected / most.seen, 0.951 / 0.95, 1e-9);
	/* None seen: what would have been. */
	ck_assert_double_eq_tol(place_ticks_of(0, 1000, 0, 0.2, 100).expected, 200 / 0.8, 1e-9);
}

TEST(without_places_windows_are_off_as_usual)
{
	ck_assert_double_lt(moved_variance_of(places, 0), 0.001);
}

HP_TEST_MAIN("infer/moved")
