/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of which stretches are logged: where the log pauses, and where it goes on. */
#include "../support.h"

#include "replays.h"

#include "../../src/shadow/translate/code_cache.h"

#include <hpcprof/base/vector.h>

#include <string.h>

/* Two loops with a sample before, between and behind them. */
static char loops[] = "\x41\xb8\x11\x00\x00\x00"     /*  0 mov r8d, 0x11 */
		      "\x39\xc0\x90"		     /*  6 cmp eax, eax; nop */
		      "\xb9\x40\x0d\x03\x00"	     /*  9 mov ecx, 200000 */
		      "\x39\xc0\x90\xff\xc9\x75\xf9" /* 14 cmp eax, eax; nop; dec ecx; jnz 14 */
		      "\x41\xb8\x22\x00\x00\x00"     /* 21 mov r8d, 0x22 */
		      "\x39\xc0\x90"		     /* 27 cmp eax, eax; nop */
		      "\xb9\x05\x00\x00\x00"	     /* 30 mov ecx, 5 */
		      "\xff\xc9\x75\xfc"	     /* 35 dec ecx; jnz 35 */
		      "\x41\xb8\x33\x00\x00\x00"     /* 39 mov r8d, 0x33 */
		      "\x39\xc0\x90"		     /* 45 cmp eax, eax; nop */
		      "\x41\xb8\x44\x00\x00\x00"     /* 48 mov r8d, 0x44 */
		      "\x39\xc0\x90";		     /* 54 cmp eax, eax; nop */
enum { EQUAL = 0x246, TURNS = 200000, LOOP = 14, SECOND = 35 };

/* What was asked, and what was logged by the stretch after the first. */
struct reader {
	size_t stretches; /* that have begun */
	size_t asked;	  /* sample at which it was asked for a stretch last */
	size_t times;	  /* that it was asked */
	size_t wanted;	  /* sample at which it wants one */
	HP_VECTOR(uint64_t) words;
};
static struct reader reader;

static void clear(void *nothing)
{
	(void)nothing;
	hp_vector_free(&reader.words);
	reader = (struct reader){ .stretches = 1, .asked = SIZE_MAX };
}

/* Of the first stretch one piece suffices. */
static bool take(void *context, const uint64_t *words, size_t count)
{
	(void)context;
	for (size_t i = 0; reader.stretches > 1 && i < count; i++)
		ck_assert(hp_vector_push(&reader.words, words[i]));
	return reader.stretches > 1;
}

static bool resume(void *context, size_t sample, size_t samples)
{
	(void)context;
	ck_assert_uint_eq(samples, 4);
	reader.asked = sample;
	reader.times++;
	if (sample != reader.wanted)
		return false;
	reader.stretches++;
	return true;
}

static const struct hp_engine_log logged = { take, NULL, resume };

SETUP
{
	clear(NULL);
	start_replays();
	at_end(clear, NULL);
	bench.limits.log = &logged;
}

static struct hp_engine_sample sample_at(uint64_t offset, uint64_t rcx, uint64_t r8)
{
	const struct user_regs_struct *r = &bench.state.registers;

	return (struct hp_engine_sample){
		.general = { r->rax, rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi, r8, r->r9,
			     r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 },
		.ip = PUPPET_CODE + offset,
		.flags = EQUAL,
		.stack = bench.state.data + (r->rsp - PUPPET_DATA),
		.stack_bytes = 256,
	};
}

static void run_loops(struct hp_engine_sample second)
{
	const struct hp_engine_sample samples[] = {
		sample_at(8, bench.state.registers.rcx, 0x11),
		second,
		sample_at(47, 0, 0x33),
		sample_at(56, 0, 0x44),
	};

	run(loops, sizeof(loops) - 1, samples, 4);
	assert_end(HP_WINDOW_COMPLETE, PUPPET_CODE + 56);
	ck_assert_uint_eq(bench.replay.matched, 4);
}

/* The offset of the block with this number in the log. */
static uint64_t block_at(size_t word)
{
	const struct path_plan *plan = hp_engine_plan(bench.puppet.engine, reader.words.at[word]);

	ck_assert_ptr_nonnull(plan);
	ck_assert_uint_eq(plan->word_count, 0);
	return plan->address - PUPPET_CODE;
}

TEST(a_log_goes_on_with_the_block_behind_the_sample)
{
	reader.wanted = 1;
	run_loops(sample_at(29, 0, 0x22));
	ck_assert_uint_eq(reader.asked, 1);
	ck_assert_uint_eq(reader.times, 1);
	/* The sample's own block ends with the first of five rounds; the replay ends in the block
	 * behind them. */
	ck_assert_uint_eq(reader.words.count, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(block_at(i), SECOND);
}

TEST(a_log_that_is_not_wanted_again_stays_off)
{
	reader.wanted = SIZE_MAX;
	run_loops(sample_at(29, 0, 0x22));
	/* at the second sample, the third and the last */
	ck_assert_uint_eq(reader.times, 3);
	ck_assert_uint_eq(reader.words.count, 0);
}

/* The block in which the log became full writes the rest of its words behind the pause, so no
 * stretch begins in it: the sample is behind the word that did not fit. */
TEST(a_log_does_not_go_on_in_the_block_that_it_paused_in)
{
	reader.wanted = 1;
	run_loops(sample_at(16, TURNS - CODE_LOG_WORDS, 0x11));
	ck_assert_uint_eq(reader.asked, 3);
	ck_assert_uint_eq(reader.times, 2);
	/* One turn later it does. */
	reader = (struct reader){ .stretches = 1, .wanted = 1 };
	run_loops(sample_at(16, TURNS - CODE_LOG_WORDS - 1, 0x11));
	ck_assert_uint_eq(reader.stretches, 2);
	ck_assert_uint_eq(block_at(0), LOOP);
	ck_assert_uint_eq(reader.words.count, TURNS - (CODE_LOG_WORDS + 2) + 1 + 4);
}

HP_TEST_MAIN("shadow/stretches")
