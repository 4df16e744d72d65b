/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/sample/rate.h>

#include <linux/perf_event.h>
#include <math.h>

/* --- deciding --------------------------------------------------------------------------------- */

static const struct hp_sample_cost ns = { .sample_ns = 13000, .units_per_ns = 1 };
static const struct hp_sample_cost cycles = { .sample_ns = 1000, .units_per_ns = 3.8 };
static const struct hp_sample_cost unknown = { .sample_ns = 0, .units_per_ns = 0 };

struct decision {
	const struct hp_sample_cost *cost;
	double event_frequency_hz;
	uint64_t event_period;
	struct hp_rate_wishes wishes;
	enum hp_rate_limit limit;
	struct hp_rate rate;
};

static void assert_decisions(const struct decision *decisions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct decision *expected = &decisions[i];
		struct hp_event event = {
			.frequency_hz = expected->event_frequency_hz,
			.period = expected->event_period,
		};
		struct hp_rate rate;

		ck_assert_int_eq(hp_rate_decide(&event, &expected->wishes, *expected->cost, &rate),
				 expected->limit);
		ck_assert(rate.kernel_frequency == expected->rate.kernel_frequency);
		ck_assert_double_eq_tol(rate.frequency_hz, expected->rate.frequency_hz, 0.01);
		ck_assert_uint_eq(rate.period, expected->rate.period);
	}
}

TEST(time_and_cycles_get_the_period_of_the_frequency)
{
	static const struct decision decisions[] = {
		{ .cost = &ns, .rate = { .frequency_hz = 1000, .period = 1000000 } },
		{ .cost = &ns,
		  .wishes = { .frequency_hz = 4000 },
		  .rate = { .frequency_hz = 4000, .period = 250000 } },
		{ .cost = &cycles, .rate = { .frequency_hz = 1000, .period = 3800000 } },
		{ .cost = &ns,
		  .wishes = { .period = 2000000 },
		  .rate = { .frequency_hz = 500, .period = 2000000 } },
	};

	assert_decisions(decisions, HP_ARRAY_COUNT(decisions));
}

TEST(events_of_unknown_rate_are_left_to_the_kernel)
{
	static const struct decision decisions[] = {
		{ .cost = &unknown, .rate = { .kernel_frequency = true, .frequency_hz = 1000 } },
		{ .cost = &unknown,
		  .wishes = { .frequency_hz = 99 },
		  .rate = { .kernel_frequency = true, .frequency_hz = 99 } },
		{ .cost = &unknown,
		  .wishes = { .period = 1 },
		  .rate = { .frequency_hz = 0, .period = 1 } },
	};

	assert_decisions(decisions, HP_ARRAY_COUNT(decisions));
}

TEST(every_hit_of_a_tracepoint_is_a_sample_unless_a_rate_was_asked_for)
{
	const struct hp_event tracepoint = { .type = PERF_TYPE_TRACEPOINT };
	struct hp_rate_wishes slowly = { .frequency_hz = 50 };
	struct hp_rate_wishes nothing = { .period = 0 };
	struct hp_rate rate;

	ck_assert_int_eq(hp_rate_decide(&tracepoint, &nothing, unknown, &rate), HP_RATE_AS_WISHED);
	ck_assert_uint_eq(rate.period, 1);
	ck_assert(!rate.kernel_frequency);
	ck_assert_int_eq(hp_rate_decide(&tracepoint, &slowly, unknown, &rate), HP_RATE_AS_WISHED);
	ck_assert_uint_eq(rate.period, 0);
	ck_assert(rate.kernel_frequency);
}

TEST(what_the_event_says_goes_before_what_the_command_line_says)
{
	static const struct decision decisions[] = {
		{ .cost = &ns,
		  .event_frequency_hz = 200,
		  .wishes = { .frequency_hz = 4000 },
		  .rate = { .frequency_hz = 200, .period = 5000000 } },
		{ .cost = &ns,
		  .event_frequency_hz = 200,
		  .wishes = { .period = 250000 },
		  .rate = { .frequency_hz = 200, .period = 5000000 } },
		{ .cost = &ns,
		  .event_period = 500000,
		  .wishes = { .frequency_hz = 100 },
		  .rate = { .frequency_hz = 2000, .period = 500000 } },
		{ .cost = &unknown,
		  .event_period = 7,
		  .wishes = { .frequency_hz = 100 },
		  .rate = { .period = 7 } },
	};

	assert_decisions(decisions, HP_ARRAY_COUNT(decisions));
}

