/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is suspected of a stall and who is not: each rule that clears a cause has code that it clears
 * and code, a little different, that it must not. */
#include "stalls.h"

/* Code and, a little different, code that must not be cleared. The bytes are straight code that
 * returns, or a loop of so many rounds as code runs. */
struct verdict {
	const char *code;
	uint8_t bytes[24];
	size_t size;
	bool loops;
	size_t at; /* what stalls, and for how long */
	double cycles;
	enum hp_cause_kind kind;
	double above, below; /* the most that this can explain of it; 0, 0: nothing */
	size_t culprit;	     /* where something above 0 is to be found; NOBODY: wherever */
};

enum { NOBODY = 99 };
#define STRAIGHT(...) { __VA_ARGS__, RET }, sizeof((uint8_t[]){ __VA_ARGS__, RET }), false
#define ROUND(...)                                                                                 \
	{ __VA_ARGS__, DEC_RSI, 0x75, (uint8_t)(-5 - (int)sizeof((uint8_t[]){ __VA_ARGS__ })),     \
	  RET },                                                                                   \
		sizeof((uint8_t[]){ __VA_ARGS__ }) + 6, true

static const struct verdict verdicts[] = {
	/* What does not load misses nothing. */
	{ "add rax, rbx", ROUND(ADD_RAX_RBX), 0, STALL, HP_CAUSE_DCACHE, 0, 0, NOBODY },
	{ "add rax, rbx", ROUND(ADD_RAX_RBX), 0, STALL, HP_CAUSE_DTLB, 0, 0, NOBODY },
	{ "mov rax, [rax]", ROUND(LOAD_RAX_FROM_RAX), 0, STALL, HP_CAUSE_DCACHE, 0.9, 1, 0 },
	{ "mov rax, [rax]", ROUND(LOAD_RAX_FROM_RAX), 0, STALL, HP_CAUSE_DTLB, 0.5, 1, NOBODY },
	{ "nop word [rdi + rax]", STRAIGHT(0x66, 0x0f, 0x1f, 0x04, 0x07), 0, STALL, HP_CAUSE_DCACHE,
	  0, 0, NOBODY },
	{ "nop word [rdi + rax]", STRAIGHT(0x66, 0x0f, 0x1f, 0x04, 0x07), 0, STALL, HP_CAUSE_DTLB,
	  0, 0, NOBODY },
	{ "lea rax, [rdi + rax]", STRAIGHT(0x48, 0x8d, 0x04, 0x07), 0, STALL, HP_CAUSE_DCACHE, 0, 0,
	  NOBODY },
	/* A prefetch waits for its page, not for its line. */
	{ "prefetcht0 [rdi + rax]", STRAIGHT(0x0f, 0x18, 0x0c, 0x07), 0, STALL, HP_CAUSE_DCACHE, 0,
	  0, NOBODY },
	{ "prefetchw [rdi + rax]", STRAIGHT(0x0f, 0x0d, 0x0c, 0x07), 0, STALL, HP_CAUSE_DCACHE, 0,
	  0, NOBODY },
	{ "prefetcht0 [rdi + rax]", STRAIGHT(0x0f, 0x18, 0x0c, 0x07), 0, STALL, HP_CAUSE_DTLB, 0.9,
	  1, 0 },
	/* The stack is in the cache. */
	{ "mov rax, [rsp + 8]", STRAIGHT(0x48, 0x8b, 0x44, 0x24, 8), 0, STALL, HP_CAUSE_DCACHE, 0,
	  0, NOBODY },
	{ "mov rax, [rdi + 8]", STRAIGHT(0x48, 0x8b, 0x47, 8), 0, STALL, HP_CAUSE_DCACHE, 0.9, 1,
	  NOBODY },
	/* When its result is at work a load has retired; what does not use it retires with it. */
	{ "mov rcx, [rdi]; add rcx, 1", STRAIGHT(LOAD_RCX_FROM_RDI, ADD_RCX_1), 3, STALL,
	  HP_CAUSE_DCACHE, 0, 0, NOBODY },
	{ "mov rcx, [rdi]; add rdx, 1", STRAIGHT(LOAD_RCX_FROM_RDI, ADD_RDX_1), 3, STALL,
	  HP_CAUSE_DCACHE, 0.9, 1, 0 },
	/* An address that stays misses when its loop begins: ten times of a million. */
	{ "mov rcx, [rdi]", ROUND(LOAD_RCX_FROM_RDI), 0, STALL, HP_CAUSE_DCACHE, 0, 0.01, NOBODY },
	{ "mov rcx, [rdi]; mov rdi, rcx", ROUND(LOAD_RCX_FROM_RDI, 0x48, 0x89, 0xcf), 0, STALL,
	  HP_CAUSE_DCACHE, 0.9, 1, NOBODY },
	/* A stride misses as often as it enters pages: one in 512 rounds, with a walk of well below
	 * ten thousand cycles, or one in each. */
	{ "mov rcx, [rdi]; add rdi, 8", ROUND(LOAD_RCX_FROM_RDI, 0x48, 0x83, 0xc7, 8), 0, STALL,
	  HP_CAUSE_DTLB, 0, 0.1, NOBODY },
	{ "mov rcx, [rdi]; add rdi, 4096",
	  ROUND(LOAD_RCX_FROM_RDI, 0x48, 0x81, 0xc7, 0, 0x10, 0, 0), 0, STALL, HP_CAUSE_DTLB, 0.9,
	  1, NOBODY },
	/* A table that a mask keeps small fits. */
	{ "mov ecx, eax; and ecx, 1023; mov rdx, [rdi + rcx * 8]; imul rax, rax, 13",
	  ROUND(0x89, 0xc1, 0x81, 0xe1, 0xff, 3, 0, 0, 0x48, 0x8b, 0x14, 0xcf, 0x48, 0x6b, 0xc0,
		13),
	  8, STALL, HP_CAUSE_DCACHE, 0, 0.1, NOBODY },
	{ "the same with and ecx, 0xffffff",
	  ROUND(0x89, 0xc1, 0x81, 0xe1, 0xff, 0xff, 0xff, 0, 0x48, 0x8b, 0x14, 0xcf, 0x48, 0x6b,
		0xc0, 13),
	  8, STALL, HP_CAUSE_DCACHE, 0.9, 1, NOBODY },
	/* The store buffer is full only of stores that may miss. */
	{ "add rax, rbx", ROUND(ADD_RAX_RBX), 0, STALL, HP_CAUSE_STORE_BUFFER, 0, 0, NOBODY },
	{ "mov [rsp + 8], rax", ROUND(0x48, 0x89, 0x44, 0x24, 8), 0, STALL, HP_CAUSE_STORE_BUFFER,
	  0, 0, NOBODY },
	{ "mov [rdi], rax: the same line in each round", ROUND(0x48, 0x89, 0x07), 0, STALL,
	  HP_CAUSE_STORE_BUFFER, 0, 0, NOBODY },
	{ "mov [rdi], rax; add rdi, 64", ROUND(0x48, 0x89, 0x07, 0x48, 0x83, 0xc7, 64), 0, STALL,
	  HP_CAUSE_STORE_BUFFER, 0.9, 1, 0 },
	/* A load of more than was stored cannot be forwarded. */
	{ "mov [rdi + 3], al; mov rcx, [rdi]", STRAIGHT(0x88, 0x47, 3, 0x48, 0x8b, 0x0f), 3, 20,
	  HP_CAUSE_STORE_FORWARD, 0.8, 1, 0 },
	{ "mov [rdi], rax; mov cl, [rdi + 3]: is held", STRAIGHT(0x48, 0x89, 0x07, 0x8a, 0x4f, 3),
	  3, 20, HP_CAUSE_STORE_FORWARD, 0, 0, NOBODY },
	{ "mov [rdi + 8], al; mov rcx, [rdi]: beside it", STRAIGHT(0x88, 0x47, 8, 0x48, 0x8b, 0x0f),
	  3, 20, HP_CAUSE_STORE_FORWARD, 0, 0, NOBODY },
	{ "mov [rsi + 3], al; mov rcx, [rdi]: not known", STRAIGHT(0x88, 0x46, 3, 0x48, 0x8b, 0x0f),
	  3, 20, HP_CAUSE_STORE_FORWARD, 0, 0, NOBODY },
	{ "mov [rdi + 3], al; prefetcht0 [rdi]", STRAIGHT(0x88, 0x47, 3, 0x0f, 0x18, 0x0f), 3, 20,
	  HP_CAUSE_STORE_FORWARD, 0, 0, NOBODY },
	/* Constants added to the base are followed to the store. */
	{ "mov [rdi + 11], al; add rdi, 8; mov rcx, [rdi]",
	  STRAIGHT(0x88, 0x47, 11, 0x48, 0x83, 0xc7, 8, 0x48, 0x8b, 0x0f), 7, 20,
	  HP_CAUSE_STORE_FORWARD, 0.8, 1, NOBODY },
	{ "mov [rdi + 3], al; add rdi, 8; mov rcx, [rdi]",
	  STRAIGHT(0x88, 0x47, 3, 0x48, 0x83, 0xc7, 8, 0x48, 0x8b, 0x0f), 7, 20,
	  HP_CAUSE_STORE_FORWARD, 0, 0, NOBODY },
	{ "mov [rdi + 3], al; mov rdi, rdx; mov rcx, [rdi]",
	  STRAIGHT(0x88, 0x47, 3, 0x48, 0x89, 0xd7, 0x48, 0x8b, 0x0f), 6, 20,
	  HP_CAUSE_STORE_FORWARD, 0, 0, NOBODY },
};

