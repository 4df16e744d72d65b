/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is put together of counts, and what is not. */
#include "../support.h"

#include <hpcprof/count/figures.h>

#include <math.h>
#include <string.h>

enum { MOST = 8 };

struct bench {
	struct hp_event events[MOST];
	struct hp_event_list list;
	uint32_t members[2][MOST];
	struct hp_counter_group groups[2];
	struct hp_rotation_set at[2];
	struct hp_rotation_sets rotation_sets;
	struct hp_mux_estimate estimates[MOST];
	double covariance[MOST * MOST];
	uint32_t group_of[MOST];
	struct hp_mux_estimates all;
	struct hp_figures *figures;
};

static void add_rotation_set(struct bench *bench, const char *pmu, bool software)
{
	size_t number = bench->rotation_sets.count++;

	bench->groups[number] = (struct hp_counter_group){ .events = bench->members[number] };
	bench->at[number] = (struct hp_rotation_set){
		.pmu = (char *)(uintptr_t)pmu,
		.software = software,
		.groups = &bench->groups[number],
		.group_count = 1,
		.reference_event = -1,
	};
	bench->rotation_sets.at = bench->at;
}

/* An exact count; with a deviation an estimate. */
static void add_event(struct bench *bench, size_t rotation_set, const char *name, bool user_only,
		      double count, double deviation)
{
	size_t number = bench->list.count++;

	bench->list.events = bench->events;
	bench->events[number] = (struct hp_event){
		.name = (char *)(uintptr_t)name,
		.exclude_kernel = user_only,
		.exclude_hypervisor = user_only,
	};
	bench->members[rotation_set][bench->groups[rotation_set].count++] = (uint32_t)number;
	bench->estimates[number] = (struct hp_mux_estimate){
		.count = count,
		.low = count - 2 * deviation,
		.high = count + 2 * deviation,
		.freedom = INFINITY,
		.running = deviation > 0 ? 0.5 : 1,
		.raw = (uint64_t)(deviation > 0 ? count / 2 : count),
		.slices = 100,
		.verdict = deviation > 0 ? HP_MUX_ESTIMATED : HP_MUX_EXACT,
	};
	bench->group_of[number] = deviation > 0 ? (uint32_t)number : UINT32_MAX;
	bench->covariance[number] = deviation * deviation;
}

static void put_together(struct bench *bench)
{
	size_t count = bench->list.count;
	double variances[MOST];

	memcpy(variances, bench->covariance, sizeof(variances));
	memset(bench->covariance, 0, sizeof(bench->covariance));
	for (size_t i = 0; i < count; i++)
		bench->covariance[i * count + i] = variances[i];
	bench->all = (struct hp_mux_estimates){
		.count = count,
		.events = bench->estimates,
		.covariance = bench->covariance,
		.groups = bench->group_of,
		.group_count = (uint32_t)count,
		.elapsed_ns = 1000000000,
	};
	hp_assert_ok(hp_figures_create(&bench->list, &bench->rotation_sets, &bench->all,
				       &bench->figures));
}

static const struct hp_figure *find(const struct bench *bench, const char *name, uint32_t event)
{
	for (size_t i = 0; i < bench->figures->figure_count; i++)
		if (!strcmp(bench->figures->figures[i].metric.name, name) &&
		    bench->figures->figures[i].event == event)
			return &bench->figures->figures[i];
	return NULL;
}

TEST(instructions_by_cycles_are_the_ipc)
{
	struct bench bench = { 0 };

	add_rotation_set(&bench, "cpu", false);
	add_event(&bench, 0, "cycles", false, 1000, 0);
	add_event(&bench, 0, "instructions", false, 2500, 0);
	put_together(&bench);
	ck_assert_ptr_nonnull(find(&bench, "IPC", 1));
	ck_assert_double_eq_tol(find(&bench, "IPC", 1)->metric.ratio.value, 2.5, 1e-9);
	hp_figures_destroy(bench.figures);
}

