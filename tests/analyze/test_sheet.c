/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes and the sheet of a procedure add up, whatever the samples. */
#include "stalls.h"

TEST(no_samples_no_culprits)
{
	LOOP(LOAD_RAX_FROM_RAX);
	ck_assert_uint_eq(insn_at(0)->cause_count, 0);
	ck_assert_double_eq(found->sheet.cycles, 0);
}

static void check_holds(const struct hp_range *range, double value)
{
	ck_assert_double_ge(value, range->low * (1 - 1e-6) - 1e-3);
	ck_assert_double_ge(range->high * (1 + 1e-6) + 1e-3, value);
}

static void check_sheet(const struct hp_stall_sheet *sheet)
{
	double sum = sheet->execution - sheet->unexplained_gain;

	ck_assert_double_ge(sheet->execution, 0);
	ck_assert_double_ge(sheet->unexplained_gain, 0);
	for (unsigned i = 0; i < HP_CAUSE_COUNT; i++) {
		const struct hp_range *range = &sheet->causes[i];

		sum += sheet->likely[i];
		ck_assert_double_ge(range->low, 0);
		ck_assert_double_ge(sheet->likely[i], range->low * (1 - 1e-6) - 1e-3);
		ck_assert_double_ge(range->high * (1 + 1e-6) + 1e-3, sheet->likely[i]);
		ck_assert_double_le(range->high, sheet->cycles * (1 + 1e-9));
	}
	ck_assert_double_eq_tol(sum, sheet->cycles, 1e-6 * (1 + sheet->cycles));
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		double likely = 0, high = 0;

		for (unsigned i = 0; i < HP_CAUSE_COUNT; i++) {
			if (!(hp_summed_kinds(family) >> i & 1))
				continue;
			likely += sheet->likely[i];
			high += sheet->causes[i].high;
		}
		check_holds(&sheet->families[family], fmin(likely, sheet->cycles));
		ck_assert_double_le(sheet->families[family].high, high * (1 + 1e-9) + 1e-3);
	}
	ck_assert_double_ge(sheet->execution_range.low, 0);
	check_holds(&sheet->execution_range, sheet->execution);
	check_holds(&sheet->gain_range, sheet->unexplained_gain);
}

static void check_causes(const struct hp_analysis *analysis)
{
	for (size_t i = 0; i < analysis->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[i];

		ck_assert(cause->low >= 0 && cause->low <= cause->likely &&
			  cause->likely <= cause->high && cause->high <= 1);
		ck_assert_uint_lt(cause->kind, HP_CAUSE_COUNT);
	}
	for (size_t i = 0; i < analysis->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[i];
		double likely = 0;

		ck_assert(insn->first_cause + insn->cause_count <= analysis->cause_count);
		for (uint32_t k = 0; k < insn->cause_count; k++) {
			const struct hp_cause *cause = &analysis->causes[insn->first_cause + k];

			likely += cause->likely;
			ck_assert(k == 0 || cause->likely <= cause[-1].likely);
		}
		/* Those that explain almost nothing are not listed. */
		if (insn->cause_count) {
			ck_assert_double_ge((likely + 0.01) * insn->cycles, insn->stalled.low);
			ck_assert_double_le((likely - 1e-6) * insn->cycles, insn->stalled.high);
		}
		ck_assert_double_le(insn->stalled.high, insn->cycles * (1 + 1e-9));
		ck_assert_double_le(likely, 1 + 1e-6);
	}
}

