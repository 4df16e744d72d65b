/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>

#include <math.h>

#define SLICE_NS 4000000u
#define EVENTS	 3 /* one a group */

static const struct hp_mux_group three[EVENTS] = { { 1, 0 }, { 1, 0 }, { 1, 0 } };
static const struct hp_mux_plan plan = { three, EVENTS, 0, false };

/* What the three events count in slice `i`; the reference event is time. */
typedef void (*counting)(uint64_t i, uint64_t counts[EVENTS]);

static void end_estimator(void *estimator)
{
	hp_mux_estimator_destroy(estimator);
}

static struct hp_mux_estimator *begun(const struct hp_mux_plan *of)
{
	struct hp_mux_estimator *estimator;

	hp_assert_ok(hp_mux_estimator_create(of, 0, &estimator));
	at_end(end_estimator, estimator);
	return estimator;
}

static void end_estimates(void *estimates)
{
	hp_mux_estimates_destroy(estimates);
}

static struct hp_mux_estimates *read_off(const struct hp_mux_estimator *estimator,
					 enum hp_mux_method method)
{
	struct hp_mux_estimates *estimates;

	hp_assert_ok(hp_mux_estimates_create(estimator, method, 0, &estimates));
	at_end(end_estimates, estimates);
	return estimates;
}

static struct hp_mux_slice slice_of(uint32_t group, uint64_t i, const uint64_t *count)
{
	return (struct hp_mux_slice){ group,	i * SLICE_NS, (i + 1) * SLICE_NS,
				      SLICE_NS, SLICE_NS,     SLICE_NS,
				      count };
}

/* Groups in turn; `truth` is what was to be counted. */
static void run(struct hp_mux_estimator *estimator, counting program, uint64_t from, uint64_t to,
		double truth[EVENTS])
{
	for (uint64_t i = from; i < to; i++) {
		uint64_t counts[EVENTS];
		uint32_t group = (uint32_t)(i % EVENTS);
		struct hp_mux_slice slice;

		program(i, counts);
		for (int j = 0; j < EVENTS; j++)
			truth[j] += (double)counts[j];
		slice = slice_of(group, i, &counts[group]);
		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
}

static void constant(uint64_t i, uint64_t counts[EVENTS])
{
	(void)i;
	counts[0] = 7;
	counts[1] = 123456;
	counts[2] = 1u << 30;
}

static void rising(uint64_t i, uint64_t counts[EVENTS])
{
	for (uint64_t j = 0; j < EVENTS; j++)
		counts[j] = 1000 + i * (10 + j);
}

TEST(every_method_is_exact_on_constant_rates)
{
	for (int m = 0; m < HP_MUX_METHOD_COUNT; m++) {
		struct hp_mux_estimator *estimator = begun(&plan);
		double truth[EVENTS] = { 0 };
		struct hp_mux_estimates *estimates;

		run(estimator, constant, 0, 100, truth);
		estimates = read_off(estimator, (enum hp_mux_method)m);
		for (int i = 0; i < EVENTS; i++)
			ck_assert_double_eq_tol(estimates->events[i].count, truth[i],
						1e-9 * truth[i]);
	}
}

/* At the ends the rate is the first and last one seen: what a group misses of a line there is one
 * slice's worth of slope for each slice it is late, squared. With the group in the middle of the
 * round, both ends cancel, and nothing is missed. */
TEST(trapezoid_and_best_are_exact_on_a_linear_rate)
{
	for (int m = HP_MUX_TRAPEZOID; m <= HP_MUX_BEST; m++) {
		struct hp_mux_estimator *estimator = begun(&plan);
		double truth[EVENTS] = { 0 };
		struct hp_mux_estimates *estimates;

		run(estimator, rising, 0, 99, truth);
		estimates = read_off(estimator, (enum hp_mux_method)m);
		ck_assert_double_eq_tol(estimates->events[1].count, truth[1], 1e-9 * truth[1]);
	}
}

TEST(scaling_is_the_count_over_the_share_of_time)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	double truth[EVENTS] = { 0 }, seen = 0;
	struct hp_mux_estimates *estimates;

	run(estimator, rising, 0, 10, truth);
	for (int i = 0; i < 10; i += 3)
		seen += 1000 + i * 10;
	estimates = read_off(estimator, HP_MUX_SCALE);
	ck_assert_double_eq_tol(estimates->events[0].count, seen * 10 / 4, 1e-6);
	ck_assert_double_eq_tol(estimates->events[0].running, 0.4, 1e-9);
	ck_assert_uint_eq(estimates->events[0].slices, 4);
	ck_assert_uint_eq(estimates->events[0].raw, (uint64_t)seen);
}

