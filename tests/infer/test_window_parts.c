/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of windows of one block, by what was simulated of it. */
#include "../support.h"

#include <hpcprof/infer/window_parts.h>
#include <hpcprof/model/lanes.h>

/* The block has 10 instructions, and an access that misses the second cache. In two windows of three it
 * was simulated: 200000 runs in each, of 20 cycles; without what is far, 12; by the core's width alone, 5. */
enum {
	SIMULATED = 200000,
	INSTRUCTIONS = 10,
	CYCLES = 20,
	NEAR_CYCLES = 12,
	WIDTH_CYCLES = 5,
	WINDOWS = 3
};
static const double cycles_per_ns = 2;

static struct hp_counted item, events[3];
static struct hp_window_stratum stratum;

static void make(void)
{
	struct hp_counted block = {
		.kind = HP_COUNTED_BLOCK, .at = { 64 }, .bytes = 40, .instructions = INSTRUCTIONS
	};

	events[0] = item = block;
	events[1] =
		(struct hp_counted){ .kind = HP_COUNTED_EVENT + HP_EVENT_L2_MISS, .at = { 70 } };
	events[2] = (struct hp_counted){ .kind = HP_COUNTED_BLOCK_CYCLES, .at = { 64 } };
	stratum = (struct hp_window_stratum){
		.items = &item, .item_count = 1, .events = events, .event_count = 3
	};
	for (size_t i = 0; i < 2; i++)
		events[0].counts[i * HP_WINDOW_PARTS] = SIMULATED;
	for (enum hp_lane lane = 0; lane < HP_LANES; lane++)
		events[2].counts[lane] =
			2 * SIMULATED * (uint64_t)(lane < HP_LANE_IDEAL ? CYCLES : NEAR_CYCLES);
	events[2].counts[HP_LANE_WIDTH] = 2 * SIMULATED * WIDTH_CYCLES;
	events[2].counts[HP_LANE_NO_FAR] = events[2].counts[HP_LANE_NO_DCACHE] =
		2 * SIMULATED * NEAR_CYCLES;
	events[2].counts[HP_LANE_ONLY_DCACHE] = 2 * SIMULATED * CYCLES;
	/* Of 1 on average the first window missed 1.5, the next 0.5. */
	events[1].counts[0] = 3 * SIMULATED / 2;
	events[1].counts[HP_WINDOW_PARTS] = SIMULATED / 2;
	for (size_t i = 0; i < WINDOWS; i++) {
		item.counts[i * HP_WINDOW_PARTS] = 1000000;
		stratum.groups[i * HP_WINDOW_PARTS] = (struct hp_window_group){ 1, 15000000 };
	}
}

TEST(parts_are_predicted_by_the_events_of_their_windows)
{
	hp_timed_parts parts = { 0 };

	make();
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 16, &parts));
	ck_assert_uint_eq(parts.count, WINDOWS);
	for (size_t i = 0; i < WINDOWS; i++) {

		const double met[WINDOWS] = { 1.5, 0.5, 1 };

		ck_assert_uint_eq(parts.at[i].window, 16 + i);
		ck_assert_double_eq_tol(parts.at[i].measured, 3e7, 1);
		ck_assert_double_eq_tol(parts.at[i].of[HP_PENALTY_BASE], 1e6 * NEAR_CYCLES, 1);
		ck_assert_double_eq_tol(parts.at[i].of[HP_PENALTY_FAR],
					met[i] * 1e6 * (CYCLES - NEAR_CYCLES), 1e4);
		ck_assert_double_eq_tol(parts.at[i].of[HP_PENALTY_MISPREDICT], 0, 1);
		ck_assert_double_eq_tol(parts.at[i].width, 1e6 * WIDTH_CYCLES, 1);
		ck_assert(parts.at[i].is_simulated == (i < 2));
	}
	hp_vector_free(&parts);
}

TEST(what_is_short_or_unknown_is_left_out)
{
	hp_timed_parts parts = { 0 };

	/* 5 ms at 2 GHz are 10 million cycles. */
	make();
	stratum.groups[0].time_ns = 4900000;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	ck_assert_uint_eq(parts.count, WINDOWS - 1);
	ck_assert_uint_eq(parts.at[0].window, 1);
	hp_vector_free(&parts);
	/* Other code ran than was simulated. */
	make();
	item.at.value = 128;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	ck_assert_uint_eq(parts.count, 0);
	hp_vector_free(&parts);
	/* Nothing was simulated, and no clock is known. */
	make();
	stratum.event_count = 0;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	ck_assert_uint_eq(parts.count, 0);
	make();
	hp_assert_ok(hp_window_parts(&stratum, 0, 0, &parts));
	ck_assert_uint_eq(parts.count, 0);
	/* Windows that say nothing of time. */
	item.is_relative = true;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	ck_assert_uint_eq(parts.count, 0);
	hp_vector_free(&parts);
}

/* A part of 15 ms, or 30 million cycles, has no room for 7 million runs of at least 5. */
TEST(parts_that_no_core_can_run_are_joined)
{
	hp_timed_parts parts = { 0 };

	make();
	item.counts[0] = 7000000;
	item.counts[1] = 1000000;
	stratum.groups[1].time_ns = 15000000;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	ck_assert_uint_eq(parts.count, WINDOWS);
	ck_assert_double_eq_tol(parts.at[0].measured, 6e7, 1);
	ck_assert_double_eq_tol(parts.at[0].of[HP_PENALTY_BASE], 8e6 * NEAR_CYCLES, 1e3);
	hp_vector_free(&parts);
	/* Not even together had they room for that. */
	item.counts[1] = 7000000;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	ck_assert_uint_eq(parts.count, WINDOWS - 1);
	ck_assert_uint_eq(parts.at[0].window, 1);
	hp_vector_free(&parts);
}

/* Files are hostile: a block before the one that contains the event, events in no block, and counts
 * that add up to all there is. */
TEST(odd_records_are_taken)
{
	hp_timed_parts parts = { 0 };

	make();
	events[1].at.value = UINT64_MAX;
	events[0].bytes = UINT32_MAX;
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		events[2].counts[i] = UINT64_MAX;
	hp_assert_ok(hp_window_parts(&stratum, cycles_per_ns, 0, &parts));
	for (size_t i = 0; i < parts.count; i++)
		for (size_t j = 0; j < HP_PENALTIES; j++)
			ck_assert(parts.at[i].of[j] >= 0);
	hp_vector_free(&parts);
}

HP_TEST_MAIN("infer/window_parts")