/* A little of everything: loads, stores, a division, branches, a loop in a loop, a call. */
static const uint8_t mixture[] = {
	0x55,			   /* 0 push rbp */
	0x31, 0xc0,		   /* 1 xor eax, eax */
	0xb9, 10,   0,	  0,	0, /* 3 mov ecx, 10 */
	0x48, 0x8b, 0x1f,	   /* 8 mov rbx, [rdi] */
	0x48, 0x01, 0xd8,	   /* 11 add rax, rbx */
	0x88, 0x47, 3,		   /* 14 mov [rdi + 3], al */
	0x48, 0x83, 0xc7, 8,	   /* 17 add rdi, 8 */
	0xa8, 1,		   /* 21 test al, 1 */
	0x74, 3,		   /* 23 jz 28 */
	0x48, 0xf7, 0xf1,	   /* 25 div rcx */
	0xf2, 0x0f, 0x58, 0xc1,	   /* 28 addsd xmm0, xmm1 */
	0xff, 0xc9,		   /* 32 dec ecx */
	0x75, 0xe4,		   /* 34 jnz 8 */
	0xe8, 4,    0,	  0,	0, /* 36 call 45 */
	0x48, 0xff, 0xce,	   /* 41 dec rsi */
	0x90,			   /* 44 nop */
	0x75, 0xd4,		   /* 45 jnz 3 */
	0x5d,			   /* 47 pop rbp */
	RET,			   /* 48 */
};

TEST(the_sheet_adds_up_to_its_cycles_whatever_the_samples)
{
	static const uint8_t places[] = { 0,  1,  3,  8,  11, 14, 17, 21, 23, 25,
					  28, 32, 34, 36, 41, 44, 45, 47, 48 };
	static const uint8_t leaders[] = { 0, 3, 8, 25, 28, 36, 47 };
	struct hp_random random = hp_random_seeded(20);
	struct hp_stall_sheet sum = { 0 };
	double cycles = 0;

	for (unsigned round = 0; round < 200; round++) {
		begin(mixture, sizeof(mixture));
		for (size_t i = 0; i < sizeof(places); i++) {
			uint64_t size = hp_random_between(&random, 0, 30);

			if (size > 15)
				continue;
			samples[sample_count++] = (struct hp_sampled){
				.address = { FUZZ_CODE_ADDRESS + places[i] },
				.samples = (double)hp_random_between(&random, 0, 1u << size),
				.cycles = (double)hp_random_between(&random, 0, 1ull << 2 * size),
			};
		}
		/* Counts that flow and time may contradict. */
		for (size_t i = 0; round % 2 && i < sizeof(leaders); i++)
			if (hp_random_between(&random, 0, 1))
				runs(leaders[i],
				     (double)hp_random_between(
					     &random, 0,
					     1ull << hp_random_between(&random, 0, 40)));
		insn_at(0);
		check_sheet(&found->sheet);
		check_causes(found);
		cycles += found->sheet.cycles;
		hp_stall_sheet_add(&sum, &found->sheet, 0);
	}
	check_sheet(&sum);
	ck_assert_double_eq_tol(sum.cycles, cycles, 1e-6 * cycles);
	hp_stall_sheet_limit(&sum);
	check_sheet(&sum);
}

TEST(the_ends_of_several_ranges_do_not_happen_all_at_once)
{
	const struct hp_range range = { 8, 14 };
	struct hp_range_sum sum = { 0 }, unknown = { 0 }, beyond = { 0 };
	struct hp_range all;

	for (int i = 0; i < 4; i++) {
		hp_range_sum_add(&sum, &range, 10, 0);
		hp_range_sum_add(&unknown, &range, 10, 100);
		hp_range_sum_add(&beyond, &range, 20, 0);
	}
	/* More than if nothing were alike, and less than if all were. */
	all = hp_range_sum_get(&sum);
	ck_assert_double_lt(all.low, 40 - sqrt(4 * 4));
	ck_assert_double_gt(all.low, 40 - 4 * 2);
	ck_assert_double_gt(all.high, 40 + sqrt(4 * 16));
	ck_assert_double_lt(all.high, 40 + 4 * 4);
	all = hp_range_sum_get(&unknown);
	ck_assert_double_eq(all.low, 32);
	ck_assert_double_eq(all.high, 56);
	all = hp_range_sum_get(&beyond);
	ck_assert_double_eq(all.high, 56);
	ck_assert_double_lt(all.low, 56 - sqrt(4 * 36));
}

