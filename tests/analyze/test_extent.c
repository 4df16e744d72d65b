/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the time of a block is divided among its instructions where the path was timed. */
#include "stalls.h"

#define DIVIDE_BY_RSI 0x48, 0xf7, 0xfe

/* A division of which 14 cycles are timed beyond its first, and three other instructions. */
static void divide(double division, double addition, double others)
{
	LOOP(DIVIDE_BY_RSI, ADD_RAX_RBX);
	takes(0, division);
	takes(3, addition);
	sees(0, HP_EVENT_L1_MISS, 0);
	simulated.is_timed = true;
	simulated.as_is = simulated.without_dcache = simulated.without_dtlb = 15;
	simulated.ideal = 15;
	simulated.without_divider = 1;
	simulated.others = others;
}

/* The division fits alone, and what is timed of the others is what they took. */
TEST(what_one_instruction_has_is_not_its_neighbours_too)
{
	divide(15, 3, 1);
	ck_assert_double_gt(least(0, HP_CAUSE_DIVIDER), 0.8);
	ck_assert_double_lt(most(3, HP_CAUSE_DIVIDER), 0.1);
	/* It does not, as half of its samples are at its neighbour. */
	divide(8, 10, 1);
	ck_assert_double_gt(least(3, HP_CAUSE_DIVIDER), 0.5);
}

/* By the schedule the addition waits a cycle for the quotient. The path has no time for that. */
TEST(a_static_wait_that_the_path_does_not_have_was_time_of_the_unit)
{
	divide(14, 1, 0.1);
	ck_assert_double_gt(least(3, HP_CAUSE_DIVIDER), 0.5);
	ck_assert_uint_eq(culprit(3, HP_CAUSE_DIVIDER), 0);
	ck_assert_double_lt(most(3, HP_CAUSE_DEPENDENCY), 0.2);
	/* By the schedule alone it is a wait for operands. */
	divide(14, 1, 0.1);
	simulated.is_timed = false;
	ck_assert_double_gt(most(3, HP_CAUSE_DEPENDENCY), 0.5);
}

/* What needs the result of a load that waits, and has `addition` cycles of each execution. */
static double may_be_the_load(double addition)
{
	LOOP(LOAD_RAX_FROM_RAX, ADD_RAX_RBX, ADD_RCX_1);
	takes(3, STALL);
	takes(6, addition);
	skid = 1;
	sees(0, HP_EVENT_L2_MISS, 1);
	return most(3, HP_CAUSE_DCACHE);
}

TEST(few_samples_behind_a_long_wait_may_be_of_it)
{
	ck_assert_double_gt(may_be_the_load(STALL / 50.0), 0.7);
	ck_assert_double_lt(most(3, HP_CAUSE_UNEXPLAINED), 0.1);
	ck_assert_double_lt(may_be_the_load(STALL / 2.0), 0.01);
	ck_assert_double_gt(most(3, HP_CAUSE_UNEXPLAINED), 0.5);
}

/* An addition that took four cycles, by the timing of it as well: behind the load, or first in the next round. */
static double is_the_load(bool next_round)
{
	size_t load = next_round ? 3 : 0, addition = next_round ? 0 : 3;

	if (next_round)
		LOOP(ADD_RAX_RBX, LOAD_RAX_FROM_RAX);
	else
		LOOP(LOAD_RAX_FROM_RAX, ADD_RAX_RBX);
	takes(3, next_round ? 4 : STALL);
	takes(6, next_round ? STALL : 4);
	skid = 1;
	sees(load, HP_EVENT_L2_MISS, 1);
	simulated.is_timed = true;
	simulated.as_is = simulated.without_dtlb = STALL;
	simulated.without_dcache = 0.1 * STALL;
	simulated.others = 4;
	return least(addition, HP_CAUSE_DCACHE);
}

TEST(samples_that_may_be_anothers_do_not_fit_alone)
{
	ck_assert_double_gt(is_the_load(false), 0.5);
	ck_assert_double_gt(is_the_load(true), 0.5);
}

TEST(a_stall_is_no_longer_than_all_of_its_causes)
{
	double all = 0;

	divide(15, 3, 1);
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		all += most(3, (enum hp_cause_kind)kind);
	ck_assert_double_lt(all, 0.9);
	ck_assert_double_le(insn_at(3)->stalled.high, (all + 0.01) * insn_at(3)->cycles);
	ck_assert_double_le(insn_at(3)->stalled.low, insn_at(3)->stalled.high);
}

HP_TEST_MAIN("analyze/extent")
