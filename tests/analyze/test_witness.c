/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What simulated windows and counters say of a cause bounds it. */
#include "stalls.h"

#include "../../src/analyze/culprit/timed.h"

#include <hpcprof/model/evidence.h>

#include <math.h>

#define DIVIDE_BY_RSI 0x48, 0xf7, 0xfe
#define MULTIPLY_RDX  0x48, 0x0f, 0xaf, 0xd2

TEST(a_load_that_was_seen_to_hit_is_cleared)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L1_MISS, 0);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.01);
	ck_assert_double_lt(most(0, HP_CAUSE_DTLB), 0.01);
	ck_assert_ptr_nonnull(insn_at(0)->happened);
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 1);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.9);
	ck_assert_double_lt(most(0, HP_CAUSE_DTLB), 0.01);
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_TLB2_MISS, 1);
	ck_assert_double_gt(least(0, HP_CAUSE_DTLB), 0.9);
}

TEST(a_prefetch_is_suspected_of_the_page_walks_that_windows_saw)
{
	LOOP(PREFETCH_AT_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_DTLB_MISS, 0);
	ck_assert_double_lt(most(0, HP_CAUSE_DTLB), 0.01);
	LOOP(PREFETCH_AT_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_TLB2_MISS, 1);
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.5);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.01);
}

#define MFENCE	       0x0f, 0xae, 0xf0
#define TEN_MOVES      MOVE_TWICE, MOVE_TWICE, MOVE_TWICE, MOVE_TWICE, MOVE_TWICE
#define MOVE_TWICE     0x89, 0xca, 0x89, 0xca /* mov edx, ecx */
#define SHIFT_RAX_BY_6 0x48, 0xc1, 0xe0, 0x06

/* A shift far behind a fence waits for its operand as long as if there was none, or because nothing began
 * before. */
TEST(what_begins_behind_a_fence_is_waited_for_because_of_it)
{
	const size_t shift = 3 + 20;

	LOOP(MFENCE, TEN_MOVES, SHIFT_RAX_BY_6);
	takes(0, STALL);
	takes(shift, 1);
	ck_assert_double_lt(most(shift, HP_CAUSE_SYNC), 0.01);
	LOOP(MFENCE, TEN_MOVES, SHIFT_RAX_BY_6);
	takes(0, STALL);
	takes(shift, 1);
	sees(shift, HP_EVENT_L1_MISS, 0);
	ck_assert_double_gt(most(shift, HP_CAUSE_SYNC), 0.5);
	ck_assert_uint_eq(culprit(shift, HP_CAUSE_SYNC), 0);
	/* Not longer than it takes. */
	LOOP(MFENCE, TEN_MOVES, SHIFT_RAX_BY_6);
	takes(0, STALL);
	takes(shift, STALL);
	sees(shift, HP_EVENT_L1_MISS, 0);
	ck_assert_double_lt(most(shift, HP_CAUSE_SYNC), 0.05);
	/* No fence. */
	LOOP(TEN_MOVES, SHIFT_RAX_BY_6);
	takes(shift - 3, STALL);
	sees(shift - 3, HP_EVENT_L1_MISS, 0);
	ck_assert_double_lt(most(shift - 3, HP_CAUSE_SYNC), 0.01);
}

TEST(a_load_that_windows_saw_to_hit_may_miss_in_other_moments)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L1_MISS, 0);
	simulated.apart = 0.5;
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.3);
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.3);
	ck_assert_double_gt(found->prediction.measured, 0);
	ck_assert_double_eq_tol(found->prediction.apart, 0.5 * found->prediction.measured, 1e-6);
}

TEST(a_cause_takes_no_more_than_counters_say_of_the_procedure)
{
	static double said[HP_CAUSE_DYNAMIC_COUNT];

	for (unsigned i = 0; i < HP_CAUSE_DYNAMIC_COUNT; i++)
		said[i] = INFINITY;
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	limits = said;
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.3);
	/* Counters saw hardly a page walk: so it was the cache. */
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	said[HP_CAUSE_DTLB] = 0.02 * STALL * RUNS;
	limits = said;
	ck_assert_double_lt(most(0, HP_CAUSE_DTLB), 0.03);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.8);
	insn_at(0);
	ck_assert_double_le(found->sheet.causes[HP_CAUSE_DTLB].high, 0.03 * STALL * RUNS);
	/* None of it: nothing that was asked about can have been it. */
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	said[HP_CAUSE_DCACHE] = 0;
	limits = said;
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.01);
	ck_assert_double_gt(most(0, HP_CAUSE_UNEXPLAINED), 0.8);
}