TEST(memory_is_cleared_by_what_the_code_says_of_it)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(verdicts); i++) {
		const struct verdict *verdict = &verdicts[i];
		double can;

		begin(verdict->bytes, verdict->size);
		runs(0, RUNS);
		if (verdict->loops)
			runs(verdict->size - 1, 10);
		takes(verdict->at, verdict->cycles);
		can = most(verdict->at, verdict->kind);
		ck_assert_msg(verdict->below > 0 ? can >= verdict->above && can <= verdict->below
						 : can == 0,
			      "%s, %s: %g", verdict->code, hp_cause_name(verdict->kind), can);
		if (verdict->culprit != NOBODY)
			ck_assert_msg(culprit(verdict->at, verdict->kind) == verdict->culprit, "%s",
				      verdict->code);
	}
}

TEST(where_each_round_enters_a_page_the_tlb_is_the_first_to_be_named)
{
	LOOP(LOAD_RCX_FROM_RDI, 0x48, 0x81, 0xc7, 0, 0x10, 0, 0); /* add rdi, 4096 */
	takes(0, STALL);
	ck_assert_uint_eq(first_cause(0)->kind, HP_CAUSE_DTLB);
}

struct unit {
	const char *name;
	uint8_t bytes[8];
	size_t size;
	enum hp_cause_kind kind;
};

