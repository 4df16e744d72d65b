/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a replay comes by its samples, and what it counts between them. */
#include "../support.h"

#include "replays.h"

#include "../../src/shadow/match/told_times.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <string.h>
#include <time.h>

SETUP
{
	start_replays();
}

static struct hp_engine_sample sample_at(uint64_t offset, uint64_t r8, uint64_t flags)
{
	const struct user_regs_struct *r = &bench.state.registers;

	return (struct hp_engine_sample){
		.general = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi, r8,
			     r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 },
		.ip = PUPPET_CODE + offset,
		.flags = flags,
		.stack = bench.state.data + (r->rsp - PUPPET_DATA),
		.stack_bytes = 256,
	};
}

/* Three states that come by once, and one that does ten times. */
static const char rounds[] = "\x41\xb8\x11\x00\x00\x00"	    /*  0 mov r8d, 0x11 */
			     "\x90"			    /*  6 nop */
			     "\xc7\x03\x0a\x00\x00\x00"	    /*  7 mov dword [rbx], 10 */
			     "\x39\xc0"			    /* 13 cmp eax, eax */
			     "\x90"			    /* 15 nop */
			     "\xff\x0b"			    /* 16 dec dword [rbx] */
			     "\x75\xf9"			    /* 18 jnz 13 */
			     "\x41\xb8\x22\x00\x00\x00\x90" /* 20 mov r8d, 0x22; nop */
			     "\x41\xb8\x33\x00\x00\x00\x90" /* 27 mov r8d, 0x33; nop */;
enum { EQUAL = 0x246 };

/* A return alone in its block, armed and left by its own branch. */
TEST(a_sample_of_a_lone_return_matches)
{
	static const char code[] = "\xe8\x0f\x00\x00\x00"	  /*  0 call 20 */
				   "\x41\xb8\x22\x00\x00\x00\x90" /*  5 mov r8d, 0x22; nop */
				   "\x41\xb8\x33\x00\x00\x00\x90" /* 12 mov r8d, 0x33; nop */
				   "\xcc\xc3";			  /* 19 int3; ret */
	struct hp_engine_sample samples[] = {
		sample_at(20, bench.state.registers.r8, bench.state.registers.eflags),
		sample_at(11, 0x22, bench.state.registers.eflags),
		sample_at(18, 0x33, bench.state.registers.eflags),
	};

	samples[0].general[4] -= 8;
	samples[0].stack_bytes = 0;
	run(code, sizeof(code) - 1, samples, 3);
	assert_end(HP_WINDOW_COMPLETE, PUPPET_CODE + 18);
	ck_assert_uint_eq(bench.replay.matched, 3);
	ck_assert_uint_eq(bench.replay.cuts[0], 0);
	ck_assert_uint_eq(bench.replay.cuts[bench.replay.part_count], 1);
	/* The return, which goes where it does between the two. */
	ck_assert_uint_eq(bench.replay.edges[0].kind, HP_WINDOW_EDGE_RETURN);
	ck_assert_uint_eq(bench.replay.edges[0].counts[0], 1);
	ck_assert_uint_eq(bench.replay.blocks[bench.replay.block_count - 1].address.value,
			  PUPPET_CODE + 20);
}

TEST(a_state_that_comes_by_again_is_ambiguous_and_no_end_of_a_window)
{
	const struct hp_engine_sample samples[] = {
		sample_at(6, 0x11, bench.state.registers.eflags),
		sample_at(15, 0x11, EQUAL),
		sample_at(26, 0x22, EQUAL),
		sample_at(33, 0x33, EQUAL),
	};
	uint64_t loops = 0;

	run(rounds, sizeof(rounds) - 1, samples, 4);
	assert_end(HP_WINDOW_COMPLETE, PUPPET_CODE + 33);
	ck_assert_uint_eq(bench.replay.cuts[0], 0);
	ck_assert_uint_eq(bench.replay.cuts[bench.replay.part_count], 2);
	for (size_t i = 0; i < bench.replay.block_count; i++)
		if (bench.replay.blocks[i].address.value <= PUPPET_CODE + 13 &&
		    PUPPET_CODE + 13 - bench.replay.blocks[i].address.value <
			    bench.replay.blocks[i].size_bytes)
			loops += bench.replay.blocks[i].counts[0];
	/* The first time round was entered before the window began. */
	ck_assert_uint_ge(loops, 9);
	ck_assert_uint_le(loops, 10);
}