static void sees_both_timed(double as_is, double without_dcache, double without_dtlb)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 1);
	simulated.is_timed = true;
	simulated.as_is = as_is;
	simulated.without_dcache = without_dcache;
	simulated.without_dtlb = without_dtlb;
}

/* By counts, each of two could have taken all of it. */
TEST(a_cause_takes_what_the_path_takes_less_without_it)
{
	sees_both_timed(STALL, STALL, STALL);
	simulated.is_timed = false;
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
	sees_both_timed(STALL, 0.2 * STALL, 0.9 * STALL);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.6);
	/* A walk may take longer than was measured. */
	ck_assert_double_lt(most(0, HP_CAUSE_DTLB), 0.5);
	sees_both_timed(STALL, 0.95 * STALL, 0.1 * STALL);
	ck_assert_double_gt(least(0, HP_CAUSE_DTLB), 0.6);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.15);
}

TEST(what_was_measured_and_not_timed_may_be_of_any_cause)
{
	sees_both_timed(0.5 * STALL, 0.1 * STALL, 0.45 * STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.4);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.8);
	ck_assert_double_lt(least(0, HP_CAUSE_DCACHE), 0.5);
}

/* Both are parts of one wait: without either of them half of it is gone, or all. */
TEST(a_cause_that_takes_most_is_known_by_what_the_path_takes_without_it)
{
	sees_both_timed(STALL / 2, STALL / 4, STALL / 100);
	samples[0].cycles = STALL / 2 * RUNS;
	ck_assert_double_gt(least(0, HP_CAUSE_DTLB), 0.9);
	/* In the summary, too. */
	ck_assert_double_gt(found->sheet.likely[HP_CAUSE_DTLB], 0.9 * STALL / 2 * RUNS);
}

/* The cache has 0.4 of 0.9 that were timed: so much of the rest is its own, as errors of its part and of
 * the others explain that. */
TEST(parts_share_what_their_errors_explain)
{
	sees_both_timed(0.9 * STALL, 0.5 * STALL, 0.9 * STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.42);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.5);
	ck_assert_double_lt(least(0, HP_CAUSE_DCACHE), 0.41);
}

/* The load misses a cache and the TLB: either may have taken most of the wait, and nothing else can. */
TEST(two_causes_of_one_access_are_better_known_together_than_apart)
{
	const struct hp_joint_cause *joint;

	sees_both_timed(STALL, 0.45 * STALL, 0.55 * STALL);
	joint = insn_at(0)->joint;
	ck_assert_ptr_nonnull(joint);
	ck_assert_uint_eq(joint->kinds, 1u << HP_CAUSE_DCACHE | 1u << HP_CAUSE_DTLB);
	ck_assert_double_lt(least(0, HP_CAUSE_DCACHE), 0.6);
	ck_assert_double_lt(least(0, HP_CAUSE_DTLB), 0.5);
	ck_assert_double_gt(joint->low, 0.9);
	ck_assert_double_ge(joint->likely, joint->low);
	ck_assert_double_le(joint->likely, joint->high);
	ck_assert(joint->has_culprit);
	ck_assert_uint_eq(joint->culprit.value, FUZZ_CODE_ADDRESS);
}

/* One miss of 200 cycles in 20 executions might have been none, or two. */
TEST(what_few_executions_met_is_chance)
{
	struct timed timed = { .cycles = 20, .samples = 1e6, .simulated = 1e6 };
	struct timed_parts many, few;

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		timed.lanes[lane] = 20;
	timed.lanes[HP_LANE_NO_MISPREDICT] = 10;
	timed.costs[HP_CAUSE_MISPREDICT] = 200;
	timed.spread = 0.7;
	timed_parts(&timed, &many);
	timed.simulated = 20;
	timed_parts(&timed, &few);
	ck_assert_double_gt(many.kinds[HP_CAUSE_MISPREDICT].low, 8);
	ck_assert_double_lt(few.kinds[HP_CAUSE_MISPREDICT].low, 5);
	ck_assert_double_gt(few.kinds[HP_CAUSE_MISPREDICT].high,
			    many.kinds[HP_CAUSE_MISPREDICT].high + 2);
}

