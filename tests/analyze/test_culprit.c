/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is suspected of a stall and who is not. Each rule that clears a cause has code that it clears
 * and code, a little different, that it must not. Code runs a million times, by exact counts, and
 * one instruction of it has 200 cycles of each, on the spot (no skid).
 */
#include "../program.h"
#include "../support.h"

#include <hpcprof/analyze/analysis.h>

#include <math.h>

enum { RUNS = 1000000, STALL = 200, MOST_PLACES = 64 };

static const uint8_t *code;
static size_t code_size;
static struct hp_sampled samples[MOST_PLACES];
static size_t sample_count;
static struct hp_evidence counts[MOST_PLACES];
static size_t count_count;
static struct hp_arena *arena;
static struct hp_cfg_image *shared;
static struct hp_analysis *found;

/* What was simulated: everything, as often; of one instruction, so many events. */
static struct {
	bool is_on;
	size_t at;
	enum hp_event_kind kind;
	double share;
	bool is_timed; /* too: so long on the core as it is, and without caches or TLBs that miss */
	double as_is, without_dcache, without_dtlb;
	double third, memory; /* where lines of unknown place are there; 0: none is unknown */
	double walks_read;    /* page walks whose entries may be there, per execution */
	double others;	      /* each other instruction, on all cores; 0: not timed */
} simulated;

/* What counters say that a cause took at most, in cycles of one execution; NULL: nothing. */
static const double *limits;

static bool happened(const void *context, hp_link_address address, struct hp_happened *seen)
{
	static double cycles[HP_LANES], others[HP_LANES];

	(void)context;
	*seen = (struct hp_happened){ .runs = RUNS };
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		others[lane] = RUNS * simulated.others;
	seen->cycles = simulated.is_timed && simulated.others > 0 ? others : NULL;
	for (size_t kind = 0; kind < HP_EVENT_KINDS; kind++)
		seen->most[kind] = 3.0 / RUNS;
	if (address.value == FUZZ_CODE_ADDRESS + simulated.at) {
		seen->mean[simulated.kind] = simulated.share;
		seen->most[simulated.kind] = 1.1 * simulated.share;
		if (simulated.is_timed)
			seen->mean[HP_EVENT_TLB2_MISS] = seen->most[HP_EVENT_TLB2_MISS] =
				seen->mean[HP_EVENT_DTLB_MISS] = seen->most[HP_EVENT_DTLB_MISS] = 1;
		seen->mean[HP_EVENT_WALK_UNKNOWN] = simulated.walks_read;
		if (simulated.walks_read > 0)
			seen->most[HP_EVENT_WALK_UNKNOWN] = simulated.walks_read;
		seen->cycles = simulated.is_timed ? cycles : NULL;
		for (unsigned lane = 0; lane < HP_LANES; lane++)
			cycles[lane] = RUNS * simulated.as_is;
		cycles[HP_LANE_WIDTH] = cycles[HP_LANE_IDEAL] = RUNS;
		cycles[HP_LANE_NO_DCACHE] = RUNS * simulated.without_dcache;
		cycles[HP_LANE_NO_DTLB] = RUNS * simulated.without_dtlb;
		if (simulated.memory > 0) {
			cycles[HP_LANE_THIRD] = RUNS * simulated.third;
			cycles[HP_LANE_MEMORY] = RUNS * simulated.memory;
		}
	}
	return true;
}

static void analyse(struct hp_image *image)
{
	struct hp_analysis_options options = { .core = hp_core_named("granite-rapids") };
	struct hp_analysis_input input = {
		.image = image,
		.samples = samples,
		.sample_count = sample_count,
		.evidence = counts,
		.evidence_count = count_count,
		.most_cycles = limits,
		.happened = simulated.is_on ? happened : NULL,
	};
	struct hp_cfg *cfg;

	hp_assert_ok(hp_cfg_image_create(image, &shared));
	hp_assert_ok(hp_cfg_create(
		shared, hp_image_procedure_at(image, (hp_link_address){ FUZZ_CODE_ADDRESS }), arena,
		&cfg));
	input.cfg = cfg;
	hp_assert_ok(hp_analysis_create(&input, &options, arena, &found));
	hp_cfg_image_destroy(shared);
}

static void begin(const uint8_t *bytes, size_t size)
{
	hp_arena_destroy(arena);
	arena = hp_arena_create();
	ck_assert_ptr_nonnull(arena);
	code = bytes;
	code_size = size;
	sample_count = count_count = 0;
	found = NULL;
	simulated.is_on = simulated.is_timed = false;
	limits = NULL;
	simulated.third = simulated.memory = simulated.others = simulated.walks_read = 0;
}

static void sees(size_t at, enum hp_event_kind kind, double share)
{
	simulated.is_on = true;
	simulated.at = at;
	simulated.kind = kind;
	simulated.share = share;
}

