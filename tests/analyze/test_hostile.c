/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Procedures made to keep whoever looks at their profile busy. What is asserted is the work that
 * was counted, not the time it took: twice the code must not take four times the work.
 */
#include "../../src/analyze/sparse.h"
#include "../program.h"
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/analyze/analysis.h>

enum { CONDITIONAL_BYTES = 6, CASE_BYTES = 7, HEAD_BYTES = 30 };

static struct hp_arena *arena;
static uint8_t *code;
static size_t code_size;
static struct hp_sampled *samples;
static size_t sample_count;
static bool frequencies_only;
static struct hp_cfg *cfg;
static struct hp_analysis *found;

static void analyse(struct hp_image *image)
{
	struct hp_analysis_options options = { .core = hp_core_named("granite-rapids"),
					       .skid_instructions = 1,
					       .frequencies_only = frequencies_only };
	struct hp_analysis_input input = { .image = image,
					   .samples = samples,
					   .sample_count = sample_count };
	_cleanup_(hp_cfg_image_destroy_scope) struct hp_cfg_image *shared;

	hp_assert_ok(hp_cfg_image_create(image, &shared));
	hp_assert_ok(hp_cfg_create(
		shared, hp_image_procedure_at(image, (hp_link_address){ FUZZ_CODE_ADDRESS }), arena,
		&cfg));
	input.cfg = cfg;
	hp_assert_ok(hp_analysis_create(&input, &options, arena, &found));
}

static void begin(size_t bytes, size_t most_samples)
{
	hp_arena_destroy(arena);
	arena = hp_arena_create();
	code = hp_arena_alloc(arena, bytes);
	samples = hp_arena_array(arena, most_samples + 1, sizeof(*samples));
	ck_assert(code && samples);
	code_size = bytes;
	sample_count = 0;
	frequencies_only = false;
	found = NULL;
}

static void sampled(size_t at, double number)
{
	samples[sample_count++] = (struct hp_sampled){ .address = { FUZZ_CODE_ADDRESS + at },
						       .samples = number,
						       .cycles = number * 1e6 };
}

static void put_distance(size_t at, size_t to)
{
	int32_t distance = (int32_t)to - (int32_t)(at + sizeof(distance));

	memcpy(&code[at], &distance, sizeof(distance));
}

/* The conditional jump numbered `i` of a row of them, to the one numbered `to`. */
static void put_conditional(size_t i, size_t to)
{
	code[i * CONDITIONAL_BYTES] = 0x0f;
	code[i * CONDITIONAL_BYTES + 1] = 0x84;
	put_distance(i * CONDITIONAL_BYTES + 2, to * CONDITIONAL_BYTES);
}

static void begin_row(size_t jumps)
{
	begin(jumps * CONDITIONAL_BYTES + 1, jumps);
	code[code_size - 1] = 0xc3;
}

/* So many loops in each other, every tenth of them with samples. */
static void make_nest(size_t loops)
{
	begin_row(2 * loops);
	for (size_t i = 0; i < loops; i++)
		put_conditional(i, i + 1);
	for (size_t i = loops; i < 2 * loops; i++)
		put_conditional(i, 2 * loops - 1 - i);
	for (size_t i = 0; i < 2 * loops; i += 10)
		sampled(i * CONDITIONAL_BYTES, (double)(1 + i % 7));
}

