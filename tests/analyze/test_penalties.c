/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Penalties, fitted to parts of windows that took what is known. */
#include "../support.h"

#include <hpcprof/analyze/penalties.h>
#include <hpcprof/base/number.h>

#include <string.h>

enum { WINDOWS = 4, PARTS = 4, COUNT = WINDOWS * PARTS };

static struct hp_timed_part parts[COUNT];

/* Parts of a program whose core takes `factors` times what the table says, and all `chance` more or less. */
static void take(const double factors[HP_PENALTIES], double chance)
{
	struct hp_random random = hp_random_seeded(5);

	for (size_t i = 0; i < COUNT; i++) {
		double *of = parts[i].of;

		parts[i] = (struct hp_timed_part){ .window = i / PARTS };
		of[HP_PENALTY_BASE] = 2e7;
		of[HP_PENALTY_MISPREDICT] = 1e6 * (double)(1 + i % 5);
		of[HP_PENALTY_L2] = 1e6 * (double)(1 + i % 3);
		of[HP_PENALTY_FAR] = 2e6 * (double)(1 + i % 7);
		for (size_t j = 0; j < HP_PENALTIES; j++)
			parts[i].measured += factors[j] * of[j];
		parts[i].measured *= 1 + chance * (hp_random_next(&random) % 2 ? 1 : -1);
	}
}

static const double slower[HP_PENALTIES] = { 1.4, 1, 1, 1.6, 1, 0 };

TEST(factors_of_a_slower_core_are_found)
{
	struct hp_penalties found;

	take(slower, 0.05);
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(found.is_fitted);
	ck_assert_uint_eq(found.windows, WINDOWS);
	ck_assert_uint_eq(found.parts, COUNT);
	ck_assert_double_eq_tol(found.factors[HP_PENALTY_BASE], 1.4, 0.1);
	/* Near the table, as far as the parts allow. */
	ck_assert_double_gt(found.factors[HP_PENALTY_FAR], 1.3);
	ck_assert_double_lt(found.factors[HP_PENALTY_FAR], 1.65);
	ck_assert_double_gt(found.by_table.median, 0.2);
	ck_assert_double_lt(found.left_out.median, 0.07);
	ck_assert_double_le(found.left_out.median, found.left_out.ninth);
	/* What nothing tells of stays as the table has it. */
	ck_assert_double_eq_tol(found.factors[HP_PENALTY_UNPLACED], 0, 1e-9);
}

TEST(what_the_models_do_not_know_of_is_not_the_base)
{
	static const double unknown[HP_PENALTIES] = { 3, 1, 1, 1, 1, 0 };
	struct hp_penalties found;

	take(unknown, 0);
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(found.is_fitted);
	ck_assert_double_le(found.factors[HP_PENALTY_BASE], 1.5 + 1e-9);
	for (size_t end = 0; end < 2; end++)
		ck_assert_double_le(found.ends[HP_PENALTY_BASE][end][HP_PENALTY_BASE], 1.5 + 1e-9);
}

/* Data nearer than the model guesses does not make instructions fit through a narrower core. */
TEST(the_base_is_no_faster_than_the_width)
{
	const double nearer[HP_PENALTIES] = { 0.5, 1, 1, 0.2, 1, 0 };
	struct hp_penalties found;

	take(nearer, 0);
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert_double_lt(found.factors[HP_PENALTY_BASE], 0.7);
	for (size_t i = 0; i < COUNT; i++)
		parts[i].width = 0.9 * parts[i].of[HP_PENALTY_BASE];
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(found.is_fitted);
	ck_assert_double_ge(found.factors[HP_PENALTY_BASE], 0.9 - 1e-9);
	ck_assert_double_lt(found.factors[HP_PENALTY_FAR], 0.5);
}

