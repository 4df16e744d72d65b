/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates of what comes in bursts, by chance, or beside something else by coincidence. */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>

#include <math.h>

#define SLICE_NS 4000000u
#define GROUPS	 3 /* of one event */

static const struct hp_mux_group three[GROUPS] = { { 1, 0 }, { 1, 0 }, { 1, 0 } };
static const struct hp_mux_plan plan = { three, GROUPS, 0, false };
static const struct hp_mux_plan with_always = { three, GROUPS, 1, false };

static double unit(struct hp_random *random)
{
	return (double)(hp_random_next(random) >> 11) * 0x1p-53;
}

static struct hp_mux_estimator *begun(const struct hp_mux_plan *of)
{
	struct hp_mux_estimator *estimator;

	hp_assert_ok(hp_mux_estimator_create(of, 0, &estimator));
	return estimator;
}

/* `length_ns` of slice number `i` count; the target slept for the rest of it. */
static void add(struct hp_mux_estimator *estimator, uint32_t group, uint64_t i, uint64_t length_ns,
		const uint64_t *counts)
{
	const struct hp_mux_slice slice = { group,     i * SLICE_NS, (i + 1) * SLICE_NS,
					    length_ns, length_ns,    length_ns,
					    counts };

	hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
}

static struct hp_mux_estimate first_of(const struct hp_mux_estimator *estimator,
				       enum hp_mux_method method)
{
	struct hp_mux_estimates *estimates;
	struct hp_mux_estimate first;

	hp_assert_ok(hp_mux_estimates_create(estimator, method, 0, &estimates));
	first = estimates->events[0];
	hp_mux_estimates_destroy(estimates);
	return first;
}

/* A burst in one slice of eight, of exponential size: compound Poisson, with a long right tail. */
static uint64_t burst(struct hp_random *random)
{
	return unit(random) < 0.125 ? (uint64_t)(-1000 * log(1 - unit(random))) : 0;
}

struct coverage {
	unsigned judged, held;
};

static void cover(struct hp_random *random, enum hp_mux_policy policy, struct coverage *coverage)
{
	const struct hp_mux_scheduler_options options = { policy, hp_random_next(random) };
	_cleanup_(hp_mux_estimator_destroy_scope) struct hp_mux_estimator *estimator = begun(&plan);
	_cleanup_(hp_mux_scheduler_destroy_scope) struct hp_mux_scheduler *scheduler;
	struct hp_mux_estimate event;
	double truth = 0;

	hp_assert_ok(hp_mux_scheduler_create(&plan, &options, &scheduler));
	for (uint64_t i = 0; i < 600; i++) {
		uint64_t counts[GROUPS];
		uint32_t group = hp_mux_scheduler_next(scheduler);
		const struct hp_mux_slice slice = { group,	   i * SLICE_NS, (i + 1) * SLICE_NS,
						    SLICE_NS,	   SLICE_NS,	 SLICE_NS,
						    &counts[group] };

		for (int j = 0; j < GROUPS; j++)
			counts[j] = burst(random);
		truth += (double)counts[0];
		hp_assert_ok(hp_mux_estimator_add(estimator, &slice));
		hp_mux_scheduler_observe(scheduler, &slice);
	}
	event = first_of(estimator, HP_MUX_BEST);
	if (event.verdict == HP_MUX_ESTIMATED) {
		coverage->judged++;
		coverage->held += event.low <= truth && truth <= event.high;
	}
}

/* 95 of 100, with a standard deviation of 1.5 in 200: 90 to 99.5. */
TEST(intervals_hold_as_often_as_they_say_for_what_comes_in_bursts)
{
	static const enum hp_mux_policy policies[] = { HP_MUX_RR, HP_MUX_RR_RANDOM,
						       HP_MUX_ADAPTIVE };
	struct hp_random random = hp_random_seeded(11);

	for (size_t i = 0; i < HP_ARRAY_COUNT(policies); i++) {
		struct coverage coverage = { 0, 0 };

		for (int j = 0; j < 200; j++)
			cover(&random, policies[i], &coverage);
		ck_assert_uint_ge(coverage.judged, 190);
		ck_assert_msg(coverage.held >= 0.90 * coverage.judged &&
				      coverage.held <= 0.995 * coverage.judged,
			      "%u of %u, %s", coverage.held, coverage.judged,
			      hp_mux_policy_name(policies[i]));
	}
}