TEST(long_instructions_go_by_the_name_of_their_unit)
{
	static const struct unit units[] = {
		{ "div rcx", { 0x48, 0xf7, 0xf1 }, 3, HP_CAUSE_DIVIDER },
		{ "idiv ecx", { 0xf7, 0xf9 }, 2, HP_CAUSE_DIVIDER },
		{ "sqrtsd xmm0, xmm0", { 0xf2, 0x0f, 0x51, 0xc0 }, 4, HP_CAUSE_DIVIDER },
		{ "divsd xmm0, xmm1", { 0xf2, 0x0f, 0x5e, 0xc1 }, 4, HP_CAUSE_DIVIDER },
		{ "imul rax, rbx", { 0x48, 0x0f, 0xaf, 0xc3 }, 4, HP_CAUSE_MULTIPLIER },
		{ "mul rcx", { 0x48, 0xf7, 0xe1 }, 3, HP_CAUSE_MULTIPLIER },
		{ "addsd xmm0, xmm1", { 0xf2, 0x0f, 0x58, 0xc1 }, 4, HP_CAUSE_FP_LATENCY },
		{ "mulps xmm0, xmm1", { 0x0f, 0x59, 0xc1 }, 3, HP_CAUSE_FP_LATENCY },
		{ "cvtsi2sd xmm0, rax", { 0xf2, 0x48, 0x0f, 0x2a, 0xc0 }, 5, HP_CAUSE_FP_LATENCY },
		{ "lock add [rdi], rax", { 0xf0, 0x48, 0x01, 0x07 }, 4, HP_CAUSE_SYNC },
		{ "xchg [rdi], rax", { 0x48, 0x87, 0x07 }, 3, HP_CAUSE_SYNC },
		{ "mfence", { 0x0f, 0xae, 0xf0 }, 3, HP_CAUSE_SYNC },
		{ "cpuid", { 0x0f, 0xa2 }, 2, HP_CAUSE_SYNC },
		{ "rdtsc", { 0x0f, 0x31 }, 2, HP_CAUSE_SYNC },
		{ "pause", { 0xf3, 0x90 }, 2, HP_CAUSE_SYNC },
	};
	static const enum hp_cause_kind all[] = { HP_CAUSE_DIVIDER, HP_CAUSE_MULTIPLIER,
						  HP_CAUSE_FP_LATENCY, HP_CAUSE_SYNC };

	for (size_t i = 0; i < HP_ARRAY_COUNT(units); i++) {
		static uint8_t bytes[16];

		memcpy(bytes, units[i].bytes, units[i].size);
		bytes[units[i].size] = RET;
		begin(bytes, units[i].size + 1);
		runs(0, RUNS);
		takes(0, 10);
		for (size_t k = 0; k < HP_ARRAY_COUNT(all); k++)
			ck_assert_msg((most(0, all[k]) > 0) == (all[k] == units[i].kind), "%s: %s",
				      units[i].name, hp_cause_name(all[k]));
		ck_assert_uint_eq(culprit(0, units[i].kind), 0);
	}
}