TEST(states_that_come_round_all_the_time_are_no_moments)
{
	struct hp_engine_sample samples[10];

	/* Ten samples, 2 ms apart, of two places in a loop that a register does not tell apart. */
	for (size_t i = 0; i < 10; i++) {
		samples[i] = sample_at(i % 2 ? 15 : 16, 0x11, EQUAL);
		samples[i].time_ns = 2000000 * (i + 1);
	}
	bench.limits.time_ns = 1000000000;
	/* mov dword [rbx], 60000000 instead of 10: it runs on for as long as the samples say, or
	 * more */
	run("\x41\xb8\x11\x00\x00\x00\x90\xc7\x03\x00\x87\x93\x03\x39\xc0\x90\xff\x0b\x75"
	    "\xf9",
	    20, samples, 10);
	ck_assert_uint_eq(bench.replay.block_count, 0);
	ck_assert_uint_eq(bench.replay.edge_count, 0);
}

/* A window that tells how fast copies are: ten million rounds in 5 ms of the original's time. */
static void run_whole_window(void)
{
	struct hp_engine_sample samples[] = {
		sample_at(6, 0x11, bench.state.registers.eflags),
		sample_at(26, 0x22, EQUAL),
		sample_at(33, 0x33, EQUAL),
	};
	char code[sizeof(rounds) + 1];

	memcpy(code, rounds, sizeof(rounds));
	memcpy(code + 9, "\x80\x96\x98\x00", 4);
	/* It runs on while its matches are watched. */
	memcpy(code + sizeof(rounds) - 1, "\xeb\xfe", 2);
	samples[0].time_ns = 1000;
	samples[1].time_ns = 5000000;
	samples[2].time_ns = 5001000;
	run(code, sizeof(code), samples, 3);
	ck_assert_int_eq(bench.replay.end, HP_WINDOW_COMPLETE);
	ck_assert_uint_eq(bench.replay.matched, 3);
}

TEST(a_shadow_on_another_path_is_given_up_long_before_its_time)
{
	struct hp_engine_sample samples[10];

	/* An hour: the test does not end before. */
	bench.limits.time_ns = UINT64_C(3600000000000);
	run_whole_window();
	/* The first is where it comes by, the others are where it never does. */
	for (size_t i = 0; i < 10; i++) {
		samples[i] = sample_at(6 + i, 0x11, bench.state.registers.eflags);
		samples[i].time_ns = 1000 + 2000000 * i;
	}
	run("\x41\xb8\x11\x00\x00\x00\x90\xeb\xfe", 9, samples, 10);
	assert_end(HP_WINDOW_LOST, 0);
	ck_assert_uint_eq(bench.replay.matched, 1);
	/* Nor does it come by any of them. */
	samples[0].ip += 100;
	run(NULL, 0, samples, 10);
	assert_end(HP_WINDOW_LOST, 0);
	ck_assert_uint_eq(bench.replay.matched, 0);
}

TEST(a_state_with_another_stack_or_other_flags_is_not_the_samples)
{
	struct hp_engine_sample samples[] = {
		sample_at(6, 0x11, bench.state.registers.eflags),
		sample_at(26, 0x22, EQUAL),
		sample_at(33, 0x33, EQUAL),
	};
	uint8_t stack[256];

	memcpy(stack, samples[1].stack, sizeof(stack));
	stack[100] ^= 1;
	samples[1].stack = stack;
	run(rounds, sizeof(rounds) - 1, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 2);
	samples[1].stack = samples[0].stack;
	samples[1].general[1] ^= 1;
	run(NULL, 0, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 2);
	samples[1].general[1] ^= 1;
	/* Nobody reads the direction flag here, but everybody may. */
	samples[1].flags ^= 0x400;
	run(NULL, 0, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 2);
	samples[1].flags ^= 0x400;
	run(NULL, 0, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 3);
}

static struct hp_engine_call answer_about(struct script *script, pid_t pid,
					  const struct user_regs_struct *registers)
{
	const uint64_t word = 0x55;

	(void)pid;
	memcpy(script->puppet->data + (registers->rsp - PUPPET_DATA) + 64, &word, sizeof(word));
	return (struct hp_engine_call){
		.is_handled = true,
		.guessed_at = registers->rsp + 64,
		.guessed_bytes = sizeof(word),
	};
}