TEST(a_rate_above_the_cap_is_lowered_unless_told_otherwise)
{
	static const struct decision decisions[] = {
		{ .cost = &ns,
		  .wishes = { .frequency_hz = 10000 },
		  .rate = { .frequency_hz = 10000, .period = 100000 } },
		{ .cost = &ns,
		  .wishes = { .frequency_hz = 20000 },
		  .limit = HP_RATE_CAPPED,
		  .rate = { .frequency_hz = 10000, .period = 100000 } },
		{ .cost = &ns,
		  .wishes = { .period = 10000 },
		  .limit = HP_RATE_CAPPED,
		  .rate = { .frequency_hz = 10000, .period = 100000 } },
		{ .cost = &unknown,
		  .wishes = { .frequency_hz = 20000 },
		  .limit = HP_RATE_CAPPED,
		  .rate = { .kernel_frequency = true, .frequency_hz = 10000 } },
		{ .cost = &ns,
		  .wishes = { .frequency_hz = 20000, .no_cap = true },
		  .rate = { .frequency_hz = 20000, .period = 50000 } },
		{ .cost = &ns,
		  .wishes = { .period = 10000, .no_cap = true },
		  .rate = { .frequency_hz = 100000, .period = 10000 } },
	};

	assert_decisions(decisions, HP_ARRAY_COUNT(decisions));
}

TEST(a_budget_lowers_the_rate_to_what_it_pays_for)
{
	static const struct decision decisions[] = {
		/* 13 us per sample: 1 % of a second pays for 769.23 of them. */
		{ .cost = &ns,
		  .wishes = { .overhead_percent = 1 },
		  .limit = HP_RATE_IN_BUDGET,
		  .rate = { .frequency_hz = 769.23, .period = 1300000 } },
		{ .cost = &ns,
		  .wishes = { .period = 250000, .overhead_percent = 1 },
		  .limit = HP_RATE_IN_BUDGET,
		  .rate = { .frequency_hz = 769.23, .period = 1300000 } },
		{ .cost = &ns,
		  .wishes = { .frequency_hz = 20000, .overhead_percent = 1 },
		  .limit = HP_RATE_IN_BUDGET,
		  .rate = { .frequency_hz = 769.23, .period = 1300000 } },
		/* enough for the default */
		{ .cost = &ns,
		  .wishes = { .overhead_percent = 5 },
		  .rate = { .frequency_hz = 1000, .period = 1000000 } },
		/* never less than one a second */
		{ .cost = &ns,
		  .wishes = { .overhead_percent = 1e-9 },
		  .limit = HP_RATE_IN_BUDGET,
		  .rate = { .frequency_hz = 1, .period = 1000000000 } },
		/* a cost that could not be measured limits nothing */
		{ .cost = &unknown,
		  .wishes = { .overhead_percent = 1e-9 },
		  .rate = { .kernel_frequency = true, .frequency_hz = 1000 } },
	};

	assert_decisions(decisions, HP_ARRAY_COUNT(decisions));
}

/* --- drawing ---------------------------------------------------------------------------------- */

TEST(drawn_periods_stay_within_a_tenth_and_keep_the_mean)
{
	static const uint64_t periods[] = { 100, 101, 1009, 1000000, 3800000, 1ull << 40 };
	enum { DRAWS = 200000 };
	struct hp_random random = hp_random_seeded(5);

	for (size_t i = 0; i < HP_ARRAY_COUNT(periods); i++) {
		struct hp_rate rate = { .period = periods[i] };
		double mean = (double)periods[i];
		double sum = 0;
		double squares = 0;

		for (size_t j = 0; j < DRAWS; j++) {
			double drawn = (double)hp_rate_draw(&rate, &random);

			ck_assert(fabs(drawn - mean) <= mean / 10);
			sum += drawn - mean;
			squares += (drawn - mean) * (drawn - mean);
		}
		/* Uniform over ±10 %: standard deviation 5.8 %, that of the mean 0.013 %. */
		ck_assert_double_lt(fabs(sum / DRAWS) / mean, 0.0006);
		ck_assert_double_gt(sqrt(squares / DRAWS) / mean, 0.05);
	}
}

TEST(samples_of_inherited_periods_count_as_what_they_stand_for_on_average)
{
	const struct hp_rate rate = { .frequency_hz = 1000, .period = 1000000 };
	static const uint64_t periods[] = { 900000, 950000, 1050000, 1100000 };
	struct hp_random random = hp_random_seeded(7);

	for (size_t i = 0; i < HP_ARRAY_COUNT(periods); i++) {
		uint64_t count = 0;

		for (size_t sample = 0; sample < 100000; sample++)
			count += hp_rate_count(&rate, periods[i], &random);
		/* Ten standard deviations of a coin that falls one way a tenth of the time. */
		ck_assert_double_eq_tol((double)count, (double)periods[i] / 10, 950);
	}
}