/* Lim 2.3: slices 0, 3 and 6 of 8; each slope holds since the last observation, the last to the
 * end: 1 + 3 * 4 + 3 * 9 + 1 * 9 slices' worth of counts 1, 4 and 9. */
TEST(interpolation_extends_each_slope_back_to_the_last_observation)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	struct hp_mux_estimates *estimates;

	for (uint64_t i = 0; i < 8; i++) {
		uint64_t count = i == 0 ? 1 : i == 3 ? 4 : 9;
		struct hp_mux_slice slice = slice_of((uint32_t)(i % 3), i, &count);

		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
	estimates = read_off(estimator, HP_MUX_INTERPOLATE);
	ck_assert_double_eq_tol(estimates->events[0].count, 1 + 3 * 4 + 3 * 9 + 9, 1e-9);
}

TEST(what_is_counted_all_the_time_is_exact)
{
	static const struct hp_mux_group one = { 2, 0 };
	const struct hp_mux_plan alone = { &one, 1, 1, false };
	struct hp_mux_estimator *estimator = begun(&alone);
	struct hp_random random = hp_random_seeded(5);
	uint64_t sums[3] = { 0 };
	struct hp_mux_estimates *estimates;

	for (uint64_t i = 0; i < 50; i++) {
		uint64_t counts[3];
		struct hp_mux_slice slice = slice_of(0, i, counts);

		for (int j = 0; j < 3; j++)
			sums[j] += counts[j] = hp_random_between(&random, 0, 1000);
		slice.reference = hp_random_between(&random, 1, 1000000);
		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
	for (int m = 0; m < HP_MUX_METHOD_COUNT; m++) {
		estimates = read_off(estimator, (enum hp_mux_method)m);
		for (int i = 0; i < 3; i++) {
			const struct hp_mux_estimate *event = &estimates->events[i];

			ck_assert_int_eq((int)event->verdict, (int)HP_MUX_EXACT);
			ck_assert_double_eq(event->count, (double)sums[i]);
			ck_assert_double_eq(event->low, event->high);
			ck_assert_double_eq(hp_mux_covariance(estimates, (size_t)i, (size_t)i), 0);
		}
	}
}

TEST(a_group_without_a_slice_is_not_counted_rather_than_zero)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	const uint64_t count = 5;
	struct hp_mux_slice slice = slice_of(0, 0, &count);
	struct hp_mux_estimates *estimates;

	hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	/* Enabled, but somebody else had the counters. */
	slice = slice_of(1, 1, &count);
	slice.running_ns = 0;
	hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	estimates = read_off(estimator, HP_MUX_BEST);
	ck_assert_int_eq((int)estimates->events[0].verdict, (int)HP_MUX_INSUFFICIENT);
	ck_assert_double_eq_tol(estimates->events[0].count, 10, 1e-9);
	for (int i = 1; i < EVENTS; i++) {
		ck_assert_int_eq((int)estimates->events[i].verdict, (int)HP_MUX_NOT_COUNTED);
		ck_assert(isnan(estimates->events[i].count));
	}
}

TEST(a_count_that_came_from_one_slice_is_insufficient)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	struct hp_mux_estimates *estimates;

	for (uint64_t i = 0; i < 300; i++) {
		uint64_t count = i == 60 ? 100000 : 0;
		struct hp_mux_slice slice = slice_of((uint32_t)(i % 3), i, &count);

		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
	estimates = read_off(estimator, HP_MUX_BEST);
	for (int i = 0; i < EVENTS; i++)
		ck_assert_int_eq((int)estimates->events[i].verdict, (int)HP_MUX_INSUFFICIENT);
}

TEST(a_refused_slice_changes_nothing)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	double truth[EVENTS] = { 0 };
	const uint64_t count = 1000000;
	struct hp_mux_slice bad = slice_of(0, 2, &count);
	struct hp_mux_estimates *before, *after;

	run(estimator, rising, 0, 30, truth);
	before = read_off(estimator, HP_MUX_BEST);
	hp_assert_fails(HP_ERROR_USAGE, hp_mux_estimator_add(estimator, &bad));
	bad = slice_of(EVENTS, 40, &count);
	hp_assert_fails(HP_ERROR_USAGE, hp_mux_estimator_add(estimator, &bad));
	after = read_off(estimator, HP_MUX_BEST);
	for (int i = 0; i < EVENTS; i++) {
		ck_assert_double_eq(before->events[i].count, after->events[i].count);
		ck_assert_double_eq(before->events[i].low, after->events[i].low);
	}
}

