/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of predictions that are known. */
#include "../support.h"

#include <hpcprof/analyze/cpi_stack.h>

#include <math.h>

/* 100 cycles: 20 of width, 10 of operands, 40 mispredicted, 30 of data from afar, of which 10 are
 * hidden by the others where both happen. */
static struct hp_prediction prediction(void)
{
	struct hp_prediction made = { .instructions = 80, .measured = 100 };

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		made.predicted[lane] = 100;
	made.predicted[HP_LANE_WIDTH] = 20;
	made.predicted[HP_LANE_IDEAL] = 30;
	made.predicted[HP_LANE_NO_MISPREDICT] = 60;
	made.predicted[HP_LANE_ONLY_MISPREDICT] = 70;
	made.predicted[HP_LANE_NO_FAR] = made.predicted[HP_LANE_NO_DCACHE] = 80;
	made.predicted[HP_LANE_ONLY_DCACHE] = 70;
	for (unsigned lane = HP_LANE_ONLY_CODE; lane < HP_LANES; lane++)
		if (lane != HP_LANE_ONLY_DCACHE)
			made.predicted[lane] = 30;
	return made;
}

static double sum_of(const struct hp_cpi_stack *stack)
{
	double sum = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		sum += stack->parts[i].likely;
	return sum;
}

static void ck_holds(const struct hp_cpi_stack *stack)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		ck_assert_double_le(stack->parts[i].low, stack->parts[i].likely + 1e-9);
		ck_assert_double_ge(stack->parts[i].high, stack->parts[i].likely - 1e-9);
	}
}

TEST(components_add_up_and_hold_both_orders)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack = hp_cpi_of(&made, true);

	ck_assert_double_eq_tol(sum_of(&stack), 1, 1e-9);
	ck_holds(&stack);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_WIDTH].likely, 0.2, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_DEPENDENCY].likely, 0.1, 1e-9);
	/* 40 of 70 by either order; far data 20 taken away, 40 added. */
	ck_assert_double_eq_tol(stack.parts[HP_CPI_MISPREDICT].likely, 0.4, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_FAR].likely, 0.3, 1e-9);
	ck_assert_double_le(stack.parts[HP_CPI_FAR].low, 0.2);
	ck_assert_double_ge(stack.parts[HP_CPI_FAR].high, 0.4);
	ck_assert_double_eq_tol(stack.cpi, 1.25, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_UNEXPLAINED].likely, 0, 1e-9);
}

TEST(what_is_measured_and_not_predicted_is_a_part_of_its_own)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;

	made.measured = 200;
	stack = hp_cpi_of(&made, false);
	ck_assert_double_eq_tol(sum_of(&stack), 1, 1e-9);
	ck_holds(&stack);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_UNEXPLAINED].likely, 0.5, 1e-9);
	ck_assert(isnan(stack.cpi));
	ck_assert(isnan(stack.predicted));
	made.measured = 80;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_eq_tol(sum_of(&stack), 1, 1e-9);
	ck_holds(&stack);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_UNEXPLAINED].likely, 0, 1e-9);
	ck_assert_double_eq_tol(stack.excess, 0.25, 1e-9);
	ck_assert_double_lt(stack.parts[HP_CPI_UNEXPLAINED].low, -0.25);
}

/* Misses are less certain than that instructions need their slots. */
TEST(what_was_predicted_in_excess_is_taken_off_where_it_is_most_in_doubt)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;
	struct hp_cpi_sum sum = { 0 };
	double events;

	made.measured = 50;
	stack = hp_cpi_of(&made, true);
	ck_holds(&stack);
	ck_assert_double_eq_tol(sum_of(&stack), 1, 1e-9);
	ck_assert_double_eq_tol(stack.excess, 1, 1e-9);
	events = stack.parts[HP_CPI_MISPREDICT].likely + stack.parts[HP_CPI_FAR].likely;
	/* 30 of base and 70 of events were predicted. */
	ck_assert_double_gt(1 - events, 0.5);
	ck_assert_double_lt(1 - events, 0.6);
	/* What another procedure lacks is no excess of both. */
	hp_cpi_add_stack(&sum, &stack);
	made.measured = 200;
	stack = hp_cpi_of(&made, true);
	hp_cpi_add_stack(&sum, &stack);
	stack = hp_cpi_of_sum(&sum);
	ck_assert_double_eq(stack.excess, 0);
}