/* What reads the result waits a little more where that comes after the instruction has retired. */
static double reader_waits(const char *core, const uint8_t *bytes, size_t size,
			   enum hp_cause_kind kind)
{
	begin(bytes, size);
	runs(0, RUNS);
	core_name = core;
	takes(0, 60);
	takes(3, 60);
	return 60 * most(3, kind);
}

TEST(results_of_loads_and_divisions_may_come_after_these_have_retired)
{
	static const uint8_t loads[] = { LOAD_RCX_FROM_RDI, ADD_RCX_1, RET };
	static const uint8_t divides[] = { 0x48, 0xf7, 0xf1, 0x48, 0x83, 0xc0, 1, RET };
	static const uint8_t multiplies[] = { 0x48, 0xf7, 0xe1, 0x48, 0x83, 0xc0, 1, RET };
	double late = hp_core_named("zen-5")->late_result_cycles;

	/* As many samples may be there by chance. */
	ck_assert_double_gt(late, 1);
	ck_assert_double_eq_tol(reader_waits("zen-5", loads, sizeof(loads), HP_CAUSE_DCACHE), late,
				0.5);
	ck_assert_double_eq_tol(reader_waits("zen-5", loads, sizeof(loads), HP_CAUSE_DTLB), late,
				0.5);
	ck_assert_double_eq_tol(reader_waits("zen-5", divides, sizeof(divides), HP_CAUSE_DIVIDER),
				late, 0.5);
	/* When a product comes is known beforehand. */
	ck_assert_double_eq(
		reader_waits("zen-5", multiplies, sizeof(multiplies), HP_CAUSE_MULTIPLIER), 0);
	ck_assert_double_eq(
		reader_waits("granite-rapids", divides, sizeof(divides), HP_CAUSE_DIVIDER), 0);
}

TEST(plain_instructions_are_none_of_them)
{
	CODE(ADD_RAX_RBX, 0x0f, 0x28, 0xc1, 0x48, 0x01,
	     0x07); /* movaps xmm0, xmm1; add [rdi], rax */
	takes(0, 10);
	takes(3, 10);
	takes(6, 10);
	for (size_t at = 0; at <= 6; at += 3)
		ck_assert_double_eq(most(at, HP_CAUSE_DIVIDER) + most(at, HP_CAUSE_MULTIPLIER) +
					    most(at, HP_CAUSE_FP_LATENCY) + most(at, HP_CAUSE_SYNC),
				    0);
}

TEST(a_chain_of_multiplications_waits_for_the_multiplier_in_the_best_case)
{
	LOOP(0x48, 0x0f, 0xaf, 0xc3); /* imul rax, rbx: three cycles at least */
	takes(0, 3);
	ck_assert_uint_eq(first_cause(0)->kind, HP_CAUSE_MULTIPLIER);
	ck_assert_double_gt(first_cause(0)->likely, 0.8);
	ck_assert_double_gt(found->sheet.likely[HP_CAUSE_MULTIPLIER], 0.8 * found->sheet.cycles);
}

/* test al, 1; jz 8; 4: add rbx, rax; ret; 8: add rdx, 1; ret. The jump is taken `share` of the time
 */