/* It is at one of three such instructions, each of which takes 20 cycles, 18 of them for what is lost. */
TEST(a_sample_of_what_seldom_has_one_tells_shares_no_more_than_the_timing_does)
{
	struct timed timed = { .cycles = 60, .samples = 1, .chance = HP_NORMAL_90 };
	struct timed_parts parts;

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		timed.lanes[lane] = 20;
	timed.lanes[HP_LANE_NO_MISPREDICT] = 2;
	timed_parts(&timed, &parts);
	ck_assert_double_gt(parts.kinds[HP_CAUSE_MISPREDICT].low, 0.75 * 60);
	ck_assert_double_le(parts.kinds[HP_CAUSE_MISPREDICT].likely, 60);
	/* Of many samples it would be something else. */
	timed.samples = 1e6;
	timed.chance = 0.01;
	timed_parts(&timed, &parts);
	ck_assert_double_lt(parts.kinds[HP_CAUSE_MISPREDICT].likely, 0.6 * 60);
}

/* Half of two cycles, which is off by 0.14, and by 0.2 for the place of the samples: hardly by both. */
TEST(noise_is_independent_of_the_error_of_a_part)
{
	struct timed timed = { .cycles = 2, .samples = 1e6 };
	struct timed_parts parts;

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		timed.lanes[lane] = 2;
	timed.lanes[HP_LANE_NO_MISPREDICT] = 1;
	timed_parts(&timed, &parts);
	ck_assert_double_gt(parts.kinds[HP_CAUSE_MISPREDICT].low, 0.7);
	ck_assert_double_lt(parts.kinds[HP_CAUSE_MISPREDICT].low, 0.8);
	ck_assert_double_gt(parts.kinds[HP_CAUSE_MISPREDICT].high, 1.2);
	ck_assert_double_lt(parts.kinds[HP_CAUSE_MISPREDICT].high, 1.3);
}

TEST(one_cause_has_no_other_to_be_told_with)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 1);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.9);
	ck_assert_ptr_null(insn_at(0)->joint);
}

/* Lines that may be anywhere explain what nothing else does; page tables only where they may be
 * there, too. */
TEST(what_no_other_can_take_is_of_the_cause_that_is_left)
{
	sees_both_timed(STALL, 0.1 * STALL, 0.95 * STALL);
	simulated.third = 0.3 * STALL;
	simulated.memory = 2 * STALL;
	ck_assert_double_lt(most(0, HP_CAUSE_DTLB), 0.4);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.55);
	sees_both_timed(STALL, 0.1 * STALL, 0.95 * STALL);
	simulated.third = 0.3 * STALL;
	simulated.memory = 2 * STALL;
	simulated.walks_read = 1;
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.8);
	ck_assert_double_lt(least(0, HP_CAUSE_DCACHE), 0.5);
}

/* The load's wait is seen at the addition behind a branch, in another block. */
static void stall_behind_branch(bool loops)
{
	static const uint8_t once[] = {
		0x48, 0x8b, 0x00, 0x74, 0, 0x48, 0x01, 0xcb, 0x90, 0x90, RET
	};
	static const uint8_t round[] = { 0x48, 0x8b, 0x00, 0x74, 0,  0x48,
					 0x01, 0xcb, 0x75, 0xf6, RET };

	begin(loops ? round : once, sizeof(once));
	runs(0, RUNS);
	takes(5, STALL);
	sees(0, HP_EVENT_L2_MISS, 1);
	simulated.is_timed = true;
	simulated.others = 0.1;
	simulated.as_is = simulated.without_dtlb = STALL;
	simulated.without_dcache = 0.1 * STALL;
}

TEST(where_the_loop_fits_better_its_shares_hold_for_each_instruction)
{
	stall_behind_branch(true);
	ck_assert_double_gt(least(5, HP_CAUSE_DCACHE), 0.6);
	stall_behind_branch(false);
	ck_assert_double_lt(least(5, HP_CAUSE_DCACHE), 0.3);
}