/* Where most of the time is of one component, the rest says more of it than its own penalty does. */
TEST(ranges_are_limited_by_elimination)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;

	for (unsigned lane = 0; lane < HP_LANE_IDEAL; lane++)
		made.predicted[lane] = lane == HP_LANE_WIDTH ? 20 : 1000;
	made.predicted[HP_LANE_NO_FAR] = made.predicted[HP_LANE_NO_DCACHE] = 30;
	made.predicted[HP_LANE_ONLY_DCACHE] = 1000;
	made.predicted[HP_LANE_ONLY_MISPREDICT] = made.predicted[HP_LANE_IDEAL];
	made.measured = 1000;
	made.error = 0.3;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_gt(stack.parts[HP_CPI_FAR].likely, 0.9);
	ck_assert_double_gt(stack.parts[HP_CPI_FAR].low, 0.85);
	/* The core may have executed only half as much as was predicted, or more. */
	made.predicted[HP_LANE_NO_FAR] = made.predicted[HP_LANE_NO_DCACHE] = 200;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_gt(stack.parts[HP_CPI_FAR].low, 0.7);
	made.low = 500;
	made.high = 2000;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_lt(stack.parts[HP_CPI_FAR].low, 0.6);
}

/* As much ran as windows counted, and no core is faster than its width allows. */
TEST(components_leave_the_rest_what_the_width_needs)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;

	made.measured = 200;
	made.most_far = INFINITY;
	made.error = 0.9;
	made.predicted[HP_LANE_WIDTH] = 30;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_gt(stack.parts[HP_CPI_FAR].high, 0.87);
	made.low = 90;
	made.high = 110;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_FAR].high, 1 - 0.9 * 30 / 200, 1e-9);
	/* The base is not the rest of itself. */
	made.most[HP_CAUSE_ISSUE_WIDTH] = INFINITY;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_gt(stack.parts[HP_CPI_WIDTH].high, 0.7);
}

TEST(what_one_access_has_at_once_is_known_better_together)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;
	const struct hp_cpi_part *data;
	double low = 0, high = 0;

	ck_assert_uint_eq(hp_cpi_members(HP_CPI_GROUPS), 0);
	made.measured = 150;
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		made.most[kind] = INFINITY;
	made.most_far = INFINITY;
	made.predicted[HP_LANE_NO_DCACHE] = 70;
	stack = hp_cpi_of(&made, true);
	data = &stack.groups[HP_CPI_OF_DATA];
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		if (!(hp_cpi_members(HP_CPI_OF_DATA) >> i & 1))
			continue;
		low += stack.parts[i].low;
		high += stack.parts[i].high;
	}
	ck_assert_double_ge(data->low, low - 1e-9);
	/* What was not predicted is counted once. */
	ck_assert_double_le(data->high, high - 2.0 / 3 + 1e-9);
	ck_assert_double_ge(data->high, data->likely);
}

/* Nobody knows why it took so long; but not for what did not happen, or not as often. */
TEST(what_was_not_predicted_may_be_of_events_as_far_as_they_were_counted)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;

	made.measured = 200;
	made.most[HP_CAUSE_MISPREDICT] = made.most[HP_CAUSE_ISSUE_WIDTH] = INFINITY;
	made.most_far = 90;
	stack = hp_cpi_of(&made, true);
	ck_holds(&stack);
	ck_assert_double_ge(stack.parts[HP_CPI_WIDTH].high, 0.6);
	ck_assert_double_ge(stack.parts[HP_CPI_MISPREDICT].high, 0.7);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_FAR].high, 0.45, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_DTLB].high, 0, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_DIVIDER].high, 0, 1e-9);
	/* But never less than the timing says. */
	made.most[HP_CAUSE_MISPREDICT] = 0;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_ge(stack.parts[HP_CPI_MISPREDICT].high, 0.23 - 1e-9);
	ck_assert_double_le(stack.parts[HP_CPI_MISPREDICT].high, 0.25);
}

TEST(lines_of_unknown_place_are_where_the_time_puts_them)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;

	made.predicted[HP_LANE_MEMORY] = 300;
	made.measured = 200;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_UNEXPLAINED].likely, 0, 1e-9);
	ck_assert_double_gt(stack.parts[HP_CPI_FAR].likely, 0.5);
	ck_assert_double_eq_tol(sum_of(&stack), 1, 1e-9);
	ck_holds(&stack);
}

/* On an ideal core more of the program's time is there. */
TEST(no_component_is_more_than_was_predicted)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack stack;

	made.predicted[HP_LANE_WIDTH] = made.predicted[HP_LANE_IDEAL] = 300;
	stack = hp_cpi_of(&made, true);
	ck_assert_double_eq_tol(sum_of(&stack), 1, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_WIDTH].likely, 1, 1e-9);
	ck_assert_double_le(stack.parts[HP_CPI_WIDTH].high, 1);
	ck_holds(&stack);
}