/* Sets registers that a system call at the beginning of the code changes. */
static void expect_a_call(void)
{
	bench.state.registers.rax = 0;
	bench.state.registers.rcx = PUPPET_CODE + 2;
	bench.state.registers.r11 = bench.state.registers.eflags;
}

/* Samples behind a call at the beginning of the code, which all have this stack: as it is. */
static void expect_samples(struct hp_engine_sample *samples, unsigned count, uint8_t *stack,
			   size_t bytes)
{
	expect_a_call();
	for (unsigned i = 0; i < count; i++)
		samples[i] = sample_at(8 + 7 * i, 0x11 * (i + 1), bench.state.registers.eflags);
	memcpy(stack, samples[0].stack, bytes);
	for (unsigned i = 0; i < count; i++)
		samples[i].stack = stack;
}

/* A call, and code with three states behind it. */
static const char three_states[] = "\x0f\x05\x41\xb8\x11\x00\x00\x00\x90"
				   "\x41\xb8\x22\x00\x00\x00\x90"
				   "\x41\xb8\x33\x00\x00\x00\x90";

/* The original got another time, and keeps it on its stack. */
TEST(what_an_answer_is_about_does_not_tell_states_apart)
{
	struct hp_engine_sample samples[3];
	uint8_t stack[256];

	expect_samples(samples, 3, stack, sizeof(stack));
	memset(stack + 64, 0x66, 8);
	bench.script.answer = answer_about;
	run(three_states, sizeof(three_states) - 1, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 3);
	/* The word next to it does. */
	stack[72] ^= 1;
	run(NULL, 0, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 0);
}

static struct hp_engine_call answer_nothing(struct script *script, pid_t pid,
					    const struct user_regs_struct *registers)
{
	(void)script, (void)pid, (void)registers;
	return (struct hp_engine_call){ .is_handled = true };
}

/* As the original was there again, later. */
TEST(a_sample_behind_a_wait_matches_only_behind_a_call)
{
	struct hp_engine_sample samples[3];
	uint8_t stack[256];

	expect_samples(samples, 3, stack, sizeof(stack));
	for (size_t i = 0; i < 3; i++)
		samples[i].follows_call = true;
	bench.script.answer = answer_nothing;
	run(three_states, sizeof(three_states) - 1, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 3);
	/* The copy begins behind the call. */
	bench.state.registers.rip += 2;
	run(NULL, 0, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 0);
}

/* clock() has got a time from the system, and returned it in us. */
static struct hp_engine_call answer_a_time(struct script *script, pid_t pid,
					   const struct user_regs_struct *registers)
{
	const struct timespec time = { .tv_sec = 3, .tv_nsec = 54028123 };
	const uint64_t converted = 3054028;
	uint8_t *stack = script->puppet->data + (registers->rsp - PUPPET_DATA);

	(void)pid;
	memcpy(stack + 64, &time, sizeof(time));
	memcpy(stack + 96, &converted, sizeof(converted));
	return (struct hp_engine_call){
		.is_handled = true,
		.guessed_at = registers->rsp + 64,
		.guessed_bytes = sizeof(time),
	};
}

TEST(what_a_program_computes_from_a_time_does_not_tell_states_apart)
{
	static const char code[] = "\x0f\x05\x41\xb8\x11\x00\x00\x00\x90"
				   "\x41\xb8\x22\x00\x00\x00\x90";
	static const uint64_t original = 2801118;
	struct hp_engine_sample samples[2];
	uint8_t stack[256];

	expect_samples(samples, 2, stack, sizeof(stack));
	memset(stack + 64, 0x66, sizeof(struct timespec));
	memcpy(stack + 96, &original, sizeof(original));
	bench.script.answer = answer_a_time;
	run(code, sizeof(code) - 1, samples, 2);
	ck_assert_uint_eq(bench.replay.matched, 2);
	/* The word behind it does. */
	stack[104] ^= 1;
	run(NULL, 0, samples, 2);
	ck_assert_uint_eq(bench.replay.matched, 0);
}