/* The branch, which ran as often as the load that was timed; or seldom, before instructions were
 * timed one by one. */
TEST(a_loop_is_timed_where_an_instruction_takes_no_time)
{
	stall_behind_branch(true);
	simulated.untimed = 3;
	simulated.untimed_runs = RUNS;
	ck_assert_double_gt(least(5, HP_CAUSE_DCACHE), 0.6);
	stall_behind_branch(true);
	simulated.untimed = 3;
	simulated.untimed_runs = 200;
	ck_assert_double_lt(least(5, HP_CAUSE_DCACHE), 0.3);
}

/* A load that waits, mostly for its page. */
static void wait_in_a_loop(bool is_timed)
{
	static const uint8_t loop[] = { LOAD_RAX_FROM_RAX, DEC_RSI, 0x75, 0xf8, RET };

	begin(loop, sizeof(loop));
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 1);
	simulated.is_timed = is_timed;
	simulated.others = 0.1;
	simulated.as_is = STALL;
	simulated.without_dcache = 0.7 * STALL;
	simulated.without_dtlb = 0.3 * STALL;
}

/* Nothing says how often the loop ran, so that each execution may have taken any time. */
TEST(a_path_that_was_timed_bounds_how_often_it_ran)
{
	for (int timed = 0; timed < 2; timed++) {
		wait_in_a_loop(timed);
		if (timed)
			ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.7);
		else
			ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
	}
}

/* What each load may meet at most, by the few that were simulated, all of them do not meet at once. */
TEST(how_often_it_ran_is_bounded_by_as_many_walks_as_are_likely)
{
	wait_in_a_loop(true);
	simulated.most_walks = 100;
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.7);
}

/* Half of the wait is the cache's, by the timing; what is not timed may be, too. */
static void half_is_the_cache(double counted_within)
{
	LOOP(LOAD_RAX_FROM_RAX);
	counted_to_within(counted_within);
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 1);
	simulated.is_timed = true;
	simulated.as_is = simulated.without_dtlb = STALL;
	simulated.without_dcache = 0.5 * STALL;
}

/* By counts alone the load may have run so seldom that this is most of it. */
TEST(executions_that_were_counted_are_bounded_by_the_path_that_was_timed)
{
	half_is_the_cache(0.6);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.75);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.52);
}

/* Counts that are as uncertain as the timing: each alone leaves a quarter fewer. */
TEST(counts_and_timing_together_say_more_of_executions_than_either)
{
	half_is_the_cache(0.19);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.6);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.52);
	ck_assert_double_lt(least(0, HP_CAUSE_DCACHE), 0.45);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.35);
}

/* How often it ran changes nothing of its shares: what the path takes in one execution is what was
 * measured of one. */
TEST(shares_are_known_better_than_executions)
{
	half_is_the_cache(0.35);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.6);
	ck_assert_double_gt(least(0, HP_CAUSE_DCACHE), 0.35);
}

/* The other half is a wait for operands, which the best case does not have and no suspect can take. */
TEST(what_no_suspect_can_take_may_be_waits_beyond_the_best_case)
{
	half_is_the_cache(0.05);
	ck_assert_double_lt(least(0, HP_CAUSE_DCACHE), 0.5);
}

/* The load's latency is most of the best case of its block; on the path, which has others beside it, it
 * does not show. */
TEST(what_overlaps_on_the_path_leaves_its_time_to_other_causes)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, 5);
	counted_to_within(0.05);
	sees(0, HP_EVENT_L1_MISS, 1);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.3);
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, 5);
	counted_to_within(0.05);
	sees(0, HP_EVENT_L1_MISS, 1);
	simulated.is_timed = true;
	simulated.as_is = simulated.without_dtlb = 5;
	simulated.without_dcache = 1;
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.7);
}

/* The callee may have ended with a branch that was lost, so that a latency shows behind it. */
TEST(what_ran_before_a_return_may_have_left_the_core_empty)
{
	CODE(0xe8, 0, 0, 0, 0, 0x90, 0x90, LOAD_RAX_FROM_RAX);
	takes(7, 4);
	ck_assert_double_gt(most(7, HP_CAUSE_MISPREDICT), 0.5);
}