/* A jump through a table to so many cases, each of which jumps back and has samples. */
static void make_switch(uint32_t cases)
{
	static const uint8_t head[HEAD_BYTES] = {
		0x81, 0xff, 0,	  0,	0,    0,    /* cmp $cases - 1, %edi */
		0x0f, 0x87, 0,	  0,	0,    0,    /* ja behind the cases */
		0x89, 0xf8,			    /* mov %edi, %eax */
		0x48, 0x8d, 0x15, 0,	0,    0, 0, /* lea table(%rip), %rdx */
		0x48, 0x63, 0x04, 0x82,		    /* movslq (%rdx,%rax,4), %rax */
		0x48, 0x01, 0xd0, 0xff, 0xe0,	    /* add %rdx, %rax; jmp *%rax */
	};
	const uint32_t last = cases - 1;
	size_t end = HEAD_BYTES + (size_t)cases * CASE_BYTES;
	size_t table = (end + 4) / 4 * 4;

	begin(table + (size_t)cases * 4, cases);
	memcpy(code, head, sizeof(head));
	memcpy(&code[2], &last, sizeof(last));
	put_distance(8, end);
	put_distance(17, table);
	code[end] = 0xc3;
	for (size_t i = 0; i < cases; i++) {
		size_t at = HEAD_BYTES + i * CASE_BYTES;
		int32_t offset = (int32_t)at - (int32_t)table;

		code[at] = 0xff; /* inc %ecx */
		code[at + 1] = 0xc1;
		code[at + 2] = 0xe9;
		put_distance(at + 3, 0);
		memcpy(&code[table + i * 4], &offset, sizeof(offset));
		sampled(at + 2, (double)(3 + i % 5)); /* moves back */
	}
}

/* Edges that were looked at for culprits. */
static double culprits_effort(uint32_t cases)
{
	double frequencies;

	make_switch(cases);
	frequencies_only = true;
	fuzz_with_image(code, code_size, analyse);
	ck_assert_uint_ge(cfg->block_count, cases);
	ck_assert_uint_ge(cfg->edge_count, 2 * cases);
	frequencies = found->effort;
	frequencies_only = false;
	fuzz_with_image(code, code_size, analyse);
	return found->effort - frequencies;
}

TEST(a_jump_with_thousands_of_ways_is_looked_at_once_for_all_of_them)
{
	double few = culprits_effort(500);
	double many = culprits_effort(2000);

	ck_assert_double_gt(few, 500);
	/* Three units of code, in and out. */
	ck_assert_double_lt(many, 8.0 * 2 * 2000);
	ck_assert_double_lt(many, 5 * few);
}

TEST(loops_in_loops_by_the_thousand_settle)
{
	make_nest(1000);
	fuzz_with_image(code, code_size, analyse);
	ck_assert_uint_ge(cfg->loop_count, 1000);
	ck_assert_uint_eq(found->problems & (HP_PROBLEM_NOT_CONVERGED | HP_PROBLEM_NOT_SOLVED), 0);
}

/* Where more would have to be done, each block's frequency is its own, and the reader is told. */
TEST(what_would_take_too_long_to_solve_is_told_and_costs_no_more_than_allowed)
{
	static const double allowed = 1e9;
	static const double one_step = 1e8;

	make_nest(30000);
	frequencies_only = true;
	fuzz_with_image(code, code_size, analyse);
	ck_assert_double_lt(found->effort, allowed + one_step);
	ck_assert(found->problems & HP_PROBLEM_NOT_SOLVED);
	for (uint32_t i = 0; i < cfg->block_count; i++)
		ck_assert_uint_eq(found->blocks[i].frequency.confidence, HP_CONFIDENCE_LOW);
}

/* Of a tangle the factor has entries by the square of its size: to count them is too much. */
TEST(a_factor_that_is_far_too_dense_is_not_even_counted)
{
	enum { SIZE = 4000, PLACES = 4 * SIZE };
	static struct sparse_place places[PLACES];
	static int slots[PLACES];
	struct hp_random random = hp_random_seeded(11);
	struct sparse *matrix = NULL;

	arena = hp_arena_create();
	for (int i = 0; i < PLACES; i++) {
		places[i].row = i % SIZE;
		places[i].column = i < SIZE ? i : (int)hp_random_between(&random, 0, SIZE - 1);
	}
	hp_assert_ok(sparse_create(SIZE, places, PLACES, 1e6, arena, &matrix, slots));
	ck_assert(matrix->is_too_dense);
	ck_assert_double_gt(matrix->work, 1e6);
	for (int i = 0; i <= SIZE; i++)
		ck_assert_int_eq(matrix->factor_starts[i], 0);
	hp_arena_destroy(arena);
	arena = NULL;
}

HP_TEST_MAIN("analyze/hostile")
