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
		/* Those that explain next to nothing are not listed. */
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
		hp_stall_sheet_add(&sum, &found->sheet);
	}
	check_sheet(&sum);
	ck_assert_double_eq_tol(sum.cycles, cycles, 1e-6 * cycles);
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

HP_TEST_MAIN("analyze/sheet")