/* Of a million rounds of 15 cycles: time alone also fits fewer rounds that wait for longer. */
TEST(execution_has_a_range_that_counts_narrow)
{
	struct hp_range guessed;

	begin(mixture, sizeof(mixture));
	takes(11, 10);
	takes(28, 5);
	insn_at(0);
	guessed = found->sheet.execution_range;
	ck_assert_double_eq(found->sheet.counted_cycles, 0);
	ck_assert_double_gt(guessed.high - guessed.low, 0.2 * found->sheet.cycles);
	begin(mixture, sizeof(mixture));
	takes(11, 10);
	takes(28, 5);
	runs(8, RUNS);
	runs(28, RUNS);
	insn_at(0);
	ck_assert_double_eq(found->sheet.counted_cycles, found->sheet.cycles);
	ck_assert_double_lt(found->sheet.execution_range.high - found->sheet.execution_range.low,
			    0.8 * (guessed.high - guessed.low));
}

/* Loads of a cycle each: each may be off by a fifth of a cycle, which its
 * neighbour lacks then. */
TEST(what_one_instruction_is_off_by_its_block_is_not)
{
	static const size_t places[] = { 0, 3, 6, 9 };
	double apart = 0;

	LOOP(LOAD_RCX_FROM_RDI, LOAD_RCX_FROM_RDI, LOAD_RCX_FROM_RDI, LOAD_RCX_FROM_RDI);
	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++)
		takes(places[i], 1);
	sees(0, HP_EVENT_L2_MISS, 1);
	simulated.is_everywhere = simulated.is_timed = true;
	simulated.as_is = simulated.without_dcache = simulated.without_dtlb = 1;
	simulated.others = 1;
	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++)
		apart += most(places[i], HP_CAUSE_DCACHE) * RUNS;
	ck_assert_double_gt(apart, 0.7 * RUNS);
	ck_assert_double_lt(found->sheet.causes[HP_CAUSE_DCACHE].high, 0.3 * apart);
}

/* One more, or four, that were seen as often to have no event. */
TEST(events_that_no_instruction_had_take_no_more_than_those_of_one)
{
	struct hp_prediction few;

	LOOP(LOAD_RAX_FROM_RAX, LOAD_RCX_FROM_RDI);
	sees(0, HP_EVENT_L1_MISS, 1);
	insn_at(0);
	few = found->prediction;
	ck_assert_double_gt(few.unseen[HP_CAUSE_DTLB], 0);
	ck_assert_double_gt(few.unseen_far, 0);
	LOOP(LOAD_RAX_FROM_RAX, LOAD_RCX_FROM_RDI, LOAD_RCX_FROM_RDI, LOAD_RCX_FROM_RDI,
	     LOAD_RCX_FROM_RDI);
	sees(0, HP_EVENT_L1_MISS, 1);
	insn_at(0);
	ck_assert_double_eq_tol(found->prediction.unseen[HP_CAUSE_DTLB], few.unseen[HP_CAUSE_DTLB],
				1e-6 * few.unseen[HP_CAUSE_DTLB]);
	ck_assert_double_eq_tol(found->prediction.unseen_far, few.unseen_far,
				1e-6 * few.unseen_far);
	ck_assert_double_eq_tol(found->prediction.most[HP_CAUSE_DTLB], few.most[HP_CAUSE_DTLB], 1);
	/* In moments that no window saw each may have any. */
	LOOP(LOAD_RAX_FROM_RAX, LOAD_RCX_FROM_RDI);
	sees(0, HP_EVENT_L1_MISS, 1);
	simulated.apart = 0.1;
	insn_at(0);
	simulated.apart = 0;
	ck_assert_double_eq(found->prediction.unseen_far, 0);
	ck_assert_double_gt(found->prediction.most_far, 0.1 * RUNS);
}

static double waits_for_data(void)
{
	return found->sheet.likely[HP_CAUSE_DCACHE] + found->sheet.likely[HP_CAUSE_DTLB];
}

#define IMUL_RCX 0x48, 0x0f, 0xaf, 0xc9