TEST(reading_in_between_does_not_change_the_result)
{
	struct hp_mux_estimator *often = begun(&plan), *once = begun(&plan);
	double truth[EVENTS] = { 0 };
	struct hp_mux_estimates *a, *b;

	for (uint64_t i = 0; i < 90; i++) {
		run(often, rising, i, i + 1, truth);
		read_off(often, HP_MUX_BEST);
	}
	run(once, rising, 0, 90, truth);
	a = read_off(often, HP_MUX_BEST);
	b = read_off(once, HP_MUX_BEST);
	for (int i = 0; i < EVENTS; i++) {
		ck_assert_double_eq(a->events[i].count, b->events[i].count);
		ck_assert_double_eq(a->events[i].high, b->events[i].high);
	}
}

TEST(intervals_of_a_time_series_add_up_on_constant_rates)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	double truth[EVENTS] = { 0 }, sum[EVENTS] = { 0 };

	/* Cuts fall anywhere in a round; some intervals are too short for all groups. */
	for (uint64_t i = 0; i < 100; i += 1 + i % 7) {
		uint64_t next = i + 1 + i % 7;
		struct hp_mux_estimates *estimates;

		run(estimator, constant, i, next < 100 ? next : 100, truth);
		estimates = read_off(estimator, HP_MUX_TRAPEZOID);
		for (int j = 0; j < EVENTS; j++) {
			/* In the first interval nothing is known yet of the last group. */
			if (!isnan(estimates->events[j].count))
				sum[j] += estimates->events[j].count;
		}
		hp_mux_estimator_cut(estimator, (next < 100 ? next : 100) * SLICE_NS);
	}
	for (int j = 0; j < EVENTS; j++) {
		double each = truth[j] / 100;

		ck_assert_double_ge(sum[j], 95 * each);
		ck_assert_double_le(sum[j], 100 * each * (1 + 1e-9));
	}
}

static double gauss(struct hp_random *random)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(hp_random_next(random) >> 11) * 0x1p-53;
	return sum;
}

struct coverage {
	unsigned held, judged;
	double squares, widths; /* of errors; of half the intervals */
};

/* Three events with first-order autoregressive rates and noise, for `slices` slices. */
static void cover(struct hp_random *random, double kept, double noise, enum hp_mux_policy policy,
		  struct coverage *coverage)
{
	const struct hp_mux_scheduler_options options = { policy, hp_random_next(random) };
	struct hp_mux_plan mine = plan;
	struct hp_mux_estimator *estimator;
	_cleanup_(hp_mux_scheduler_destroy_scope) struct hp_mux_scheduler *scheduler;
	double level[EVENTS], truth[EVENTS] = { 0 };
	struct hp_mux_estimates *estimates;

	mine.follows_rates = hp_mux_policy_follows_rates(policy);
	estimator = begun(&mine);
	hp_assert_ok(hp_mux_scheduler_create(&mine, &options, &scheduler));
	for (int j = 0; j < EVENTS; j++)
		level[j] = gauss(random);
	for (uint64_t i = 0; i < 600; i++) {
		uint32_t group = hp_mux_scheduler_next(scheduler);
		uint64_t counts[EVENTS];
		struct hp_mux_slice slice = slice_of(group, i, &counts[group]);

		for (int j = 0; j < EVENTS; j++) {
			level[j] = kept * level[j] + sqrt(1 - kept * kept) * gauss(random);
			counts[j] = (uint64_t)llround(
				fmax(10000 + 2000 * level[j] + noise * gauss(random), 0));
			truth[j] += (double)counts[j];
		}
		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
		hp_mux_scheduler_observe(scheduler, &slice);
	}
	estimates = read_off(estimator, HP_MUX_BEST);
	for (int j = 0; j < EVENTS; j++) {
		const struct hp_mux_estimate *event = &estimates->events[j];

		ck_assert_int_eq((int)event->verdict, (int)HP_MUX_ESTIMATED);
		coverage->judged++;
		coverage->squares += (event->count - truth[j]) * (event->count - truth[j]);
		coverage->widths += (event->high - event->low) / 2;
		coverage->held += event->low <= truth[j] && truth[j] <= event->high;
	}
}

/* Of 300 intervals that hold in 95 of 100 cases, 285 ± 3.8 hold. They may be wide, since memory
 * that few differences show is half believed, but are no more than twice what they need to be. */