TEST(counts_are_right_where_the_timing_contradicts_them)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_STRIDED, 1);
	simulated.is_timed = true;
	simulated.as_is = STALL;
	simulated.without_dcache = 0.1 * STALL;
	simulated.without_dtlb = STALL;
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.05);
}

/* Two divisions in a block of which one alone takes longer: so they overlapped with what is around. */
TEST(a_wait_that_the_block_has_no_time_for_is_not_certain)
{
	CODE(DIVIDE_BY_RSI, DIVIDE_BY_RSI);
	takes(3, 100);
	ck_assert_double_gt(least(3, HP_CAUSE_DIVIDER), 0.1);
	CODE(DIVIDE_BY_RSI, DIVIDE_BY_RSI);
	takes(3, 4);
	ck_assert_double_lt(least(3, HP_CAUSE_DIVIDER), 0.001);
	ck_assert_double_gt(most(3, HP_CAUSE_DIVIDER), 0.5);
	insn_at(3);
	ck_assert_double_lt(found->sheet.causes[HP_CAUSE_DIVIDER].low, 1);
	ck_assert_double_gt(found->sheet.causes[HP_CAUSE_DIVIDER].high, 3.0 * RUNS);
}

/* The schedule of the block knows nothing of what is around; the path's timing does. */
TEST(static_waits_take_no_more_than_the_timing_of_the_path_says)
{
	for (int timed = 0; timed < 2; timed++) {
		CODE(MULTIPLY_RDX, MULTIPLY_RDX, MULTIPLY_RDX);
		for (size_t at = 0; at <= 8; at += 4)
			takes(at, 1);
		sees(8, HP_EVENT_L1_MISS, 0);
		simulated.is_timed = timed;
		simulated.as_is = simulated.without_dcache = simulated.without_dtlb = 1;
		simulated.others = 1;
		if (timed)
			ck_assert_double_lt(most(8, HP_CAUSE_MULTIPLIER), 0.25);
		else
			ck_assert_double_gt(least(8, HP_CAUSE_MULTIPLIER), 0.5);
	}
}

/* Eleven cycles are timed, nine of which a division takes beyond its first. */
TEST(a_division_may_take_longer_than_by_its_table)
{
	struct timed timed = { .cycles = 17, .samples = 1e6 };
	struct timed_parts parts;

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		timed.lanes[lane] = 11;
	timed.lanes[HP_LANE_NO_DIVIDER] = 2;
	timed.lanes[HP_LANE_WIDTH] = 1;
	timed_parts(&timed, &parts);
	ck_assert(parts.fits);
	ck_assert_double_gt(parts.kinds[HP_CAUSE_DIVIDER].low, 12);
	ck_assert_double_gt(parts.kinds[HP_CAUSE_DIVIDER].likely, 14);
	/* What waits for the division, beyond its first cycle, is the divider's. */
	ck_assert_double_lt(parts.kinds[HP_CAUSE_DEPENDENCY].high, 2);
	ck_assert_double_lt(parts.kinds[HP_CAUSE_MISPREDICT].high, 1);
	/* Without divisions nothing explains the other six. */
	timed.lanes[HP_LANE_NO_DIVIDER] = 11;
	timed_parts(&timed, &parts);
	ck_assert(!parts.fits);
	ck_assert_double_gt(parts.kinds[HP_CAUSE_MISPREDICT].high, 3);
}

/* Three cycles of it are in the best case. */
TEST(a_wait_that_is_in_the_best_case_in_part_is_one_cause)
{
	unsigned multipliers = 0;

	LOOP(MULTIPLY_RDX);
	takes(0, 4);
	sees(0, HP_EVENT_L1_MISS, 0);
	for (unsigned i = 0; i < insn_at(0)->cause_count; i++)
		multipliers += found->causes[insn_at(0)->first_cause + i].kind ==
			       HP_CAUSE_MULTIPLIER;
	ck_assert_uint_eq(multipliers, 1);
	ck_assert_double_gt(least(0, HP_CAUSE_MULTIPLIER), 0.6);
}