TEST(modes_are_not_mixed)
{
	struct bench bench = { 0 };

	add_rotation_set(&bench, "cpu", false);
	add_event(&bench, 0, "cycles", false, 1000, 0);
	add_event(&bench, 0, "instructions:u", true, 2500, 0);
	put_together(&bench);
	ck_assert_uint_eq(bench.figures->figure_count, 0);
	hp_figures_destroy(bench.figures);
}

TEST(each_kind_of_core_has_an_ipc_of_its_own)
{
	struct bench bench = { 0 };

	add_rotation_set(&bench, "cpu_atom", false);
	add_rotation_set(&bench, "cpu_core", false);
	add_event(&bench, 0, "cpu_atom/cycles/", false, 1000, 0);
	add_event(&bench, 1, "cpu_core/cycles/", false, 1000, 0);
	add_event(&bench, 0, "cpu_atom/instructions/", false, 1000, 0);
	add_event(&bench, 1, "cpu_core/instructions/", false, 4000, 0);
	put_together(&bench);
	ck_assert_double_eq_tol(find(&bench, "IPC", 2)->metric.ratio.value, 1, 1e-9);
	ck_assert_double_eq_tol(find(&bench, "IPC", 3)->metric.ratio.value, 4, 1e-9);
	hp_figures_destroy(bench.figures);
}

TEST(user_cycles_and_a_clock_that_runs_in_the_kernel_are_no_frequency)
{
	struct bench bench = { 0 };
	struct bench both = { 0 };

	add_rotation_set(&bench, "cpu", false);
	add_rotation_set(&bench, "software", true);
	add_event(&bench, 0, "cycles:u", true, 1e9, 0);
	add_event(&bench, 1, "task-clock:u", true, 1e9, 0);
	put_together(&bench);
	for (size_t i = 0; i < bench.figures->figure_count; i++)
		ck_assert_str_ne(bench.figures->figures[i].metric.unit, "GHz");
	hp_figures_destroy(bench.figures);
	add_rotation_set(&both, "cpu", false);
	add_rotation_set(&both, "software", true);
	add_event(&both, 0, "cycles", false, 3e9, 0);
	add_event(&both, 1, "task-clock", false, 1e9, 0);
	put_together(&both);
	ck_assert_double_eq_tol(find(&both, "clock", 0)->metric.ratio.value, 3, 1e-9);
	hp_figures_destroy(both.figures);
}

TEST(what_must_be_true_makes_counts_better_known)
{
	struct bench bench = { 0 };

	add_rotation_set(&bench, "software", true);
	add_event(&bench, 0, "page-faults", false, 1050, 40);
	add_event(&bench, 0, "minor-faults", false, 980, 40);
	add_event(&bench, 0, "major-faults", false, 10, 0);
	put_together(&bench);
	ck_assert(bench.figures->is_adjusted[0]);
	ck_assert_double_lt(bench.figures->width_change[0], 0.8);
	/* As much variance in either: they meet in the middle. */
	ck_assert_double_eq_tol(bench.figures->adjusted[0].count, 1020, 0.5);
	ck_assert_double_eq_tol(bench.figures->adjusted[1].count, 1010, 0.5);
	ck_assert(!bench.figures->is_adjusted[2]);
	hp_figures_destroy(bench.figures);
}

TEST(what_was_not_counted_is_put_together_with_nothing)
{
	struct bench bench = { 0 };

	add_rotation_set(&bench, "cpu", false);
	add_event(&bench, 0, "cycles", false, 1000, 0);
	add_event(&bench, 0, "instructions", false, NAN, 0);
	bench.estimates[1].verdict = HP_MUX_NOT_COUNTED;
	bench.estimates[1].raw = 0;
	put_together(&bench);
	for (size_t i = 0; i < bench.figures->figure_count; i++)
		ck_assert_int_eq(bench.figures->figures[i].metric.ratio.verdict,
				 HP_MUX_NOT_COUNTED);
	hp_figures_destroy(bench.figures);
}

HP_TEST_MAIN("count/figures")
