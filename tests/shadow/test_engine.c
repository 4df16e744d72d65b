/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How replays end and what they find, with code of a few bytes each. */
#include "../support.h"

#include "states.h"

#include <hpcprof/base/cleanup.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ELSEWHERE = 0x10000000 }; /* from PUPPET_CODE */

/* What the handler does with the calls of one replay. */
struct script {
	struct puppet *puppet;
	struct hp_engine_call (*answer)(struct script *script, pid_t pid,
					const struct user_regs_struct *registers);
	uint64_t calls;
};

static struct hp_engine_call handle(void *context, pid_t pid,
				    const struct user_regs_struct *registers)
{
	struct script *script = context;

	script->calls++;
	if (!script->answer)
		return (struct hp_engine_call){ .is_handled = false };
	return script->answer(script, pid, registers);
}

static struct hp_engine_call answer_zero(struct script *script, pid_t pid,
					 const struct user_regs_struct *registers)
{
	(void)script;
	(void)pid;
	(void)registers;
	return (struct hp_engine_call){ .is_handled = true };
}

struct bench {
	struct puppet puppet;
	struct puppet_state state;
	struct hp_engine_limits limits;
	struct script script;
	struct hp_replay replay;
};

static struct bench bench;

static void set_up_bench(void)
{
	struct hp_random random = hp_random_seeded(3);

	bench = (struct bench){ 0 };
	puppet_create(&bench.puppet, 0);
	bench.script.puppet = &bench.puppet;
	state_randomise(&bench.state, &bench.puppet, &random);
	bench.state.registers.rip = PUPPET_CODE;
}

static void tear_down(void *nothing)
{
	(void)nothing;
	hp_replay_free(&bench.replay);
	puppet_destroy(&bench.puppet);
}

SETUP
{
	set_up_bench();
	at_end(tear_down, NULL);
}

static void start_anew(void)
{
	tear_down(NULL);
	set_up_bench();
}

static void run(const char *code, size_t bytes, const struct hp_engine_sample *samples,
		size_t count)
{
	struct hp_engine_calls calls = { .handle = handle, .context = &bench.script };

	if (code)
		puppet_set_code(&bench.puppet, (const uint8_t *)code, bytes);
	puppet_put(&bench.puppet, &bench.state);
	hp_replay_free(&bench.replay);
	hp_assert_ok(hp_engine_replay(bench.puppet.engine, bench.puppet.pid, &bench.state.registers,
				      samples, count, &bench.limits, &calls, &bench.replay));
}
#define RUN(code) run(code, sizeof(code) - 1, NULL, 0)

static void assert_end(enum hp_window_end end, uint64_t at)
{
	ck_assert_msg(bench.replay.end == end, "ended with \"%s\" at 0x%lx",
		      hp_window_end_name(bench.replay.end), bench.replay.end_address);
	ck_assert_uint_eq(bench.replay.end_address, at);
}

/* --- ends ------------------------------------------------------------------------------------- */

TEST(a_shadow_that_takes_too_long_is_stopped)
{
	bench.limits.time_ns = 20000000;
	RUN("\xeb\xfe"); /* jmp to itself */
	assert_end(HP_WINDOW_TIME, 0);
	ck_assert_uint_eq(bench.replay.block_count, 1);
	ck_assert_uint_gt(bench.replay.blocks[0].counts[0], 1000);
}

TEST(a_shadow_that_comes_out_too_often_is_stopped)
{
	bench.script.answer = answer_zero;
	bench.limits.exits = 50;
	RUN("\x0f\x05\xeb\xfc"); /* syscall; jmp back */
	assert_end(HP_WINDOW_EXITS, 0);
	ck_assert_uint_ge(bench.script.calls, 40);
	ck_assert_uint_le(bench.script.calls, 50);
}

TEST(a_call_that_is_not_answered_ends_it_with_its_number)
{
	RUN("\xb8\x27\x00\x00\x00\x0f\x05"); /* mov eax, 39; syscall */
	assert_end(HP_WINDOW_SYSTEM_CALL, PUPPET_CODE + 5);
	ck_assert_int_eq(bench.replay.end_detail, 39);
}

static struct hp_engine_call kill_it(struct script *script, pid_t pid,
				     const struct user_regs_struct *registers)
{
	(void)registers;
	(void)script;
	kill(pid, SIGKILL);
	return (struct hp_engine_call){ .is_handled = true };
}