/* What the base cannot give is to come from the others: not half of it from each. */
TEST(others_make_up_for_a_penalty_at_its_least)
{
	const double nearer[HP_PENALTIES] = { 1, 1, 1, 0.2, 1, 0 };
	struct hp_penalties found;

	take(nearer, 0);
	for (size_t i = 0; i < COUNT; i++) {
		double more = 3e7 - parts[i].of[HP_PENALTY_FAR];

		/* As many misses in each, so that the base alone could be shorter as well. */
		parts[i].of[HP_PENALTY_FAR] += more;
		parts[i].measured += nearer[HP_PENALTY_FAR] * more;
		parts[i].width = parts[i].of[HP_PENALTY_BASE];
	}
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(found.is_fitted);
	ck_assert_double_ge(found.factors[HP_PENALTY_BASE], 1 - 1e-9);
	ck_assert_double_lt(found.factors[HP_PENALTY_FAR], 0.3);
	ck_assert_double_lt(found.left_out.median, 0.05);
}

/* Whether a page walk is long is another question than whether instructions are. */
TEST(page_walks_have_a_penalty_of_their_own)
{
	const double walks[HP_PENALTIES] = { 1, 1, 1, 1, 2, 0 };
	struct hp_penalties found;

	take(walks, 0);
	for (size_t i = 0; i < COUNT; i++) {
		parts[i].of[HP_PENALTY_DTLB] = 3e6 * (double)(1 + i % 6);
		parts[i].measured += 2 * parts[i].of[HP_PENALTY_DTLB];
	}
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert_double_eq_tol(found.factors[HP_PENALTY_DTLB], 2, 0.2);
	ck_assert_double_eq_tol(found.factors[HP_PENALTY_BASE], 1, 0.1);
}

/* What parts do not tell apart is more likely of data far away than of a core that is not as it was measured. */
TEST(the_base_stays_near_its_table)
{
	const double farther[HP_PENALTIES] = { 1, 1, 1, 1.6, 1, 0 };
	struct hp_penalties found;

	take(farther, 0.02);
	for (size_t i = 0; i < COUNT; i++) {
		double more = parts[i].of[HP_PENALTY_BASE] - parts[i].of[HP_PENALTY_FAR];

		/* As many misses in each. */
		parts[i].of[HP_PENALTY_FAR] += more;
		parts[i].measured += farther[HP_PENALTY_FAR] * more;
	}
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(found.is_fitted);
	ck_assert_double_lt(found.factors[HP_PENALTY_BASE], 1.1);
	ck_assert_double_gt(found.factors[HP_PENALTY_FAR], 1.45);
}

/* A window of data that no simulated one has met. */
TEST(one_window_of_its_own_kind_does_not_move_the_others)
{
	struct hp_penalties found;

	take(slower, 0);
	for (size_t i = 0; i < PARTS; i++)
		parts[i].measured /= 4;
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert_double_eq_tol(found.factors[HP_PENALTY_BASE], 1.4, 0.15);
	for (size_t i = PARTS; i < COUNT; i++)
		ck_assert_double_eq_tol(parts[i].left_out / parts[i].measured, 1, 0.1);
	ck_assert_double_gt(parts[0].left_out, 2 * parts[0].measured);
}

TEST(the_table_stays_where_others_are_no_better)
{
	const double as_table[HP_PENALTIES] = { 1, 1, 1, 1, 1, 0 };
	struct hp_penalties found;

	take(as_table, 0);
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(!found.is_fitted);
	for (size_t i = 0; i < HP_PENALTIES; i++)
		ck_assert_double_eq(found.factors[i], as_table[i]);
	ck_assert(found.is_judged && !found.by_parts);
	/* Two parts of one window cannot be judged. */
	take(slower, 0);
	hp_assert_ok(hp_penalties_fit(parts, 2, &found));
	ck_assert(!found.is_fitted && !found.is_judged);
	ck_assert_double_eq(found.factors[HP_PENALTY_FAR], 1);
	ck_assert_double_eq(found.left_out.median, found.by_table.median);
	/* Nor can none. */
	hp_assert_ok(hp_penalties_fit(parts, 0, &found));
	ck_assert(!found.is_fitted);
	ck_assert_uint_eq(found.windows, 0);
}