static void takes(size_t at, double cycles_each)
{
	samples[sample_count++] = (struct hp_sampled){
		.address = { FUZZ_CODE_ADDRESS + at },
		.samples = cycles_each * 100,
		.cycles = cycles_each * RUNS,
	};
}

static void runs(size_t at, double times)
{
	counts[count_count++] = (struct hp_evidence){ .kind = HP_EVIDENCE_COUNT,
						      .address = { FUZZ_CODE_ADDRESS + at },
						      .value = times };
}

static const struct hp_analysed_insn *insn_at(size_t at)
{
	if (!found)
		fuzz_with_image(code, code_size, analyse);
	ck_assert_ptr_nonnull(found);
	for (size_t i = 0; i < found->insn_count; i++)
		if (found->insns[i].insn->address == FUZZ_CODE_ADDRESS + at)
			return &found->insns[i];
	ck_abort_msg("no instruction at %zu", at);
	return NULL;
}

/* The most that the cause can explain of the instruction's time. */
static double most(size_t at, enum hp_cause_kind kind)
{
	const struct hp_analysed_insn *insn = insn_at(at);
	double sum = 0;

	for (uint32_t i = 0; i < insn->cause_count; i++)
		if (found->causes[insn->first_cause + i].kind == kind)
			sum += found->causes[insn->first_cause + i].high;
	return sum;
}

/* The least that it must explain. */
static double least(size_t at, enum hp_cause_kind kind)
{
	const struct hp_analysed_insn *insn = insn_at(at);
	double sum = 0;

	for (uint32_t i = 0; i < insn->cause_count; i++)
		if (found->causes[insn->first_cause + i].kind == kind)
			sum += found->causes[insn->first_cause + i].low;
	return sum;
}

/* Where the likeliest suspect of that cause is; SIZE_MAX without one. */
static size_t culprit(size_t at, enum hp_cause_kind kind)
{
	const struct hp_analysed_insn *insn = insn_at(at);

	for (uint32_t i = 0; i < insn->cause_count; i++) {
		const struct hp_cause *cause = &found->causes[insn->first_cause + i];

		if (cause->kind == kind)
			return cause->has_culprit ? cause->culprit.value - FUZZ_CODE_ADDRESS
						  : SIZE_MAX;
	}
	return SIZE_MAX;
}

static const struct hp_cause *first_cause(size_t at)
{
	const struct hp_analysed_insn *insn = insn_at(at);

	ck_assert_uint_gt(insn->cause_count, 0);
	return &found->causes[insn->first_cause];
}

/* The bytes are a loop that ends with dec rsi; jnz to its begin, and return after it. */
#define DEC_RSI 0x48, 0xff, 0xce
#define RET	0xc3
#define LOOP(...)                                                                                  \
	do {                                                                                       \
		static const uint8_t body[] = { __VA_ARGS__ };                                     \
		static uint8_t bytes[sizeof(body) + 6];                                            \
		const uint8_t tail[] = { DEC_RSI, 0x75, (uint8_t)(1 - sizeof(bytes)), RET };       \
                                                                                                   \
		memcpy(bytes, body, sizeof(body));                                                 \
		memcpy(bytes + sizeof(body), tail, sizeof(tail));                                  \
		begin(bytes, sizeof(bytes));                                                       \
		runs(0, RUNS);                                                                     \
		runs(sizeof(bytes) - 1, 10);                                                       \
	} while (0)
/* Straight code that returns. */
#define CODE(...)                                                                                  \
	do {                                                                                       \
		static const uint8_t bytes[] = { __VA_ARGS__, RET };                               \
                                                                                                   \
		begin(bytes, sizeof(bytes));                                                       \
		runs(0, RUNS);                                                                     \
	} while (0)

#define LOAD_RAX_FROM_RAX 0x48, 0x8b, 0x00
#define LOAD_RCX_FROM_RDI 0x48, 0x8b, 0x0f
#define ADD_RAX_RBX	  0x48, 0x01, 0xd8
#define ADD_RCX_1	  0x48, 0x83, 0xc1, 1
#define ADD_RDX_1	  0x48, 0x83, 0xc2, 1

/* --- data cache and TLB ----------------------------------------------------------------------- */

TEST(what_does_not_load_has_no_cache_miss)
{
	LOOP(ADD_RAX_RBX);
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_DCACHE), 0);
	ck_assert_double_eq(most(0, HP_CAUSE_DTLB), 0);
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
	ck_assert_uint_eq(culprit(0, HP_CAUSE_DCACHE), 0);
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.5);
}

TEST(the_stack_is_in_the_cache)
{
	CODE(0x48, 0x8b, 0x44, 0x24, 8); /* mov rax, [rsp + 8] */
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_DCACHE), 0);
	CODE(0x48, 0x8b, 0x47, 8); /* mov rax, [rdi + 8] */
	takes(0, STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
}