/* Stopped where it likes, behind a byte that looks like one of our traps. */
TEST(a_shadow_that_stops_by_its_own_trap_flag_ends_it)
{
	RUN("\x9c\x48\x81\x0c\x24\x00\x01\x00\x00\x9d" /* pushfq; orq $0x100, (%rsp); popfq */
	    "\xb8\x00\x00\x00\xcc"		       /* mov $0xcc000000, %eax */
	    "\x00\x00\x00\x00\xcc");
	ck_assert_int_eq(bench.replay.end, HP_WINDOW_SIGNAL);
	ck_assert_int_eq(bench.replay.end_detail, SIGTRAP);
}

/* All calls but exit and those of the tests: `action`. */
static void filter_calls(uint32_t action)
{
	const uint64_t no_new[6] = { PR_SET_NO_NEW_PRIVS, 1 };
	const uint64_t filter[6] = { SECCOMP_SET_MODE_FILTER, 0, PUPPET_DATA };
	struct {
		struct sock_fprog program;
		struct sock_filter steps[4];
	} written = {
		.program = { 4, (struct sock_filter *)(PUPPET_DATA + 16) },
		.steps = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
			   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
			   BPF_STMT(BPF_RET | BPF_K, action),
			   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) },
	};

	_Static_assert(offsetof(__typeof__(written), steps) == 16, "where it says it is");
	memcpy(bench.puppet.data, &written, sizeof(written));
	ck_assert_int_eq(inject_call(bench.puppet.pid, PUPPET_CALL, SYS_prctl, no_new), 0);
	ck_assert_int_eq(inject_call(bench.puppet.pid, PUPPET_CALL, SYS_seccomp, filter), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, bench.puppet.pid, NULL, PTRACE_O_TRACESECCOMP),
			 0);
}

/* As if it had got out: what is translated makes a system call. */
static void break_out(const char *translated, size_t bytes)
{
	enum { CACHE_BYTES = 8 << 20 };
	uint8_t *cache = mmap(NULL, CACHE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			      hp_engine_memory(bench.puppet.engine, 0), 0);
	uint8_t *found;

	ck_assert_ptr_ne(cache, MAP_FAILED);
	found = memmem(cache, CACHE_BYTES, translated, bytes);
	ck_assert_ptr_nonnull(found);
	memcpy(found + bytes, "\x0f\x05", 2);
	munmap(cache, CACHE_BYTES);
}

