/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/mux/metric.h>
#include <hpcprof/mux/reconcile.h>

#include <math.h>
#include <string.h>

#define MAX_EVENTS 8

/* Estimates made by hand. */
struct made {
	struct hp_mux_estimates all;
	struct hp_mux_estimate events[MAX_EVENTS];
	double covariance[MAX_EVENTS * MAX_EVENTS];
	uint32_t groups[MAX_EVENTS];
};

static void set(struct made *made, size_t event, double count, double deviation)
{
	double factor = exp(1.959963984540054 * deviation / count);

	made->events[event] = (struct hp_mux_estimate){
		.count = count,
		.low = count / factor,
		.high = count * factor,
		.freedom = INFINITY,
		.running = 0.5,
		.slices = 100,
		.verdict = deviation > 0 ? HP_MUX_ESTIMATED : HP_MUX_EXACT,
	};
	made->covariance[event * made->all.count + event] = deviation * deviation;
}

/* Of each event the count and its standard deviation. */
static void make_all(struct made *made, const double (*counts)[2], size_t count)
{
	memset(made, 0, sizeof(*made));
	made->all = (struct hp_mux_estimates){ .count = count,
					       .events = made->events,
					       .covariance = made->covariance,
					       .groups = made->groups,
					       .group_count = (uint32_t)count,
					       .elapsed_ns = 1000000000 };
	for (size_t i = 0; i < count; i++) {
		made->groups[i] = (uint32_t)i;
		set(made, i, counts[i][0], counts[i][1]);
	}
}
#define make(made, ...)                                                                            \
	make_all(made, (const double[][2]){ __VA_ARGS__ },                                         \
		 HP_ARRAY_COUNT(((const double[][2]){ __VA_ARGS__ })))

static void together(struct made *made, size_t a, size_t b, double correlation)
{
	size_t n = made->all.count;
	double both = correlation * sqrt(made->covariance[a * n + a] * made->covariance[b * n + b]);

	made->covariance[a * n + b] = made->covariance[b * n + a] = both;
	made->groups[b] = made->groups[a];
}

static void destroy(void *result)
{
	hp_mux_reconciliation_destroy(result);
}

static struct hp_mux_reconciliation *reconcile(const struct made *made,
					       const struct hp_mux_invariant *invariants,
					       size_t count)
{
	struct hp_mux_reconciliation *result;

	hp_assert_ok(hp_mux_reconcile(&made->all, invariants, count, &result));
	at_end(destroy, result);
	return result;
}

static const struct hp_mux_term sum_terms[3] = { { 0, 1 }, { 1, 1 }, { 2, -1 } };
static const struct hp_mux_invariant sum_of_parts = { "hits + misses = accesses", HP_MUX_EQUAL,
						      sum_terms, 3 };
static const struct hp_mux_term at_most_terms[2] = { { 0, 1 }, { 1, -1 } };
static const struct hp_mux_invariant at_most = { "misses <= accesses", HP_MUX_AT_MOST,
						 at_most_terms, 2 };

/* By hand: excess 30, variances 100, 400, 400 of 900: each moves by its share of the excess, and
 * loses variance^2 / 900. */
TEST(an_equality_spreads_its_excess_as_the_variances_are)
{
	struct made made;
	struct hp_mux_reconciliation *result;

	make(&made, { 5000, 10 }, { 3000, 20 }, { 7970, 20 });
	result = reconcile(&made, &sum_of_parts, 1);
	ck_assert_int_eq((int)result->findings[0].kind, (int)HP_MUX_BINDING);
	ck_assert_double_eq_tol(result->findings[0].excess, 30, 1e-9);
	ck_assert_double_eq_tol(result->findings[0].z, 1, 1e-12);
	ck_assert_double_eq_tol(result->adjusted->events[0].count, 5000 - 30.0 / 9, 1e-9);
	ck_assert_double_eq_tol(result->adjusted->events[1].count, 3000 - 30.0 * 4 / 9, 1e-9);
	ck_assert_double_eq_tol(result->adjusted->events[2].count, 7970 + 30.0 * 4 / 9, 1e-9);
	ck_assert_double_eq_tol(result->width_change[0], sqrt(8.0 / 9), 1e-12);
	ck_assert_double_eq_tol(result->width_change[1], sqrt(5.0 / 9), 1e-12);
}