/* Whoever has many windows does not wait for each. */
TEST(many_windows_are_left_out_together)
{
	enum { MANY = 64000 };
	struct hp_timed_part *many = calloc(MANY, sizeof(*many));
	struct hp_penalties found;

	take(slower, 0);
	for (size_t i = 0; i < MANY; i++) {
		many[i] = parts[i % COUNT];
		many[i].window = i / PARTS;
	}
	hp_assert_ok(hp_penalties_fit(many, MANY, &found));
	ck_assert(found.is_fitted && !found.by_parts);
	ck_assert_uint_eq(found.windows, MANY / PARTS);
	ck_assert_double_lt(found.left_out.ninth, 0.01);
	free(many);
}

TEST(parts_of_a_single_window_are_left_out)
{
	struct hp_penalties found;

	take(slower, 0);
	hp_assert_ok(hp_penalties_fit(parts, PARTS, &found));
	ck_assert(found.is_fitted && found.by_parts);
	ck_assert_uint_eq(found.windows, 1);
	ck_assert_double_lt(found.left_out.ninth, 0.1);
	ck_assert_double_gt(found.by_table.median, 0.2);
}

/* 100 cycles: 30 without events, 40 mispredicted, 30 of data from afar. */
static struct hp_prediction prediction(void)
{
	struct hp_prediction made = { .instructions = 80, .measured = 140, .low = 90, .high = 110 };

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		made.predicted[lane] = lane < HP_LANE_IDEAL ? 100 : 30;
	made.predicted[HP_LANE_WIDTH] = 20;
	made.predicted[HP_LANE_NO_MISPREDICT] = 60;
	made.predicted[HP_LANE_ONLY_MISPREDICT] = 70;
	made.predicted[HP_LANE_NO_FAR] = made.predicted[HP_LANE_NO_DCACHE] = 70;
	made.predicted[HP_LANE_ONLY_DCACHE] = 60;
	return made;
}

/* A core that is slower than its table has, by a factor, does not say by what. */
TEST(what_a_factor_adds_to_the_base_may_be_of_any_component_of_it)
{
	struct hp_penalties fitted = { .is_fitted = true, .parts = 1 };
	struct hp_prediction made = prediction(), slow;
	struct hp_cpi_stack stack;

	for (size_t i = 0; i < HP_PENALTIES; i++)
		fitted.factors[i] = i == HP_PENALTY_BASE ? 2 : i != HP_PENALTY_UNPLACED;
	made.most[HP_CAUSE_DIVIDER] = made.most[HP_CAUSE_DEPENDENCY] = INFINITY;
	slow = hp_penalties_apply(&fitted, &made);
	ck_assert_double_eq_tol(slow.stretched, 30, 1e-9);
	slow.measured = slow.predicted[HP_LANE_AS_IS];
	slow.error = 0;
	stack = hp_cpi_of(&slow, true);
	ck_assert_double_gt(stack.parts[HP_CPI_DIVIDER].high, 0.2);
	ck_assert_double_lt(stack.parts[HP_CPI_FP].high, 0.01); /* there is none */
	ck_assert_double_lt(stack.parts[HP_CPI_DEPENDENCY].low, 0.1);
	ck_assert_double_gt(stack.parts[HP_CPI_DEPENDENCY].likely, 0.2);
}

TEST(cycles_are_split_among_causes_and_add_up)
{
	struct hp_prediction made = prediction();
	double of[HP_PENALTIES];

	made.predicted[HP_LANE_MEMORY] = 115;
	hp_penalties_split(made.predicted, of);
	ck_assert_double_eq_tol(of[HP_PENALTY_BASE], 30, 1e-9);
	ck_assert_double_eq_tol(of[HP_PENALTY_DTLB], 0, 1e-9);
	ck_assert_double_eq_tol(of[HP_PENALTY_MISPREDICT], 40, 1e-9);
	ck_assert_double_eq_tol(of[HP_PENALTY_L2], 0, 1e-9);
	ck_assert_double_eq_tol(of[HP_PENALTY_FAR], 30, 1e-9);
	ck_assert_double_eq_tol(of[HP_PENALTY_UNPLACED], 15, 1e-9);
}