TEST(intervals_hold_as_often_as_they_say_whatever_the_memory_of_the_rates)
{
	static const double kept[] = { 0, 0.3, 0.7, 0.9, 0.97, 0.995 };
	struct hp_random random = hp_random_seeded(2026);

	for (size_t i = 0; i < HP_ARRAY_COUNT(kept); i++) {
		for (int policy = 0; policy < HP_MUX_POLICY_COUNT; policy++) {
			struct coverage coverage = { .held = 0 };
			double error;

			if (policy == HP_MUX_ROC && i % 2)
				continue; /* takes time */
			for (int j = 0; j < 100; j++)
				cover(&random, kept[i], 200, (enum hp_mux_policy)policy, &coverage);
			error = sqrt(coverage.squares / coverage.judged);
			ck_assert_double_lt(coverage.widths / coverage.judged, 4 * error);
			ck_assert_msg(coverage.held >= 268, "%u of %u, memory %g, %s",
				      coverage.held, coverage.judged, kept[i],
				      hp_mux_policy_name((enum hp_mux_policy)policy));
		}
	}
}

/* An event that goes with the reference event, exactly: what the reference event does in the gaps
 * is known. */
TEST(best_knows_what_the_reference_did_in_the_gaps)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	struct hp_random random = hp_random_seeded(4);
	double truth = 0;
	struct hp_mux_estimates *estimates;
	double off[HP_MUX_METHOD_COUNT];

	for (uint64_t i = 0; i < 300; i++) {
		uint64_t count = hp_random_between(&random, 1000, 100000);
		struct hp_mux_slice slice = slice_of((uint32_t)(i % 3), i, &count);

		slice.reference = count * 3;
		truth += (double)count;
		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
	for (int m = 0; m < HP_MUX_METHOD_COUNT; m++) {
		estimates = read_off(estimator, (enum hp_mux_method)m);
		off[m] = fabs(estimates->events[0].count / truth - 1);
	}
	ck_assert_double_le(off[HP_MUX_BEST], 1e-9);
	ck_assert_double_le(off[HP_MUX_TRAPEZOID], 1e-9);
	ck_assert_double_ge(off[HP_MUX_SCALE], 1e-3);
}

TEST(rotations_are_gaps_and_are_measured)
{
	struct hp_mux_estimator *estimator = begun(&plan);
	struct hp_mux_estimates *estimates;

	/* 1 of 5 ns belongs to no slice; the rate is the same in it. */
	for (uint64_t i = 0; i < 30; i++) {
		const uint64_t count = 400;
		struct hp_mux_slice slice = {
			(uint32_t)(i % 3), i * 5000 + 1000, (i + 1) * 5000, 4000, 4000, 4000, &count
		};

		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
	estimates = read_off(estimator, HP_MUX_TRAPEZOID);
	ck_assert_double_eq_tol(estimates->between, 0.2, 1e-12);
	ck_assert_uint_eq(estimates->elapsed_ns, 150000);
	ck_assert_double_eq_tol(estimates->events[2].count, 15000, 1e-6);
}

TEST(events_of_one_group_share_their_errors)
{
	static const struct hp_mux_group pairs[2] = { { 2, 0 }, { 1, 0 } };
	const struct hp_mux_plan two = { pairs, 2, 0, false };
	struct hp_mux_estimator *estimator = begun(&two);
	struct hp_random random = hp_random_seeded(8);
	struct hp_mux_estimates *estimates;
	double a, b, both;

	for (uint64_t i = 0; i < 400; i++) {
		uint64_t first = hp_random_between(&random, 1000, 2000);
		uint64_t counts[2] = { first, 10 * first };
		struct hp_mux_slice slice = slice_of((uint32_t)(i % 2), i, counts);

		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
	}
	estimates = read_off(estimator, HP_MUX_BEST);
	a = hp_mux_covariance(estimates, 0, 0);
	b = hp_mux_covariance(estimates, 1, 1);
	both = hp_mux_covariance(estimates, 0, 1);
	ck_assert_double_eq_tol(b / a, 100, 1e-6);
	ck_assert_double_eq_tol(both / sqrt(a * b), 1, 1e-9);
	ck_assert_double_eq(hp_mux_covariance(estimates, 1, 2), 0);
}

/* From tables of the t distribution. */
TEST(the_quantile_is_students)
{
	static const struct {
		double freedom, t;
	} table[] = { { 1, 12.706 }, { 2, 4.303 },  { 3, 3.182 },  { 4, 2.776 },
		      { 5, 2.571 },  { 10, 2.228 }, { 30, 2.042 }, { 120, 1.980 } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++)
		ck_assert_double_eq_tol(hp_mux_quantile(table[i].freedom), table[i].t, 0.016);
	ck_assert_double_eq_tol(hp_mux_quantile(INFINITY), 1.95996, 1e-5);
}

HP_TEST_MAIN("mux/estimate")