TEST(an_exact_count_does_not_move_and_pins_the_others)
{
	struct made made;
	struct hp_mux_reconciliation *result;

	make(&made, { 5000, 10 }, { 2990, 0 }, { 8000, 0 });
	result = reconcile(&made, &sum_of_parts, 1);
	ck_assert_double_eq_tol(result->adjusted->events[0].count, 5010, 1e-9);
	ck_assert_double_eq(result->adjusted->events[1].count, 2990);
	ck_assert_double_eq(result->adjusted->events[2].count, 8000);
	ck_assert_double_eq_tol(result->width_change[0], 0, 1e-6);
}

TEST(nothing_changes_where_nothing_binds)
{
	struct made made;
	struct hp_mux_reconciliation *result;

	make(&made, { 500, 10 }, { 3000, 20 }, { 8000, 20 });
	result = reconcile(&made, &at_most, 1);
	ck_assert_int_eq((int)result->findings[0].kind, (int)HP_MUX_SATISFIED);
	for (int i = 0; i < 3; i++) {
		ck_assert_double_eq(result->adjusted->events[i].count, made.events[i].count);
		ck_assert_double_eq(result->width_change[i], 1);
	}
	result = reconcile(&made, NULL, 0);
	ck_assert_double_eq(result->adjusted->events[0].low, made.events[0].low);
}

TEST(an_inequality_moves_counts_to_its_edge_and_narrows_nothing)
{
	struct made made;
	struct hp_mux_reconciliation *result;

	make(&made, { 1030, 10 }, { 1000, 20 });
	result = reconcile(&made, &at_most, 1);
	ck_assert_int_eq((int)result->findings[0].kind, (int)HP_MUX_BINDING);
	/* 30 apart, variances 1 : 4. */
	ck_assert_double_eq_tol(result->adjusted->events[0].count, 1024, 1e-6);
	ck_assert_double_eq_tol(result->adjusted->events[1].count, 1024, 1e-6);
	ck_assert_double_eq(result->width_change[0], 1);
	ck_assert_double_eq(result->width_change[1], 1);
}

TEST(a_contradicted_invariant_is_reported_with_its_z_and_not_used)
{
	struct made made;
	struct hp_mux_reconciliation *result;

	make(&made, { 1100, 6 }, { 1000, 8 });
	result = reconcile(&made, &at_most, 1);
	ck_assert_int_eq((int)result->findings[0].kind, (int)HP_MUX_VIOLATED);
	ck_assert_double_eq_tol(result->findings[0].z, 10, 1e-9);
	ck_assert_double_eq(result->adjusted->events[0].count, 1100);
	set(&made, 0, 1001, 0);
	set(&made, 1, 1000, 0);
	result = reconcile(&made, &at_most, 1);
	ck_assert_int_eq((int)result->findings[0].kind, (int)HP_MUX_VIOLATED);
	ck_assert(isinf(result->findings[0].z));
}

TEST(an_event_without_interval_leaves_its_invariants_undecided)
{
	struct made made;
	struct hp_mux_reconciliation *result;

	make(&made, { 2000, 10 }, { 1000, 20 });
	made.events[1].verdict = HP_MUX_INSUFFICIENT;
	result = reconcile(&made, &at_most, 1);
	ck_assert_int_eq((int)result->findings[0].kind, (int)HP_MUX_UNDECIDED);
	ck_assert_double_eq(result->adjusted->events[0].count, 2000);
}

TEST(a_term_that_names_no_event_or_one_twice_is_refused)
{
	const struct hp_mux_term beyond[2] = { { 0, 1 }, { 2, -1 } },
				 twice[2] = { { 1, 1 }, { 1, 1 } };
	const struct hp_mux_term endless[1] = { { 0, INFINITY } };
	const struct hp_mux_invariant bad[3] = { { "beyond", HP_MUX_EQUAL, beyond, 2 },
						 { "twice", HP_MUX_EQUAL, twice, 2 },
						 { "endless", HP_MUX_EQUAL, endless, 1 } };
	struct hp_mux_reconciliation *result;
	struct made made;

	make(&made, { 2000, 10 }, { 1000, 20 });
	for (int i = 0; i < 3; i++)
		hp_assert_fails(HP_ERROR_USAGE, hp_mux_reconcile(&made.all, &bad[i], 1, &result));
}

static double sum(const struct hp_mux_invariant *invariant, const struct hp_mux_estimates *of)
{
	double total = 0;

	for (size_t i = 0; i < invariant->term_count; i++)
		total += invariant->terms[i].coefficient *
			 of->events[invariant->terms[i].event].count;
	return total;
}