/* A core has it once in an execution, however long that takes. */
TEST(what_was_not_simulated_had_each_event_in_each_execution_at_most)
{
	const double *most;

	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L1_MISS, 0);
	simulated.is_alone = true;
	(void)insn_at(0);
	most = found->prediction.most;
	ck_assert_double_ge(most[HP_CAUSE_MISPREDICT], 10.0 * RUNS);
	ck_assert_double_le(most[HP_CAUSE_MISPREDICT], 100.0 * RUNS);
	ck_assert_double_lt(most[HP_CAUSE_DCACHE], RUNS);
	ck_assert_double_eq(most[HP_CAUSE_DIVIDER], 0);
	ck_assert(isinf(most[HP_CAUSE_FETCH]));
}

TEST(seldom_misses_explain_no_more_than_they_cost)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 0.02);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.02);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.3);
}

/* Of which few executions were simulated. */
static void follow_in_line(double misses)
{
	CODE(ADD_RDX_1, ADD_RCX_1);
	takes(4, 20);
	sees(4, HP_EVENT_L1I_MISS, misses);
	simulated.unseen = 0.1;
}

TEST(code_that_follows_in_its_line_does_not_miss)
{
	follow_in_line(0);
	ck_assert_double_eq(most(4, HP_CAUSE_ICACHE), 0);
	ck_assert_double_eq(most(4, HP_CAUSE_ITLB), 0);
	/* It was seen: the graph does not show what jumps there. */
	follow_in_line(0.5);
	ck_assert_double_gt(most(4, HP_CAUSE_ICACHE), 0.5);
	ck_assert_double_eq(most(4, HP_CAUSE_ITLB), 0);
}

TEST(a_branch_costs_no_more_than_a_predictor_misses)
{
	static const uint8_t choice[] = {
		0x74, 3,	  /* jz over */
		0x48, 0xff, 0xc1, /* inc rcx */
		0x48, 0xff, 0xc2, /* over: inc rdx */
		RET,
	};

	for (int seen = 0; seen < 2; seen++) {
		begin(choice, sizeof(choice));
		runs(0, RUNS);
		runs(2, RUNS / 2);
		takes(2, STALL / 10);
		if (seen)
			sees(0, HP_EVENT_MISPREDICTED, 0.001);
		if (seen)
			ck_assert_double_lt(most(2, HP_CAUSE_MISPREDICT), 0.05);
		else
			ck_assert_double_gt(most(2, HP_CAUSE_MISPREDICT), 0.1);
	}
}

/* Interrupts are taken where the core can take them. */
TEST(a_misprediction_may_show_behind_the_first_instructions_of_a_path_that_was_timed)
{
	static const uint8_t choice[] = {
		0x74, 12,			    /* jz over */
		0x48, 0xff, 0xc1, 0x48, 0xff, 0xc1, /* inc rcx; inc rcx */
		0x48, 0xff, 0xc1, 0x48, 0xff, 0xc1, /* inc rcx; inc rcx */
		0x48, 0xff, 0xc2,		    /* over: inc rdx */
		RET,
	};

	for (int timed = 0; timed < 2; timed++) {
		begin(choice, sizeof(choice));
		runs(0, RUNS);
		runs(2, RUNS / 2);
		takes(11, STALL / 10);
		sees(0, HP_EVENT_MISPREDICTED, 0.5);
		simulated.is_timed = timed;
		simulated.as_is = simulated.without_dcache = simulated.without_dtlb = 1;
		simulated.others = 1;
		if (timed)
			ck_assert_double_gt(most(11, HP_CAUSE_MISPREDICT), 0.5);
		else
			ck_assert_double_lt(most(11, HP_CAUSE_MISPREDICT), 0.2);
	}
}

TEST(a_store_through_another_register_may_be_what_a_load_waits_for)
{
	/* … mov [rdi], ecx; mov rax, [rsi], behind what a mispredicted call delays */
	CODE(ADD_RDX_1, ADD_RDX_1, 0x89, 0x0f, 0x48, 0x8b, 0x06);
	takes(10, STALL / 10);
	sees(10, HP_EVENT_FORWARD_FAILED, 1);
	ck_assert_double_gt(least(10, HP_CAUSE_STORE_FORWARD), 0.5);
	ck_assert_uint_eq(culprit(10, HP_CAUSE_STORE_FORWARD), 10);
}

HP_TEST_MAIN("analyze/witness")