TEST(a_shadow_that_gets_out_and_makes_a_call_is_told_from_others)
{
	static const char moves[] = "\xb8\x27\x00\x00\x00"; /* mov $getpid, %eax */
	static const struct {
		uint32_t action;
		int64_t detail;
	} cases[] = {
		{ SECCOMP_RET_TRACE, SYS_getpid }, /* it is stopped in front of us */
		{ SECCOMP_RET_KILL_PROCESS, -1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {

		RUN("\xb8\x27\x00\x00\x00\xf4"); /* ...; hlt */
		ck_assert_int_eq(bench.replay.end, HP_WINDOW_INTERRUPT);
		filter_calls(cases[i].action);
		break_out(moves, sizeof(moves) - 1);
		run(NULL, 0, NULL, 0);
		assert_end(HP_WINDOW_FORBIDDEN, 0);
		ck_assert_int_eq(bench.replay.end_detail, cases[i].detail);
		start_anew();
	}
}

TEST(a_shadow_that_dies_ends_it)
{
	bench.script.answer = kill_it;
	RUN("\x0f\x05\xeb\xfe");
	ck_assert_uint_eq(bench.replay.end, HP_WINDOW_DIED);
}

/* --- code that changes ------------------------------------------------------------------------ */

TEST(code_that_changes_between_windows_is_translated_anew)
{
	struct user_regs_struct registers;

	for (unsigned i = 0; i < 3; i++) {
		char code[] = "\xb8\x00\x00\x00\x00"; /* mov eax, i */

		code[1] = (char)i;
		RUN(code);
		assert_end(HP_WINDOW_INTERRUPT, PUPPET_CODE + 5);
		ck_assert_uint_gt(bench.replay.translated, 0);
		ck_assert_int_eq(ptrace(PTRACE_GETREGS, bench.puppet.pid, NULL, &registers), 0);
		ck_assert_uint_eq(registers.rax, i);
	}
	run(NULL, 0, NULL, 0);
	ck_assert_uint_eq(bench.replay.translated, 0);
}

static void map_elsewhere(int protection, int flags)
{
	const uint64_t arguments[6] = { PUPPET_CODE + ELSEWHERE,	4096,
					(uint64_t)protection,		(uint64_t)flags | MAP_FIXED,
					(uint64_t)bench.puppet.code_fd, 4096 };

	ck_assert_uint_eq((uint64_t)inject_call(bench.puppet.pid, PUPPET_CALL, SYS_mmap, arguments),
			  PUPPET_CODE + ELSEWHERE);
}

/* jmp to ELSEWHERE, which is a page of traps */
#define GO_ELSEWHERE "\xe9\xfb\xff\xff\x0f"

TEST(code_that_can_be_written_to_is_not_replayed)
{
	static const struct {
		int protection, flags;
		enum hp_window_end end;
	} mappings[] = {
		{ PROT_READ | PROT_EXEC, MAP_PRIVATE, HP_WINDOW_INTERRUPT },
		{ PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, HP_WINDOW_WRITABLE_CODE },
		{ PROT_READ | PROT_EXEC, MAP_SHARED, HP_WINDOW_WRITABLE_CODE },
		{ PROT_READ, MAP_PRIVATE, HP_WINDOW_UNREADABLE },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(mappings); i++) {
		map_elsewhere(mappings[i].protection, mappings[i].flags);
		RUN(GO_ELSEWHERE);
		assert_end(mappings[i].end, PUPPET_CODE + ELSEWHERE);
	}
}

static struct hp_engine_call map_code(struct script *script, pid_t pid,
				      const struct user_regs_struct *registers)
{

	(void)script;
	(void)pid;
	(void)registers;
	map_elsewhere(PROT_READ | PROT_EXEC, MAP_PRIVATE);
	return (struct hp_engine_call){ .is_handled = true,
					.result = (int64_t)(PUPPET_CODE + ELSEWHERE) };
}

TEST(code_that_is_mapped_during_a_window_is_found)
{
	bench.script.answer = map_code;
	bench.state.registers.rsi = 4096;
	/* mov eax, 9 (mmap); syscall; jmp rax */
	RUN("\xb8\x09\x00\x00\x00\x0f\x05\xff\xe0");
	assert_end(HP_WINDOW_INTERRUPT, PUPPET_CODE + ELSEWHERE);
}

static struct hp_engine_call look_at_zero(struct script *script, pid_t pid,
					  const struct user_regs_struct *registers)
{
	(void)pid;
	ck_assert_uint_ne(registers->eflags & 0x40, 0);
	return (struct hp_engine_call){ .is_handled = script->calls < 4 };
}

/* The processor copies them to r11, whatever counting does to flags that nobody reads. */
TEST(a_system_call_has_the_flags_of_the_program)
{
	bench.script.answer = look_at_zero;
	bench.state.registers.rsi = PUPPET_CODE + 4;
	/* xor eax, eax; jmp rsi; mov eax, 39; syscall; jmp to the start */
	RUN("\x31\xc0\xff\xe6\xb8\x27\x00\x00\x00\x0f\x05\xeb\xf3");
	assert_end(HP_WINDOW_SYSTEM_CALL, PUPPET_CODE + 9);
}

/* The first call puts a trap where the window began, the second is refused. */
static struct hp_engine_call change_code(struct script *script, pid_t pid,
					 const struct user_regs_struct *registers)
{
	(void)pid;
	(void)registers;
	ck_assert_int_eq(pwrite(script->puppet->code_fd, "\xcc", 1, 0), 1);
	return (struct hp_engine_call){ .is_handled = script->calls == 1 };
}

/* mprotect, munmap, madvise. */
TEST(code_that_is_protected_unmapped_or_emptied_is_read_again_and_other_code_is_not)
{
	static const char numbers[] = { 10, 11, 28 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(numbers); i++) {
		/* mov eax, number; syscall; jmp to the start */
		char code[] = "\xb8\x00\x00\x00\x00\x0f\x05\xeb\xf7";

		code[1] = numbers[i];
		bench.script.answer = change_code;
		bench.state.registers.rsi = 4096;
		bench.state.registers.rdx = MADV_DONTNEED;
		bench.state.registers.rdi = PUPPET_DATA;
		bench.script.calls = 0;
		RUN(code);
		assert_end(HP_WINDOW_SYSTEM_CALL, PUPPET_CODE + 5);
		bench.state.registers.rdi = PUPPET_CODE;
		bench.script.calls = 0;
		RUN(code);
		assert_end(HP_WINDOW_INTERRUPT, PUPPET_CODE);
		/* What it was translated to has counted until then, and no longer. */
		ck_assert_uint_eq(bench.replay.blocks[0].address.value, PUPPET_CODE);
		ck_assert_uint_eq(bench.replay.blocks[0].counts[0], 1);
	}
}

/* --- a full cache ----------------------------------------------------------------------------- */

static struct hp_engine_call next_address(struct script *script, pid_t pid,
					  const struct user_regs_struct *registers)
{
	(void)pid;
	(void)registers;
	return (struct hp_engine_call){
		.is_handled = true,
		.result = (int64_t)(PUPPET_CODE + 16 + script->calls),
	};
}

TEST(a_full_cache_ends_a_window_and_the_next_has_room)
{
	static char code[PUPPET_CODE_BYTES - 64];
	const int32_t back = -(int32_t)sizeof(code);

	bench.script.answer = next_address;
	bench.limits.exits = 1 << 20;
	/* syscall; jmp rax, to another place each time in what is all nops up to the end */
	memset(code, 0x90, sizeof(code));
	memcpy(code, "\x0f\x05\xff\xe0", 4);
	code[sizeof(code) - 5] = '\xe9';
	memcpy(code + sizeof(code) - 4, &back, sizeof(back));
	run(code, sizeof(code), NULL, 0);
	ck_assert_msg(bench.replay.end == HP_WINDOW_CACHE_FULL, "ended with \"%s\"",
		      hp_window_end_name(bench.replay.end));
	ck_assert_uint_gt(bench.replay.block_count, 1000);
	bench.script.answer = NULL;
	puppet_prepare(&bench.puppet);
	run(NULL, 0, NULL, 0);
	assert_end(HP_WINDOW_SYSTEM_CALL, PUPPET_CODE);
}

/* --- any bytes -------------------------------------------------------------------------------- */

TEST(whatever_is_run_a_replay_ends)
{
	static char code[PUPPET_CODE_BYTES - 64];
	struct hp_random random = hp_random_seeded(2026);

	bench.limits.exits = 1000;
	bench.limits.time_ns = 20000000;
	for (unsigned page = 0; page < 12; page++) {
		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (char)hp_random_next(&random);
		puppet_set_code(&bench.puppet, (const uint8_t *)code, sizeof(code));
		for (unsigned i = 0; i < 60; i++) {
			state_randomise(&bench.state, &bench.puppet, &random);
			bench.state.registers.rip =
				PUPPET_CODE + hp_random_between(&random, 0, sizeof(code) - 1);
			run(NULL, 0, NULL, 0);
			ck_assert_uint_ne(bench.replay.end, HP_WINDOW_COMPLETE);
			ck_assert_uint_ne(bench.replay.end, HP_WINDOW_DIED);
		}
	}
}

/* --- matches ---------------------------------------------------------------------------------- */

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

/* The original got another time, and keeps it on its stack. */
TEST(what_an_answer_is_about_does_not_tell_states_apart)
{
	static const char code[] = "\x0f\x05\x41\xb8\x11\x00\x00\x00\x90"
				   "\x41\xb8\x22\x00\x00\x00\x90"
				   "\x41\xb8\x33\x00\x00\x00\x90";
	struct hp_engine_sample samples[3];
	uint8_t stack[256];

	/* What system calls do to registers. */
	bench.state.registers.rax = 0;
	bench.state.registers.rcx = PUPPET_CODE + 2;
	bench.state.registers.r11 = bench.state.registers.eflags;
	for (unsigned i = 0; i < 3; i++)
		samples[i] = sample_at(8 + 7 * i, 0x11 * (i + 1), bench.state.registers.eflags);
	memcpy(stack, samples[1].stack, sizeof(stack));
	memset(stack + 64, 0x66, 8);
	for (unsigned i = 0; i < 3; i++)
		samples[i].stack = stack;
	bench.script.answer = answer_about;
	run(code, sizeof(code) - 1, samples, 3);
	ck_assert_uint_eq(bench.replay.matched, 3);
	/* The word next to it does. */
	stack[72] ^= 1;
	run(NULL, 0, samples, 3);
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

HP_TEST_MAIN_UNLESS(PUPPET_REASON, "shadow/engine")
