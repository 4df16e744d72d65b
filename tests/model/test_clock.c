/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/model/clock.h>

#include <string.h>

static struct hp_clock clock_of(const double *hz, size_t count)
{
	struct hp_clock clock = { 0 };

	for (size_t i = 0; i < count; i++)
		ck_assert(hp_clock_note(&clock, hz[i]));
	return clock;
}

TEST(a_measurement_is_kept_within_a_seventh_of_a_percent)
{
	for (double hz = 1e8; hz < 1e10; hz *= 1.01) {
		struct hp_clock clock = clock_of(&hz, 1);

		ck_assert_double_eq_tol(hp_clock_percentile(&clock, 50) / hz, 1, 1.0 / 700);
		hp_clock_clear(&clock);
	}
}

TEST(percentiles_are_those_of_the_measurements)
{
	/* 1 to 100 GHz are all in classes of their own. */
	_cleanup_(hp_clock_clear) struct hp_clock clock = { 0 };

	for (int ghz = 100; ghz > 0; ghz--)
		ck_assert(hp_clock_note(&clock, ghz * 1e9));
	ck_assert_uint_eq(hp_clock_measurements(&clock), 100);
	ck_assert_double_eq_tol(hp_clock_percentile(&clock, 10) / 10e9, 1, 0.002);
	ck_assert_double_eq_tol(hp_clock_percentile(&clock, 50) / 50e9, 1, 0.002);
	ck_assert_double_eq_tol(hp_clock_percentile(&clock, 90) / 90e9, 1, 0.002);
	ck_assert_double_eq_tol(hp_clock_percentile(&clock, 0) / 1e9, 1, 0.002);
	ck_assert_double_eq_tol(hp_clock_percentile(&clock, 100) / 100e9, 1, 0.002);
}

TEST(without_measurements_the_clock_is_not_known)
{
	static const double none[] = { 0, -1, 1e300, 0.0 / 0.0, 1.0 / 0.0 };
	struct hp_clock clock = clock_of(none, HP_ARRAY_COUNT(none));

	ck_assert_uint_eq(clock.class_count, 0);
	ck_assert_uint_eq(hp_clock_measurements(&clock), 0);
	ck_assert_double_eq(hp_clock_percentile(&clock, 50), 0);
}

TEST(clocks_add_up_to_the_same_in_any_order)
{
	static const size_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct hp_random random = hp_random_seeded(5);
	struct hp_clock parts[3] = { 0 };
	struct hp_clock first = { 0 };

	for (size_t i = 0; i < 300; i++)
		ck_assert(hp_clock_note(
			&parts[i % 3], (double)hp_random_between(&random, 3500000000, 3700000000)));
	for (size_t i = 0; i < HP_ARRAY_COUNT(orders); i++) {
		struct hp_clock sum = { 0 };

		for (size_t j = 0; j < 3; j++)
			hp_assert_ok(hp_clock_add(&sum, &parts[orders[i][j]]));
		ck_assert_uint_eq(hp_clock_measurements(&sum), 300);
		for (size_t j = 1; j < sum.class_count; j++)
			ck_assert_uint_lt(sum.classes[j - 1].hz, sum.classes[j].hz);
		if (i) {
			ck_assert_uint_eq(sum.class_count, first.class_count);
			ck_assert_mem_eq(sum.classes, first.classes,
					 sum.class_count * sizeof(*sum.classes));
			hp_clock_clear(&sum);
		} else {
			first = sum;
		}
	}
	hp_clock_clear(&first);
	for (size_t i = 0; i < 3; i++)
		hp_clock_clear(&parts[i]);
}

TEST(counts_that_do_not_fit_in_64_bits_are_refused)
{
	struct hp_clock_class most = { .hz = 1000000000, .count = UINT64_MAX };
	struct hp_clock_class one = { .hz = 1000000000, .count = 1 };
	struct hp_clock_class other = { .hz = 2000000000, .count = UINT64_MAX };
	_cleanup_(hp_clock_clear) struct hp_clock sum = { 0 };

	hp_assert_ok(hp_clock_add(&sum, &(struct hp_clock){ .classes = &most, .class_count = 1 }));
	hp_assert_fails(
		HP_ERROR_DAMAGED,
		hp_clock_add(&sum, &(struct hp_clock){ .classes = &one, .class_count = 1 }));
	hp_assert_ok(hp_clock_add(&sum, &(struct hp_clock){ .classes = &other, .class_count = 1 }));
	ck_assert_uint_eq(hp_clock_measurements(&sum), UINT64_MAX);
	ck_assert_double_gt(hp_clock_percentile(&sum, 90), 0);
}

TEST(looks_at_the_core_add_up)
{
	struct hp_clock sum = { .looks = 2, .shared = 1 }, other = { 0 };
	struct hp_error *error;

	hp_clock_note_sharing(&other, true);
	hp_clock_note_sharing(&other, false);
	ck_assert_ptr_null(hp_clock_add(&sum, &other));
	ck_assert_uint_eq(sum.looks, 4);
	ck_assert_uint_eq(sum.shared, 2);
	other.looks = UINT64_MAX;
	error = hp_clock_add(&sum, &other);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
	hp_error_destroy(error);
}

HP_TEST_MAIN("model/clock")