TEST(a_load_whose_result_is_at_work_is_done)
{
	/* mov rcx, [rdi]; add rcx, 1: by then the load has retired */
	CODE(LOAD_RCX_FROM_RDI, ADD_RCX_1);
	takes(3, STALL);
	ck_assert_double_eq(most(3, HP_CAUSE_DCACHE), 0);
	/* mov rcx, [rdi]; add rdx, 1: the two retire together */
	CODE(LOAD_RCX_FROM_RDI, ADD_RDX_1);
	takes(3, STALL);
	ck_assert_double_gt(most(3, HP_CAUSE_DCACHE), 0.9);
	ck_assert_uint_eq(culprit(3, HP_CAUSE_DCACHE), 0);
}

TEST(an_address_that_stays_misses_when_its_loop_begins)
{
	LOOP(LOAD_RCX_FROM_RDI);
	takes(0, STALL);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.01); /* ten entries of a million */
	LOOP(LOAD_RCX_FROM_RDI, 0x48, 0x89, 0xcf);	     /* mov rdi, rcx */
	takes(0, STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.9);
}

TEST(a_stride_misses_as_often_as_it_enters_lines_and_pages)
{
	double small;

	/* mov rcx, [rdi]; add rdi, 8: in 512 iterations one page, each with a walk of well below
	 * ten thousand cycles */
	LOOP(LOAD_RCX_FROM_RDI, 0x48, 0x83, 0xc7, 8);
	takes(0, STALL);
	small = most(0, HP_CAUSE_DTLB);
	ck_assert_double_lt(small, 0.1);
	/* add rdi, 4096 */
	LOOP(LOAD_RCX_FROM_RDI, 0x48, 0x81, 0xc7, 0, 0x10, 0, 0);
	takes(0, STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_DTLB), 0.9);
	ck_assert_uint_eq(first_cause(0)->kind, HP_CAUSE_DTLB);
}

TEST(a_table_that_a_mask_keeps_small_fits)
{
	/* mov ecx, eax; and ecx, 1023; mov rdx, [rdi + rcx * 8]; imul rax, rax, 13 */
	LOOP(0x89, 0xc1, 0x81, 0xe1, 0xff, 3, 0, 0, 0x48, 0x8b, 0x14, 0xcf, 0x48, 0x6b, 0xc0, 13);
	takes(8, STALL);
	ck_assert_double_lt(most(8, HP_CAUSE_DCACHE), 0.1);
	/* and ecx, 0xffffff */
	LOOP(0x89, 0xc1, 0x81, 0xe1, 0xff, 0xff, 0xff, 0, 0x48, 0x8b, 0x14, 0xcf, 0x48, 0x6b, 0xc0,
	     13);
	takes(8, STALL);
	ck_assert_double_gt(most(8, HP_CAUSE_DCACHE), 0.9);
}

/* --- what was simulated ----------------------------------------------------------------------- */

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

/* --- what counters say ------------------------------------------------------------------------ */

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

/* Lines that may be anywhere explain what nothing else does; page tables only where they may be there, too. */
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
TEST(where_the_loop_fits_better_its_shares_hold_for_each_instruction)
{
	for (int loops = 0; loops < 2; loops++) {
		const uint8_t once[] = { 0x48, 0x8b, 0x00, 0x74, 0,  0x48,
					 0x01, 0xcb, 0x90, 0x90, RET };
		const uint8_t round[] = { 0x48, 0x8b, 0x00, 0x74, 0,  0x48,
					  0x01, 0xcb, 0x75, 0xf6, RET };

		begin(loops ? round : once, sizeof(once));
		runs(0, RUNS);
		takes(5, STALL);
		sees(0, HP_EVENT_L2_MISS, 1);
		simulated.is_timed = true;
		simulated.others = 0.1;
		simulated.as_is = simulated.without_dtlb = STALL;
		simulated.without_dcache = 0.1 * STALL;
		if (loops)
			ck_assert_double_gt(least(5, HP_CAUSE_DCACHE), 0.6);
		else
			ck_assert_double_lt(least(5, HP_CAUSE_DCACHE), 0.3);
	}
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

TEST(seldom_misses_explain_no_more_than_they_cost)
{
	LOOP(LOAD_RAX_FROM_RAX);
	takes(0, STALL);
	sees(0, HP_EVENT_L2_MISS, 0.02);
	ck_assert_double_gt(most(0, HP_CAUSE_DCACHE), 0.02);
	ck_assert_double_lt(most(0, HP_CAUSE_DCACHE), 0.3);
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

TEST(a_store_through_another_register_may_be_what_a_load_waits_for)
{
	/* … mov [rdi], ecx; mov rax, [rsi], behind what a mispredicted call delays */
	CODE(ADD_RDX_1, ADD_RDX_1, 0x89, 0x0f, 0x48, 0x8b, 0x06);
	takes(10, STALL / 10);
	sees(10, HP_EVENT_FORWARD_FAILED, 1);
	ck_assert_double_gt(least(10, HP_CAUSE_STORE_FORWARD), 0.5);
	ck_assert_uint_eq(culprit(10, HP_CAUSE_STORE_FORWARD), 10);
}

TEST(what_only_names_memory_does_not_load)
{
	CODE(0x66, 0x0f, 0x1f, 0x04, 0x07); /* nop word [rdi + rax] */
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_DCACHE), 0);
	CODE(0x48, 0x8d, 0x04, 0x07); /* lea rax, [rdi + rax] */
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_DCACHE), 0);
}

