/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of events per execution, by windows whose events are drawn. */
#include "../support.h"
#include "draws.h"

#include "../../src/infer/events.h"

enum { DRAWN = 2000 };

/* How many of the intervals hold the truth, if windows have so many events each, which differ by `deviation`
 * (of the logarithm), in 1000 runs. */
static unsigned held_of(struct hp_random *random, unsigned windows, double events, double deviation)
{
	const struct hp_pace pace = { .variance = 0.04 + deviation * deviation, .freedom = 3 };
	unsigned held = 0;

	for (unsigned i = 0; i < DRAWN; i++) {
		struct hp_grouped counts = { 0 }, runs = { 0 };
		struct events_range range;

		for (unsigned j = 0; j < windows; j++) {
			double own = events *
				     exp(deviation * normal(random) - deviation * deviation / 2);

			counts.counts[j] = poisson(random, own);
			runs.counts[j] = 1000;
		}
		range = events_range_of(&counts, &runs, windows, &pace);
		ck_assert_double_ge(range.low, 0);
		ck_assert_double_le(range.low, range.high);
		held += range.low <= events / 1000 && events / 1000 <= range.high;
	}
	return held;
}

TEST(intervals_hold_the_truth_in_nine_of_ten_instructions)
{
	static const double deviations[] = { 0, 0.2, 0.5 };
	struct hp_random random = hp_random_seeded(23);

	for (size_t i = 0; i < HP_ARRAY_COUNT(deviations); i++)
		for (unsigned windows = 3; windows <= HP_EVIDENCE_WINDOWS; windows *= 2) {
			ck_assert_uint_ge(held_of(&random, windows, 2, deviations[i]),
					  DRAWN * 0.85);
			ck_assert_uint_ge(held_of(&random, windows, 100, deviations[i]),
					  DRAWN * 0.85);
		}
	/* And they are no wider than they must be. */
	ck_assert_uint_le(held_of(&random, HP_EVIDENCE_WINDOWS, 100, 0.5), DRAWN * 0.97);
}

/* The range of an event that windows saw so often in so many runs, without knowing the program. */
static struct events_range range_of(struct hp_grouped events, struct hp_grouped runs,
				    double windows)
{
	const struct hp_paces nothing = { 0 };
	struct hp_pace any = events_pace_of(&nothing);

	return events_range_of(&events, &runs, windows, &any);
}

TEST(what_was_never_seen_may_have_happened)
{
	struct events_range range = range_of((struct hp_grouped){ 0 },
					     (struct hp_grouped){ .counts = { 600, 400 } }, 2);

	ck_assert_double_eq(range.low, 0);
	ck_assert_double_gt(range.high, 0.001);
	ck_assert_double_lt(range.high, 0.01);
}

/* Once in each window, as of a line that it meets for the first time: chance might have made it four times,
 * where it is chance. */
TEST(what_each_window_meets_is_known_better_than_chance)
{
	const struct hp_grouped once = { .counts = { 1, 1, 1, 1 } };
	const struct hp_grouped runs = { .counts = { 1000, 1000, 1000, 1000 } };
	struct hp_paces paces = { 0 };
	struct hp_pace pace;
	struct events_range range;

	hp_paces_add(&paces, &once, &runs, 4, 10);
	pace = events_pace_of(&paces);
	range = events_range_of(&once, &runs, 4, &pace);
	ck_assert_double_ge(range.as_met, 0.001);
	ck_assert_double_lt(range.as_met, 0.9 * range.high);
}

TEST(what_happened_each_time_did_so_in_one_window_too)
{
	const struct hp_grouped each = { .counts = { 1000 } };
	struct events_range range = range_of(each, each, 1);

	/* Of one window it is not known how windows differ. */
	ck_assert_double_gt(range.low, 0.05);
	ck_assert_double_lt(range.low, 0.5);
	ck_assert_double_ge(range.high, 1);
}

TEST(a_program_tells_how_its_windows_differ)
{
	struct hp_grouped steady = { 0 }, varied = { 0 }, runs = { 0 };
	struct hp_paces steadily = { 0 }, variedly = { 0 }, nothing = { 0 };
	struct hp_pace of_none = events_pace_of(&nothing), little, much;

	for (size_t i = 0; i < 8; i++) {
		runs.counts[i] = 10000;
		steady.counts[i] = 5000;
		varied.counts[i] = i % 2 ? 9000 : 1000;
	}
	hp_paces_add(&steadily, &steady, &runs, 8, 1);
	hp_paces_add(&variedly, &varied, &runs, 8, 1);
	little = events_pace_of(&steadily);
	much = events_pace_of(&variedly);
	ck_assert_double_lt(little.variance, 0.5 * of_none.variance);
	ck_assert_double_gt(much.variance, 2 * of_none.variance);
	ck_assert_double_gt(much.freedom, of_none.freedom);
}

/* Those of which half are steady, and half are not. */
TEST(events_that_differ_tell_little_of_each_other)
{
	struct hp_grouped varied = { 0 }, steady = { 0 }, runs = { 0 };
	struct hp_paces alike = { 0 }, unlike = { 0 };

	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++) {
		runs.counts[i] = 10000;
		steady.counts[i] = i % 2 ? 5100 : 4900;
		varied.counts[i] = i % 2 ? 9000 : 1000;
	}
	for (size_t i = 0; i < 2; i++) {
		hp_paces_add(&alike, &varied, &runs, HP_EVIDENCE_WINDOWS, 1);
		hp_paces_add(&unlike, i ? &varied : &steady, &runs, HP_EVIDENCE_WINDOWS, 1);
	}
	ck_assert_double_gt(events_pace_of(&alike).freedom, HP_EVIDENCE_WINDOWS - 2);
	ck_assert_double_lt(events_pace_of(&unlike).freedom, 4);
}

HP_TEST_MAIN("infer/events")