/* What is always counted comes in bursts, one of them with one of the event's; that one is no law.
 * Were it one, the other bursts would make the event four times what it is. */
TEST(one_burst_that_happens_beside_another_is_not_taken_for_knowledge)
{
	_cleanup_(hp_mux_estimator_destroy_scope) struct hp_mux_estimator *estimator =
		begun(&with_always);
	struct hp_random random = hp_random_seeded(5);
	struct hp_mux_estimate event;
	double truth = 0;

	for (uint64_t i = 0; i < 600; i++) {
		uint64_t counts[2] = { hp_random_between(&random, 900, 1100), 0 };

		if (i == 300)
			counts[0] += 100000;
		if (i == 300 || i % 30 == 1)
			counts[1] = 1000000;
		truth += (double)counts[0];
		add(estimator, (uint32_t)(i % GROUPS), i, SLICE_NS, counts);
	}
	event = first_of(estimator, HP_MUX_BEST);
	ck_assert_double_le(event.count, 1.5 * truth);
	ck_assert_double_ge(event.count, 0.6 * truth);
}

/* Rates that are noise, in slices of very different lengths: each ns says as much as any other, and
 * the gap that happens to be around a short one says nothing. */
TEST(where_rates_are_noise_all_that_was_counted_counts_alike)
{
	struct hp_random random = hp_random_seeded(8);
	double squares[HP_MUX_METHOD_COUNT] = { 0 };

	for (int run = 0; run < 80; run++) {
		struct hp_mux_estimator *estimator = begun(&plan);
		double truth = 0;

		for (uint64_t i = 0; i < 300; i++) {
			uint64_t length = (uint64_t)(SLICE_NS * (0.3 + 0.7 * unit(&random)));
			uint64_t count = 0;

			for (uint64_t ns = 0; ns < length; ns += SLICE_NS / 8)
				count += burst(&random);
			truth += (double)count;
			add(estimator, (uint32_t)hp_random_between(&random, 0, GROUPS - 1), i,
			    length, &count);
		}
		for (int m = 0; m < HP_MUX_METHOD_COUNT; m++) {
			double off = first_of(estimator, (enum hp_mux_method)m).count / truth - 1;

			squares[m] += off * off;
		}
		hp_mux_estimator_destroy(estimator);
	}
	ck_assert_double_lt(squares[HP_MUX_SCALE], 0.8 * squares[HP_MUX_TRAPEZOID]);
	ck_assert_double_lt(squares[HP_MUX_BEST], 0.9 * squares[HP_MUX_TRAPEZOID]);
}

/* One slice of ten has 200. That the slices of this interval and the last had none says little. */
TEST(an_interval_whose_slice_saw_no_burst_is_not_told_to_have_had_none)
{
	_cleanup_(hp_mux_estimator_destroy_scope) struct hp_mux_estimator *estimator = begun(&plan);
	struct hp_random random = hp_random_seeded(3);
	double estimated = 0, truth = 0;
	uint64_t seen = 0, seen_before = 0;

	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t count = unit(&random) < 0.1 ? 200 : 0;

		truth += (double)count;
		add(estimator, (uint32_t)(i % GROUPS), i, SLICE_NS, &count);
		if (i % GROUPS == 0) {
			seen_before = seen;
			seen = count;
		}
		if (i % GROUPS == GROUPS - 1) {
			struct hp_mux_estimate event = first_of(estimator, HP_MUX_BEST);

			estimated += event.count;
			if (i > 300 && seen + seen_before == 0)
				ck_assert_double_gt(event.count, 1);
			hp_mux_estimator_cut(estimator, (i + 1) * SLICE_NS);
		}
	}
	ck_assert_double_eq_tol(estimated / truth, 1, 0.2);
}

HP_TEST_MAIN("mux/bursts")