static uint64_t word_of(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

TEST(times_are_recognised_in_the_units_of_programs)
{
	struct told_times times = { 0 };
	const uint64_t same[] = {
		1700000000,
		1700000000123,
		1700000000123456,
		1700000000123456789,
		123456789,
		word_of(1700000000.123456789),
		word_of(1.7e12 + 123.456789),
		word_of(1700000010.654321),
		654321,
		1700000010654,
	};
	const uint64_t others[] = {
		0, 3, 5, 1700000001, 1700000000124, word_of(3), word_of(0), word_of(NAN),
	};

	ck_assert(!told_times_have(&times, 0));
	told_times_add(&times, 1700000000, 123456789); /* a timespec */
	told_times_add(&times, 1700000010, 654321);    /* a timeval */
	told_times_add(&times, 3, 5);
	for (size_t i = 0; i < HP_ARRAY_COUNT(same); i++)
		ck_assert_msg(told_times_have(&times, same[i]), "%zu", i);
	for (size_t i = 0; i < HP_ARRAY_COUNT(others); i++)
		ck_assert_msg(!told_times_have(&times, others[i]), "%zu", i);
}

static struct hp_engine_call answer_of_a_function(struct script *script, pid_t pid,
						  const struct user_regs_struct *registers)
{
	(void)script;
	(void)pid;
	(void)registers;
	return (struct hp_engine_call){ .is_handled = true, .frame_bytes = 8 };
}

/* The original called a function of the vdso, which left something below its caller's frame. */
TEST(what_a_function_left_on_the_stack_does_not_tell_states_apart)
{
	static const char code[] = "\x0f\x05"		      /*  0 syscall */
				   "\x48\x8d\x64\x24\xf0"     /*  2 lea rsp, [rsp - 16] */
				   "\x41\xb8\x11\x00\x00\x00" /*  7 mov r8d, 0x11 */
				   "\x90"		      /* 13 nop */
				   "\x41\xb8\x22\x00\x00\x00\x90";
	struct hp_engine_sample samples[2];
	uint8_t stack[32];

	expect_a_call();
	memcpy(stack, bench.state.data + (bench.state.registers.rsp - 16 - PUPPET_DATA),
	       sizeof(stack));
	stack[8] ^= 1;
	for (unsigned i = 0; i < 2; i++) {
		samples[i] = sample_at(13 + 7 * i, 0x11 * (i + 1), bench.state.registers.eflags);
		samples[i].general[4] -= 16;
		samples[i].stack = stack;
		samples[i].stack_bytes = sizeof(stack);
	}
	bench.script.answer = answer_of_a_function;
	run(code, sizeof(code) - 1, samples, 2);
	ck_assert_uint_eq(bench.replay.matched, 2);
	/* What lies further below does. */
	stack[7] ^= 1;
	run(NULL, 0, samples, 2);
	ck_assert_uint_eq(bench.replay.matched, 0);
}

/* The state at the end of a window: the loop's counter is in memory that a register points to, and
 * neither registers nor stack tell rounds apart. */
static void run_to_end(const struct reached *reached)
{
	static const char code[] = "\xc7\x03\x00\x00\x10\x00" /*  0 mov dword [rbx], 0x100000 */
				   "\x39\xc0"		      /*  6 cmp eax, eax */
				   "\x90"		      /*  8 nop */
				   "\xff\x0b"		      /*  9 dec dword [rbx] */
				   "\x75\xf9" /* 11 jnz 6 */;
	struct hp_engine_sample samples[2] = {
		sample_at(8, bench.state.registers.r8, EQUAL),
		sample_at(8, bench.state.registers.r8, EQUAL),
	};

	/* A sample in the same loop, which nothing tells from any other round of it. */
	samples[0].time_ns = 1000000;
	samples[1].time_ns = 2000000;
	samples[1].reached = reached;
	bench.limits.time_ns = 1000000000;
	bench.limits.has_end = true;
	run(code, sizeof(code) - 1, samples, 2);
}

TEST(the_end_of_a_window_is_told_by_what_registers_lead_to)
{
	const uint32_t left = 0x1234;
	_cleanup_free_ struct reached *reached = calloc(1, sizeof(*reached));
	uint64_t rounds_counted = 0;

	ck_assert_ptr_nonnull(reached);
	reached->pieces[0] = (struct reached_piece){
		.address = bench.state.registers.rbx,
		.bytes = 8,
	};
	reached->count = 1;
	memcpy(reached->bytes, bench.state.data + (bench.state.registers.rbx - PUPPET_DATA), 8);
	memcpy(reached->bytes, &left, sizeof(left));
	run_to_end(reached);
	ck_assert_int_eq(bench.replay.end, HP_WINDOW_COMPLETE);
	ck_assert_uint_eq(bench.replay.part_count, 1);
	ck_assert_uint_eq(bench.replay.cuts[0], HP_REPLAY_START);
	ck_assert_uint_eq(bench.replay.cuts[1], 1);
	for (size_t i = 0; i < bench.replay.block_count; i++)
		if (bench.replay.blocks[i].address.value <= PUPPET_CODE + 9 &&
		    PUPPET_CODE + 9 - bench.replay.blocks[i].address.value <
			    bench.replay.blocks[i].size_bytes)
			rounds_counted += bench.replay.blocks[i].counts[0];
	/* From the start to that very round. */
	ck_assert_uint_ge(rounds_counted, 0x100000 - left);
	ck_assert_uint_le(rounds_counted, 0x100000 - left + 1);
	/* A state that never comes by. */
	memset(reached->bytes, 0xff, 8);
	run_to_end(reached);
	ck_assert_uint_eq(bench.replay.block_count, 0);
}

/* mov r9d, 2097152; thrice imul r9d, r9d, 1; dec r9d; jnz. Cores differ in how long translated code takes to
 * count rounds of a loop, less in a chain of multiplications. */
#define LONG_LOOP                                                                                  \
	"\x41\xb9\x00\x00\x20\x00\x45\x6b\xc9\x01\x45\x6b\xc9\x01\x45\x6b\xc9\x01"             \
	"\x41\xff\xc9\x75\xef"

/* Two states in each of 12 rounds, which take 8 ms or more; ends in the round in which 3 are left. `is_once`: the
 * first sample's state occurs in the first round only, and is not too early there. */
static void run_rounds(bool has_end, bool is_once)
{
	static const char code[] = "\xc7\x03\x0c\x00\x00\x00"	  /*  0 mov dword [rbx], 12 */
				   "\x41\xb8\x11\x00\x00\x00\x90" /*  6 mov r8d, 0x11; nop */
				   LONG_LOOP			  /* 13 */
				   "\x41\xb8\x22\x00\x00\x00\x90" /* 36 mov r8d, 0x22; nop */
				   LONG_LOOP			  /* 43 */
				   "\xff\x0b\x75\xc0\xeb\xfe"; /* 66 dec dword [rbx]; jnz 6; jmp */
	static const uint32_t left = 3;
	_cleanup_free_ struct reached *reached = calloc(1, sizeof(*reached));
	struct hp_engine_sample samples[41];

	ck_assert_ptr_nonnull(reached);
	for (size_t i = 0; i < 41; i++) {
		samples[i] = sample_at(i % 2 ? 42 : 12, i % 2 ? 0x22 : 0x11, EQUAL);
		samples[i].general[9] = 0;
		samples[i].time_ns = 1000000 * (i + 1);
	}
	if (is_once) {
		samples[0].general[9] = bench.state.registers.r9;
		samples[0].time_ns = 1;
	}
	reached->pieces[0] =
		(struct reached_piece){ .address = bench.state.registers.rbx, .bytes = 8 };
	reached->count = 1;
	memcpy(reached->bytes, bench.state.data + (bench.state.registers.rbx - PUPPET_DATA), 8);
	memcpy(reached->bytes, &left, sizeof(left));
	samples[40].reached = reached;
	bench.limits.time_ns = 2000000000;
	bench.limits.has_end = has_end;
	run(code, sizeof(code) - 1, samples, has_end ? 41 : 40);
}

static void check_rounds(bool is_once)
{
	uint64_t counted = 0;

	run_rounds(true, is_once);
	ck_assert_uint_eq(bench.replay.part_count, 1);
	ck_assert_uint_eq(bench.replay.cuts[0], HP_REPLAY_START);
	ck_assert_uint_eq(bench.replay.cuts[1], 40);
	for (size_t i = 0; i < bench.replay.block_count; i++)
		if (bench.replay.blocks[i].address.value == PUPPET_CODE + 66)
			counted = bench.replay.blocks[i].counts[0];
	ck_assert_uint_eq(counted, 12 - 3);
	run_rounds(false, is_once);
	ck_assert_uint_eq(bench.replay.block_count, 0);
	ck_assert_int_eq(bench.replay.end, HP_WINDOW_ROUNDS);
}

TEST(a_program_in_rounds_is_counted_to_the_end_of_the_window_or_not_at_all)
{
	check_rounds(false);
}

TEST(rounds_are_told_by_others_if_the_first_match_occurs_once)
{
	check_rounds(true);
}

HP_TEST_MAIN_UNLESS(PUPPET_REASON, "shadow/moments")