static void branch(double share)
{
	static const uint8_t bytes[] = { 0xa8, 1, 0x74, 4, 0x48, 0x01, 0xc3, RET, ADD_RDX_1, RET };

	begin(bytes, sizeof(bytes));
	runs(0, RUNS);
	runs(4, (1 - share) * RUNS);
	runs(8, share * RUNS);
}

TEST(a_branch_costs_no_more_than_its_rarer_way_is_taken)
{
	double even;
	double rare;

	branch(0.5);
	takes(4, 20);
	even = most(4, HP_CAUSE_MISPREDICT);
	ck_assert_uint_eq(culprit(4, HP_CAUSE_MISPREDICT), 2);
	branch(0.01);
	takes(4, 20);
	rare = most(4, HP_CAUSE_MISPREDICT);
	/* At 20 cycles it can be all of it, and at one taken of a hundred little. */
	ck_assert_double_gt(even, 0.5);
	ck_assert_double_lt(rare, 0.05);
	branch(0);
	takes(4, 20);
	ck_assert_double_lt(most(4, HP_CAUSE_MISPREDICT), 0.001);
}

TEST(a_jump_that_can_go_one_way_only_is_never_mispredicted)
{
	/* add rdx, 1; jmp 7; 6: int3; 7: add rdx, 1; ret */
	CODE(ADD_RDX_1, 0xeb, 1, 0xcc, ADD_RDX_1);
	runs(7, RUNS);
	takes(7, 20);
	ck_assert_double_eq(most(7, HP_CAUSE_MISPREDICT), 0);
}

TEST(code_that_follows_in_its_line_is_in_the_cache)
{
	static uint8_t far[256];

	CODE(ADD_RDX_1, ADD_RCX_1);
	takes(4, 20);
	ck_assert_double_eq(most(4, HP_CAUSE_ICACHE), 0);
	ck_assert_double_eq(most(4, HP_CAUSE_ITLB), 0);
	/* add rdx, 1; jmp to the line after the next, and add rdx, 1; ret there */
	memset(far, 0xcc, sizeof(far));
	memcpy(far, (const uint8_t[]){ ADD_RDX_1, 0xe9, 119, 0, 0, 0 }, 9);
	memcpy(far + 128, (const uint8_t[]){ ADD_RDX_1, RET }, 5);
	begin(far, sizeof(far));
	runs(0, RUNS);
	runs(128, RUNS);
	takes(128, 20);
	ck_assert_double_gt(most(128, HP_CAUSE_ICACHE), 0.5);
	ck_assert_double_eq(most(128, HP_CAUSE_ITLB), 0); /* the same page */
}

TEST(what_nobody_can_have_done_is_unexplained)
{
	LOOP(ADD_RAX_RBX);
	takes(0, STALL);
	ck_assert_uint_eq(first_cause(0)->kind, HP_CAUSE_UNEXPLAINED);
	ck_assert_double_gt(first_cause(0)->low, 0.9);
}

TEST(chance_is_not_held_to_be_a_proof)
{
	LOOP(ADD_RAX_RBX);
	samples[sample_count++] = (struct hp_sampled){ .address = { FUZZ_CODE_ADDRESS },
						       .samples = 1,
						       .cycles = STALL * (double)RUNS };
	ck_assert_double_eq(most(0, HP_CAUSE_UNEXPLAINED), 0);
}

TEST(without_counts_it_is_not_known_how_much_is_stall)
{
	LOOP(LOAD_RAX_FROM_RAX);
	count_count = 0;
	takes(0, STALL);
	ck_assert_double_eq(first_cause(0)->low, 0);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
	ck_assert_uint_eq(first_cause(0)->kind, HP_CAUSE_DCACHE);
}

TEST(every_cause_has_the_name_of_the_contract)
{
	static const char *const names[] = { "icache",	      "itlb",	    "branch-mispredict",
					     "dcache",	      "dtlb",	    "store-buffer",
					     "store-forward", "divider",    "multiplier",
					     "fp-latency",    "sync",	    "fetch",
					     "issue-width",   "dependency", "port",
					     "unexplained" };

	ck_assert_uint_eq(HP_ARRAY_COUNT(names), HP_CAUSE_COUNT);
	for (unsigned i = 0; i < HP_CAUSE_COUNT; i++)
		ck_assert_str_eq(hp_cause_name((enum hp_cause_kind)i), names[i]);
	ck_assert_str_eq(hp_cause_name(HP_CAUSE_COUNT), "?");
}

HP_TEST_MAIN("analyze/culprit")
