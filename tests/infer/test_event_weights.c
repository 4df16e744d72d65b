/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What simulated stretches stand for. */
#include "../support.h"

#include "../../src/infer/event_weights.h"

#include <stdlib.h>

enum { INSTRUCTIONS = 10, SIMULATED = 1000 };

static struct hp_counted executed, simulated;
static struct hp_window_stratum stratum;
static double scale;
static struct hp_windows windows;

/* Two windows, in which the same number of instructions was simulated. The second executed three times as
 * many. */
SETUP
{
	executed = simulated = (struct hp_counted){ .kind = HP_COUNTED_BLOCK,
						    .bytes = 40,
						    .instructions = INSTRUCTIONS };
	scale = 5;
	stratum = (struct hp_window_stratum){
		.items = &executed, .item_count = 1, .events = &simulated, .event_count = 1
	};
	stratum.latencies[HP_LATENCIES] = 2;
	for (size_t i = 0; i < 2; i++) {
		stratum.groups[i * HP_WINDOW_PARTS].windows = 1;
		for (size_t j = 0; j < HP_WINDOW_PARTS; j++)
			simulated.counts[i * HP_WINDOW_PARTS + j] = SIMULATED;
		for (size_t j = 0; j < HP_WINDOW_PARTS; j++)
			executed.counts[i * HP_WINDOW_PARTS + j] = (i ? 3 : 1) * 20 * SIMULATED;
	}
	windows = (struct hp_windows){ .sum = { .strata = &stratum, .stratum_count = 1 },
				       .scales = &scale };
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		windows.values[i / HP_WINDOW_PARTS][i] = 1;
}

/* Of the stratum. */
static const double *weigh(void)
{
	windows.event_weights = event_weights_make(&windows);
	ck_assert_ptr_nonnull(windows.event_weights);
	at_end(free, windows.event_weights);
	return windows.event_weights[0];
}

TEST(windows_weigh_as_what_they_executed)
{
	const double *weights = weigh();

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++) {
		ck_assert_double_eq_tol(weights[i], 0.5, 1e-9);
		ck_assert_double_eq_tol(weights[HP_WINDOW_PARTS + i], 1.5, 1e-9);
	}
}

/* The second half of the first window executed three times as much. */
TEST(parts_of_a_window_weigh_as_what_they_executed)
{
	const double *weights;

	executed.counts[2] *= 3;
	executed.counts[3] *= 3;
	weights = weigh();
	ck_assert_double_eq_tol(weights[0], 0.4, 1e-9);
	ck_assert_double_eq_tol(weights[1], 0.4, 1e-9);
	ck_assert_double_eq_tol(weights[2], 1.2, 1e-9);
	ck_assert_double_eq_tol(weights[HP_WINDOW_PARTS], 1.2, 1e-9);
}

/* Of the second half of both windows nothing was simulated. */
TEST(a_stretch_stands_for_parts_that_were_not_simulated)
{
	const double *weights;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 2; j < HP_WINDOW_PARTS; j++)
			simulated.counts[i * HP_WINDOW_PARTS + j] = 0;
	weights = weigh();
	for (size_t i = 0; i < 2; i++) {
		ck_assert_double_eq_tol(weights[i * HP_WINDOW_PARTS], i ? 0.75 : 0.25, 1e-9);
		ck_assert_double_eq_tol(weights[i * HP_WINDOW_PARTS + 1], i ? 2.25 : 0.75, 1e-9);
	}
}

TEST(weights_of_counts_are_those_of_events_too)
{
	const double *weights;

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		windows.values[3][i] = 2;
	weights = weigh();
	ck_assert_double_eq_tol(weights[0], 1, 1e-9);
	ck_assert_double_eq_tol(weights[HP_WINDOW_PARTS], 1, 1e-9);
}

/* The first group has three windows, of which one was simulated, like that of the second. */
TEST(windows_that_were_not_simulated_give_no_weight)
{
	const double *weights;

	stratum.groups[0].windows = 3;
	for (size_t j = 0; j < HP_WINDOW_PARTS; j++)
		executed.counts[j] *= 3;
	weights = weigh();
	ck_assert_double_eq_tol(weights[0], 0.5, 1e-9);
	ck_assert_double_eq_tol(weights[HP_WINDOW_PARTS], 1.5, 1e-9);
}

TEST(what_is_not_counted_weighs_as_it_was_simulated)
{
	const double *weights;

	stratum.item_count = 0;
	weights = weigh();
	ck_assert_double_eq(weights[0], 1);
	ck_assert_double_eq(weights[HP_WINDOW_PARTS], 1);
}

HP_TEST_MAIN("infer/event_weights")