TEST(components_take_as_much_longer_as_their_penalties)
{
	struct hp_prediction made = prediction(), fitted;
	struct hp_penalties penalties = { .is_fitted = true, .factors = { 1, 1.5, 1, 2, 1, 0 } };
	struct hp_cpi_stack stack;

	fitted = hp_penalties_apply(&penalties, &made);
	ck_assert_double_eq_tol(fitted.predicted[HP_LANE_AS_IS], 150, 1e-9);
	ck_assert_double_eq_tol(fitted.high, 165, 1e-9);
	stack = hp_cpi_of(&fitted, true);
	ck_assert_double_eq_tol(stack.predicted, 150, 1e-9);
	ck_assert_double_eq_tol(stack.parts[HP_CPI_MISPREDICT].likely,
				stack.parts[HP_CPI_FAR].likely, 1e-6);
	ck_assert_double_eq_tol(140 * stack.parts[HP_CPI_WIDTH].likely, 20, 0.1);
	ck_assert_double_eq_tol(140 * stack.excess, 10, 1e-6);
	/* Those of the table change nothing, nor do any that are not fitted. */
	penalties.is_fitted = false;
	fitted = hp_penalties_apply(&penalties, &made);
	ck_assert_mem_eq(&fitted, &made, sizeof(made));
	penalties = (struct hp_penalties){ .is_fitted = true, .factors = { 1, 1, 1, 1, 1, 0 } };
	fitted = hp_penalties_apply(&penalties, &made);
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		ck_assert_double_eq_tol(fitted.predicted[lane], made.predicted[lane], 1e-9);
}

TEST(lanes_of_pages_take_their_penalty)
{
	struct hp_prediction made = prediction(), fitted;
	struct hp_penalties penalties = { .is_fitted = true, .factors = { 1, 1, 1, 1, 3, 0 } };
	double of[HP_PENALTIES];

	made.predicted[HP_LANE_NO_FAR] = made.predicted[HP_LANE_NO_DCACHE] = 100;
	made.predicted[HP_LANE_ONLY_DCACHE] = 30;
	made.predicted[HP_LANE_NO_DTLB] = 70;
	made.predicted[HP_LANE_ONLY_DTLB] = 60;
	hp_penalties_split(made.predicted, of);
	ck_assert_double_eq_tol(of[HP_PENALTY_DTLB], 30, 1e-9);
	ck_assert_double_eq_tol(of[HP_PENALTY_FAR], 0, 1e-9);
	fitted = hp_penalties_apply(&penalties, &made);
	ck_assert_double_eq_tol(fitted.predicted[HP_LANE_AS_IS], 160, 1e-9);
	ck_assert_double_eq_tol(fitted.predicted[HP_LANE_NO_DTLB], 70, 1e-9);
	ck_assert_double_eq_tol(fitted.predicted[HP_LANE_ONLY_DTLB], 120, 1e-9);
}

/* What windows did not see may have been anything, and likely was like the rest. */
TEST(cycles_of_other_moments_may_be_of_any_component)
{
	struct hp_prediction made = prediction();
	struct hp_cpi_stack all = hp_cpi_of(&made, true), some;

	made.apart = 0.25 * made.measured;
	some = hp_cpi_of(&made, true);
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		ck_assert_double_eq(some.parts[i].likely, all.parts[i].likely);
		ck_assert_double_le(some.parts[i].low, all.parts[i].low + 1e-9);
		ck_assert_double_ge(some.parts[i].high, all.parts[i].high - 1e-9);
		ck_assert_double_ge(some.parts[i].high, 0.25);
	}
	ck_assert_double_eq_tol(some.parts[HP_CPI_MISPREDICT].low,
				0.75 * all.parts[HP_CPI_MISPREDICT].low, 1e-9);
	made.apart = 2 * made.measured;
	some = hp_cpi_of(&made, true);
	ck_assert_double_eq_tol(some.parts[HP_CPI_DIVIDER].high, 1, 1e-9);
}