TEST(a_sample_within_a_hundredth_of_the_mean_or_of_no_sane_period_counts_once)
{
	const struct hp_rate rate = { .frequency_hz = 1000, .period = 1000000 };
	const struct hp_rate every = { .period = 1 };
	struct hp_random random = hp_random_seeded(7);

	for (size_t i = 0; i < 1000; i++) {
		ck_assert_uint_eq(hp_rate_count(&rate, 990000, &random), 1);
		ck_assert_uint_eq(hp_rate_count(&rate, 1010000, &random), 1);
		ck_assert_uint_eq(hp_rate_count(&rate, UINT64_MAX, &random), 1);
		ck_assert_uint_eq(hp_rate_count(&every, 1, &random), 1);
	}
}

TEST(the_first_period_is_worth_the_mean_by_itself_and_the_others_in_pairs)
{
	static const uint64_t periods[] = { 100, 9973, 1000000 };
	struct hp_random random = hp_random_seeded(7);

	for (size_t i = 0; i < HP_ARRAY_COUNT(periods); i++) {
		struct hp_rate rate = { .period = periods[i] };

		for (size_t j = 0; j < 1000; j++) {
			uint64_t first = hp_rate_draw_first(&rate, &random);
			uint64_t drawn = hp_rate_draw(&rate, &random);

			ck_assert_uint_ge(first, rate.period - rate.period / 100);
			ck_assert_uint_le(first, rate.period + rate.period / 100);
			ck_assert_uint_eq(drawn + hp_rate_mirror(&rate, drawn), 2 * rate.period);
		}
	}
}

TEST(periods_too_small_to_vary_are_left_alone)
{
	struct hp_random random = hp_random_seeded(5);

	for (uint64_t period = 1; period < 100; period++) {
		struct hp_rate rate = { .period = period };

		for (size_t i = 0; i < 20; i++)
			ck_assert_uint_eq(hp_rate_draw(&rate, &random), period);
		ck_assert_uint_eq(hp_rate_draw_first(&rate, &random), period);
		ck_assert_uint_eq(hp_rate_mirror(&rate, period), period);
	}
}

/* --- classes ---------------------------------------------------------------------------------- */

static void assert_class(uint64_t period)
{
	uint64_t class = hp_rate_period_class(period);
	double distance = fabs((double)class - (double)period);

	/* Half a class is the 16th root of 2, 4.43 %; representatives are whole numbers. */
	ck_assert_msg(distance <= 0.0443 * (double)period + 0.5, "%lu of %lu", (unsigned long)class,
		      (unsigned long)period);
	if (period >= 1000)
		ck_assert_double_le(distance, 0.045 * (double)period);
	ck_assert_uint_eq(hp_rate_period_class(class), class);
}

TEST(the_class_of_a_period_is_near_it_and_is_its_own_class)
{
	struct hp_random random = hp_random_seeded(6);

	for (uint64_t period = 1; period < 200000; period++)
		assert_class(period);
	for (size_t i = 0; i < 200000; i++)
		assert_class(1 + (hp_random_next(&random) >> hp_random_between(&random, 2, 63)));
}

TEST(classes_never_fall_and_are_few)
{
	uint64_t before = 0;
	size_t classes = 0;

	for (uint64_t period = 1; period < 1 << 22; period++) {
		uint64_t class = hp_rate_period_class(period);

		ck_assert_uint_ge(class, before);
		classes += class != before;
		before = class;
	}
	/* 127 exact ones, then 8 an octave from 2^7 to 2^22, both ends included. */
	ck_assert_uint_eq(classes, 127 + 8 * 15 + 1);
}

TEST(small_periods_are_exact_and_0_is_taken_as_1)
{
	ck_assert_uint_eq(hp_rate_period_class(0), 1);
	for (uint64_t period = 1; period <= 128; period++)
		ck_assert_uint_eq(hp_rate_period_class(period), period);
}

/* A ring that is too small for them would take no samples at all, and tell no cost. */
TEST(the_cost_of_samples_with_a_piece_of_stack_can_be_measured)
{
	static const uint32_t sizes[] = { 256, 16384, 65528 };
	struct hp_event event = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.unit = HP_UNIT_NS,
		.exclude_kernel = true,
	};

	/* Not where no events are permitted. */
	if (hp_measure_cost(&event, 0).units_per_ns <= 0)
		return;
	for (size_t i = 0; i < HP_ARRAY_COUNT(sizes); i++)
		ck_assert_msg(hp_measure_cost(&event, sizes[i]).units_per_ns > 0, "%u", sizes[i]);
}

HP_TEST_MAIN("sample/rate")