TEST(a_sum_is_weighted_by_cycles)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack one = hp_cpi_of(&made, true), all;
	struct hp_cpi_sum sum = { 0 };

	hp_cpi_add_stack(&sum, &one);
	one.parts[HP_CPI_WIDTH].likely = 0.6;
	one.cycles = 300;
	hp_cpi_add_stack(&sum, &one);
	all = hp_cpi_of_sum(&sum);
	ck_assert_double_eq_tol(all.parts[HP_CPI_WIDTH].likely, 0.5, 1e-9);
	ck_assert_double_eq_tol(all.parts[HP_CPI_MISPREDICT].likely, 0.4, 1e-9);
	ck_assert_double_eq_tol(all.cycles, 400, 1e-9);
	/* What both may be off by, they are not at once. */
	ck_assert_double_gt(all.parts[HP_CPI_FAR].low, one.parts[HP_CPI_FAR].low);
	ck_assert_double_lt(all.parts[HP_CPI_FAR].high, one.parts[HP_CPI_FAR].high);
}

/* In moments that no window saw all procedures may have waited for the same. */
TEST(what_no_window_saw_is_alike_in_all_that_is_summed)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_sum sum = { 0 };
	struct hp_cpi_stack one, all;

	made.apart = made.measured;
	one = hp_cpi_of(&made, true);
	hp_cpi_add_stack(&sum, &one);
	hp_cpi_add_stack(&sum, &one);
	all = hp_cpi_of_sum(&sum);
	ck_assert_double_eq_tol(all.parts[HP_CPI_FAR].low, one.parts[HP_CPI_FAR].low, 1e-9);
	ck_assert_double_eq_tol(all.parts[HP_CPI_FAR].high, one.parts[HP_CPI_FAR].high, 1e-9);
}

TEST(relative_predictions_are_scaled_to_what_was_measured)
{
	struct hp_analysis analysis = { .prediction = prediction() };
	struct hp_prediction sum = { 0 };

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		analysis.prediction.predicted[lane] /= 50;
	hp_cpi_add(&sum, &analysis, &analysis.prediction);
	ck_assert_double_eq_tol(sum.predicted[HP_LANE_AS_IS], 100, 1e-9);
	analysis = (struct hp_analysis){ .is_absolute = true, .prediction = prediction() };
	analysis.prediction.low = 80;
	analysis.prediction.high = 120;
	ck_assert(hp_cpi_is_absolute(&analysis));
	hp_cpi_add(&sum, &analysis, &analysis.prediction);
	ck_assert_double_eq_tol(sum.predicted[HP_LANE_AS_IS], 200, 1e-9);
	ck_assert_double_eq_tol(sum.measured, 200, 1e-9);
}

TEST(executions_that_are_hardly_known_or_cannot_be_tell_shares_only)
{
	struct hp_analysis analysis = { .is_absolute = true, .prediction = prediction() };
	struct hp_prediction sum = { 0 };

	analysis.prediction.low = 30;
	analysis.prediction.high = 200;
	ck_assert(!hp_cpi_is_absolute(&analysis));
	analysis.prediction.low = 90;
	analysis.prediction.high = 110;
	/* No core is as fast. */
	analysis.prediction.measured = 15;
	ck_assert(!hp_cpi_is_absolute(&analysis));
	hp_cpi_add(&sum, &analysis, &analysis.prediction);
	ck_assert_double_eq_tol(sum.predicted[HP_LANE_AS_IS], 15, 1e-9);
	ck_assert_double_eq_tol(hp_cpi_of(&sum, false).parts[HP_CPI_WIDTH].likely, 0.2, 1e-9);
}

TEST(a_path_has_not_run_more_often_than_it_can_have)
{
	struct hp_analysis analysis = { .is_absolute = true, .prediction = prediction() };
	struct hp_cpi_stack stack;

	analysis.prediction.low = 30;
	analysis.prediction.high = 200;
	analysis.prediction.measured = 400;
	stack = hp_cpi_of_analysis(&analysis);
	ck_holds(&stack);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_UNEXPLAINED].likely, 0.5, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_WIDTH].likely, 0.1, 1e-9);
	analysis.is_absolute = false;
	stack = hp_cpi_of_analysis(&analysis);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_UNEXPLAINED].likely, 0, 1e-9);
}

HP_TEST_MAIN("report/stack")