/* What the penalties leave other windows off by, they may leave each component off by. */
TEST(ranges_are_as_wide_as_the_error_of_windows_left_out)
{
	struct hp_penalties penalties = { .is_fitted = true, .factors = { 1.3, 0.5, 1, 2, 1, 0 } };
	struct hp_analysis analysis = { .is_absolute = true, .prediction = prediction() };
	struct hp_cpi_stack narrow, wide;
	double sum = 0;

	for (size_t i = 0; i < 2 * HP_PENALTIES; i++)
		memcpy(penalties.ends[i / 2][i % 2], penalties.factors, sizeof(penalties.factors));
	penalties.parts = 8;
	penalties.left_out.median = 0.05;
	narrow = hp_penalties_stack(&penalties, &analysis, &analysis.prediction);
	penalties.left_out.median = 0.5;
	wide = hp_penalties_stack(&penalties, &analysis, &analysis.prediction);
	hp_cpi_settle(&narrow);
	hp_cpi_settle(&wide);
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		ck_assert_double_le(wide.parts[i].low, narrow.parts[i].low + 1e-9);
		ck_assert_double_ge(wide.parts[i].high, narrow.parts[i].high - 1e-9);
		ck_assert_double_le(narrow.parts[i].low, narrow.parts[i].likely + 1e-9);
		ck_assert_double_ge(narrow.parts[i].high, narrow.parts[i].likely - 1e-9);
		sum += narrow.parts[i].likely;
	}
	ck_assert_double_eq_tol(sum, 1, 1e-9);
	ck_assert_double_gt(narrow.parts[HP_CPI_FAR].low, wide.parts[HP_CPI_FAR].low + 0.05);
	/* Nor is the table any better than it predicts windows. */
	penalties.is_fitted = false;
	penalties.by_table.median = 0.4;
	ck_assert_double_gt(hp_penalties_apply(&penalties, &analysis.prediction).error, 0.4);
	penalties.parts = 0;
	ck_assert_double_eq(hp_penalties_apply(&penalties, &analysis.prediction).error, 0);
}

/* Where each part has as many misses of the cache as of the TLB, only their sum is known. */
TEST(causes_that_parts_do_not_tell_apart_are_known_together)
{
	const double nearer[HP_PENALTIES] = { 1, 1, 1, 0.5, 0.5, 0 };
	struct hp_analysis analysis = { .is_absolute = true, .prediction = prediction() };
	struct hp_penalties found;
	struct hp_cpi_stack stack;
	double *lanes = analysis.prediction.predicted;

	take(nearer, 0);
	for (size_t i = 0; i < COUNT; i++) {
		parts[i].of[HP_PENALTY_DTLB] = parts[i].of[HP_PENALTY_FAR];
		parts[i].measured += nearer[HP_PENALTY_DTLB] * parts[i].of[HP_PENALTY_DTLB];
	}
	hp_assert_ok(hp_penalties_fit(parts, COUNT, &found));
	ck_assert(found.is_fitted);
	/* If one is longer, the other is as much shorter. */
	ck_assert_double_gt(found.ends[HP_PENALTY_FAR][1][HP_PENALTY_FAR],
			    found.factors[HP_PENALTY_FAR] + 0.3);
	ck_assert_double_lt(found.ends[HP_PENALTY_FAR][1][HP_PENALTY_DTLB],
			    found.factors[HP_PENALTY_DTLB] - 0.3);
	lanes[HP_LANE_NO_DTLB] = 80;
	lanes[HP_LANE_ONLY_DTLB] = 70;
	stack = hp_penalties_stack(&found, &analysis, &analysis.prediction);
	ck_assert_double_gt(stack.parts[HP_CPI_FAR].high - stack.parts[HP_CPI_FAR].low,
			    stack.groups[HP_CPI_OF_DATA].high - stack.groups[HP_CPI_OF_DATA].low);
}

HP_TEST_MAIN("analyze/penalties")