/* Truths that keep three invariants, estimates that are off: adjusted counts keep them all, nothing
 * is wider, nothing is below what was counted, and on the average they are nearer to the truth. */
TEST(adjusted_counts_keep_every_invariant_that_was_used_and_are_never_wider)
{
	static const struct hp_mux_term parts[3] = { { 0, 1 }, { 1, 1 }, { 2, -1 } };
	static const struct hp_mux_term some[3] = { { 2, 1 }, { 3, 1 }, { 4, -1 } };
	static const struct hp_mux_term less[2] = { { 1, 1 }, { 3, -1 } };
	const struct hp_mux_invariant invariants[3] = { { "parts", HP_MUX_EQUAL, parts, 3 },
							{ "some", HP_MUX_AT_MOST, some, 3 },
							{ "less", HP_MUX_AT_MOST, less, 2 } };
	struct hp_random random = hp_random_seeded(77);
	double before = 0, after = 0;

	for (int round = 0; round < 2000; round++) {
		double truth[5];
		struct made made;
		struct hp_mux_reconciliation *result;

		truth[0] = (double)hp_random_between(&random, 1000, 9000);
		truth[1] = (double)hp_random_between(&random, 1000, 3000);
		truth[2] = truth[0] + truth[1];
		truth[3] = truth[1] + (double)hp_random_between(&random, 0, 200);
		truth[4] = truth[2] + truth[3] + (double)hp_random_between(&random, 0, 200);
		make(&made, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 });
		for (size_t i = 0; i < 5; i++) {
			double deviation = (double)hp_random_between(&random, 0, 300);
			double error = 0;

			for (int j = 0; j < 12; j++)
				error += (double)hp_random_between(&random, 0, 1000) / 1000 - 0.5;
			set(&made, i, truth[i] + error * deviation, deviation);
			made.events[i].raw = (uint64_t)(made.events[i].count / 2);
		}
		together(&made, 0, 1, 0.8);
		together(&made, 2, 3, -0.5);
		result = reconcile(&made, invariants, 3);
		for (int k = 0; k < 3; k++) {
			double left = sum(&invariants[k], result->adjusted);

			if (result->findings[k].kind > HP_MUX_BINDING)
				continue;
			ck_assert_double_le(left, 1e-4);
			if (invariants[k].relation == HP_MUX_EQUAL)
				ck_assert_double_ge(left, -1e-4);
		}
		for (size_t i = 0; i < 5; i++) {
			const struct hp_mux_estimate *event = &result->adjusted->events[i];
			double deviation = sqrt(hp_mux_covariance(&made.all, i, i));

			ck_assert_double_le(result->width_change[i], 1);
			ck_assert_double_ge(event->count, (double)event->raw - 1e-4);
			if (deviation > 0) {
				before += pow((made.events[i].count - truth[i]) / deviation, 2);
				after += pow((event->count - truth[i]) / deviation, 2);
			}
		}
	}
	ck_assert_double_lt(after, 0.9 * before);
}

static const struct hp_mux_term first = { 0, 1 }, second = { 1, 1 };

/* Of different groups nothing is known, and the worst is not assumed: variances add up. */
TEST(a_sum_over_groups_has_the_variances_of_its_terms)
{
	const struct hp_mux_term terms[] = { { 0, 2 }, { 1, -1 } };
	struct made made;

	make(&made, { 1000, 30 }, { 2000, 80 });
	ck_assert_double_eq_tol(hp_mux_sum_variance(&made.all, terms, 2), 3600 + 6400, 1e-9);
	together(&made, 0, 1, 0.5);
	ck_assert_double_eq_tol(hp_mux_sum_variance(&made.all, terms, 2), 3600 + 6400 - 4800, 1e-9);
}

TEST(a_ratio_of_counts_that_err_together_is_known_better)
{
	struct made made;
	struct hp_mux_ratio apart, same;

	make(&made, { 1000, 50 }, { 2000, 100 });
	apart = hp_mux_ratio_of(&made.all, &first, 1, &second, 1, 0, 1);
	together(&made, 0, 1, 0.99);
	same = hp_mux_ratio_of(&made.all, &first, 1, &second, 1, 0, 1);
	ck_assert_double_eq(apart.value, 0.5);
	ck_assert_double_eq(same.value, 0.5);
	ck_assert(apart.low < same.low && same.high < apart.high);
	ck_assert_double_lt(same.high - same.low, 0.2 * (apart.high - apart.low));
}