/* A chain of multiplications follows, of 12 cycles at best. */
static void wait_for_a_load(double chain)
{
	LOOP(LOAD_RAX_FROM_RAX, ADD_RAX_RBX, 0x74, 0 /* jz to the next */, IMUL_RCX, IMUL_RCX,
	     IMUL_RCX, IMUL_RCX);
	takes(0, STALL);
	takes(8, chain);
	insn_at(0);
	check_sheet(&found->sheet);
}

TEST(what_is_executed_while_a_load_waits_comes_off_its_miss)
{
	struct hp_range all;
	double waits;

	wait_for_a_load(12);
	all = found->sheet.families[HP_FAMILY_DATA];
	waits = waits_for_data();
	ck_assert_double_gt(all.low, 0.9 * STALL * RUNS);
	wait_for_a_load(2);
	ck_assert_double_eq_tol(waits_for_data(), waits - 10.0 * RUNS, 0.1 * RUNS);
	ck_assert_double_eq_tol(found->sheet.families[HP_FAMILY_DATA].low, all.low - 10.0 * RUNS,
				1.0 * RUNS);
	ck_assert_double_eq_tol(found->sheet.families[HP_FAMILY_DATA].high, all.high, 0.1 * RUNS);
	ck_assert_double_lt(found->sheet.unexplained_gain, 0.1 * RUNS);
}

/* Half of the times a jump over one instruction, which is late; then 4 cycles at best. */
static void wait_for_a_branch(double chain)
{
	LOOP(ADD_RAX_RBX, 0x74, 4 /* jz */, ADD_RDX_1, IMUL_RCX, IMUL_RCX, IMUL_RCX, IMUL_RCX);
	runs(5, 0.5 * RUNS);
	takes(5, 15);
	takes(9, chain);
	insn_at(0);
	check_sheet(&found->sheet);
}

TEST(nothing_is_executed_while_a_branch_was_wrong)
{
	double lost;

	wait_for_a_branch(4);
	lost = found->sheet.likely[HP_CAUSE_MISPREDICT];
	ck_assert_double_gt(lost, 10.0 * RUNS);
	wait_for_a_branch(2);
	ck_assert_double_eq_tol(found->sheet.likely[HP_CAUSE_MISPREDICT], lost, 0.1 * RUNS);
	ck_assert_double_eq_tol(found->sheet.unexplained_gain, 2.0 * RUNS, 0.1 * RUNS);
}

TEST(causes_of_a_whole_program_take_no_more_than_its_events)
{
	struct hp_stall_sheet sheet = { .cycles = 100 }, sum = { 0 };

	for (unsigned i = 0; i < HP_CAUSE_DYNAMIC_COUNT; i++)
		sheet.most[i] = INFINITY;
	sheet.causes[HP_CAUSE_DCACHE] = (struct hp_range){ 2, 60 };
	sheet.likely[HP_CAUSE_DCACHE] = 5;
	sheet.most[HP_CAUSE_DCACHE] = 8;
	sheet.unseen[HP_CAUSE_DCACHE] = 1;
	sheet.causes[HP_CAUSE_DTLB] = (struct hp_range){ 0, 60 };
	sheet.likely[HP_CAUSE_DTLB] = 4;
	sheet.most[HP_CAUSE_DTLB] = 3;
	sheet.causes[HP_CAUSE_FETCH] = (struct hp_range){ 0, 30 };
	sheet.families[HP_FAMILY_DATA] = (struct hp_range){ 2, 60 };
	hp_stall_sheet_add(&sum, &sheet, 0);
	hp_stall_sheet_limit(&sum);
	ck_assert_double_eq(sum.causes[HP_CAUSE_DCACHE].high, 9);
	ck_assert_double_eq(sum.causes[HP_CAUSE_DTLB].high, 4);
	ck_assert_double_eq(sum.causes[HP_CAUSE_FETCH].high, 30);
	ck_assert_double_eq(sum.families[HP_FAMILY_DATA].high, 13);
	ck_assert_double_eq(sum.families[HP_FAMILY_DATA].low, 2);
}

HP_TEST_MAIN("analyze/sheet")