/* --- stores ------------------------------------------------------------------------------------
 */

TEST(the_store_buffer_is_full_only_of_stores_that_may_miss)
{
	LOOP(ADD_RAX_RBX);
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_STORE_BUFFER), 0);
	LOOP(0x48, 0x89, 0x44, 0x24, 8); /* mov [rsp + 8], rax */
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_STORE_BUFFER), 0);
	LOOP(0x48, 0x89, 0x07); /* mov [rdi], rax: the same line all the time */
	takes(0, STALL);
	ck_assert_double_eq(most(0, HP_CAUSE_STORE_BUFFER), 0);
	LOOP(0x48, 0x89, 0x07, 0x48, 0x83, 0xc7, 64); /* and add rdi, 64 */
	takes(0, STALL);
	ck_assert_double_gt(most(0, HP_CAUSE_STORE_BUFFER), 0.9);
	ck_assert_uint_eq(culprit(0, HP_CAUSE_STORE_BUFFER), 0);
}

TEST(a_load_of_more_than_was_stored_cannot_be_forwarded)
{
	CODE(0x88, 0x47, 3, 0x48, 0x8b, 0x0f); /* mov [rdi + 3], al; mov rcx, [rdi] */
	takes(3, 20);
	ck_assert_double_gt(most(3, HP_CAUSE_STORE_FORWARD), 0.8);
	ck_assert_uint_eq(culprit(3, HP_CAUSE_STORE_FORWARD), 0);
	CODE(0x48, 0x89, 0x07, 0x8a, 0x4f, 3); /* mov [rdi], rax; mov cl, [rdi + 3]: is held */
	takes(3, 20);
	ck_assert_double_eq(most(3, HP_CAUSE_STORE_FORWARD), 0);
	CODE(0x88, 0x47, 8, 0x48, 0x8b, 0x0f); /* mov [rdi + 8], al: beside it */
	takes(3, 20);
	ck_assert_double_eq(most(3, HP_CAUSE_STORE_FORWARD), 0);
	CODE(0x88, 0x46, 3, 0x48, 0x8b, 0x0f); /* mov [rsi + 3], al: not known */
	takes(3, 20);
	ck_assert_double_eq(most(3, HP_CAUSE_STORE_FORWARD), 0);
}

TEST(constants_added_to_the_base_are_followed_to_the_store)
{
	/* mov [rdi + 11], al; add rdi, 8; mov rcx, [rdi] */
	CODE(0x88, 0x47, 11, 0x48, 0x83, 0xc7, 8, 0x48, 0x8b, 0x0f);
	takes(7, 20);
	ck_assert_double_gt(most(7, HP_CAUSE_STORE_FORWARD), 0.8);
	/* mov [rdi + 3], al; add rdi, 8; mov rcx, [rdi] */
	CODE(0x88, 0x47, 3, 0x48, 0x83, 0xc7, 8, 0x48, 0x8b, 0x0f);
	takes(7, 20);
	ck_assert_double_eq(most(7, HP_CAUSE_STORE_FORWARD), 0);
	/* mov [rdi + 3], al; mov rdi, rdx; mov rcx, [rdi] */
	CODE(0x88, 0x47, 3, 0x48, 0x89, 0xd7, 0x48, 0x8b, 0x0f);
	takes(6, 20);
	ck_assert_double_eq(most(6, HP_CAUSE_STORE_FORWARD), 0);
}

/* --- what takes long by itself ------------------------------------------------------------------
 */

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

/* --- instructions that come late ----------------------------------------------------------------
 */

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

/* --- what is left -------------------------------------------------------------------------------
 */

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

TEST(no_samples_no_culprits)
{
	LOOP(LOAD_RAX_FROM_RAX);
	ck_assert_uint_eq(insn_at(0)->cause_count, 0);
	ck_assert_double_eq(found->sheet.cycles, 0);
}

/* --- the sheet ----------------------------------------------------------------------------------
 */

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