/* Errors drawn as they are said to be: the interval holds in 95 of 100 cases. */
TEST(the_interval_of_a_ratio_holds_as_often_as_it_says)
{
	struct hp_random random = hp_random_seeded(31);
	unsigned held = 0, rounds = 4000;

	for (unsigned i = 0; i < rounds; i++) {
		double a = -6, b = -6;
		struct hp_mux_ratio ratio;
		struct made made;

		for (int j = 0; j < 12; j++) {
			a += (double)(hp_random_next(&random) >> 11) * 0x1p-53;
			b += (double)(hp_random_next(&random) >> 11) * 0x1p-53;
		}
		make(&made, { 1000 + 100 * a, 100 }, { 2000 + 200 * (0.6 * a + 0.8 * b), 200 });
		together(&made, 0, 1, 0.6);
		ratio = hp_mux_ratio_of(&made.all, &first, 1, &second, 1, 0, 1);
		held += ratio.low <= 0.5 && 0.5 <= ratio.high;
	}
	/* 3800 ± 14 */
	ck_assert_uint_ge(held, 3740);
	ck_assert_uint_le(held, 3860);
}

TEST(a_ratio_by_what_may_be_zero_is_insufficient)
{
	struct made made;
	struct hp_mux_ratio ratio;

	make(&made, { 1000, 10 }, { 2000, 1100 });
	ratio = hp_mux_ratio_of(&made.all, &first, 1, &second, 1, 0, 1);
	ck_assert_int_eq((int)ratio.verdict, (int)HP_MUX_INSUFFICIENT);
	ck_assert(isnan(ratio.low));
	set(&made, 1, 0, 0);
	ratio = hp_mux_ratio_of(&made.all, &first, 1, &second, 1, 0, 1);
	ck_assert(isnan(ratio.value));
}

TEST(a_ratio_to_known_time_has_the_counts_own_interval)
{
	struct made made;
	struct hp_mux_ratio ratio;

	make(&made, { 3000, 100 });
	ratio = hp_mux_ratio_of(&made.all, &first, 1, NULL, 0, 1000, 2);
	ck_assert_double_eq_tol(ratio.value, 6, 1e-12);
	ck_assert_double_eq_tol(ratio.low, made.events[0].low / 500, 1e-9);
	ck_assert_double_eq_tol(ratio.high, made.events[0].high / 500, 1e-9);
}

TEST(events_allow_the_figures_and_invariants_of_which_all_parts_are_there)
{
	uint32_t events[HP_MUX_ROLE_COUNT];
	_cleanup_free_ struct hp_mux_invariant *invariants;
	struct hp_mux_metric metrics[8];
	struct made made;
	size_t count;

	for (int i = 0; i < HP_MUX_ROLE_COUNT; i++)
		events[i] = HP_MUX_NO_EVENT;
	make(&made, { 4000, 0 }, { 2000, 10 }, { 500, 10 }, { 20, 1 });
	events[hp_mux_role_of("cpu-cycles")] = 0;
	events[hp_mux_role_of("instructions")] = 1;
	events[hp_mux_role_of("branch-instructions")] = 2;
	events[hp_mux_role_of("branch-misses")] = 3;
	ck_assert_int_eq((int)hp_mux_role_of("no-such-event"), (int)HP_MUX_ROLE_NONE);
	count = hp_mux_metrics(&made.all, events, metrics, 8);
	ck_assert_uint_eq(count, 4);
	ck_assert_str_eq(metrics[0].name, "CPI");
	ck_assert_double_eq_tol(metrics[0].ratio.value, 2, 1e-12);
	ck_assert_str_eq(metrics[1].name, "IPC");
	ck_assert_double_eq_tol(metrics[1].ratio.value, 0.5, 1e-12);
	ck_assert_str_eq(metrics[2].name, "branch-miss rate");
	ck_assert_double_eq_tol(metrics[2].ratio.value, 4, 1e-12);
	ck_assert_str_eq(metrics[3].name, "branch MPKI");
	ck_assert_double_eq_tol(metrics[3].ratio.value, 10, 1e-12);
	hp_assert_ok(hp_mux_invariants_create(events, &invariants, &count));
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(invariants[0].text, "branch-misses <= branches");
	ck_assert_str_eq(invariants[1].text, "branches <= instructions");
}

HP_TEST_MAIN("mux/reconcile")
