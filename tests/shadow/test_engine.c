/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How replays end and what they find, with code of a few bytes each. */
#include "../support.h"

#include "replays.h"
#include "../../src/shadow/translate/code_cache.h"

#include <assert.h>
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

SETUP
{
	start_replays();
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

static struct hp_engine_call answer_zero(struct script *script, pid_t pid,
					 const struct user_regs_struct *registers)
{
	(void)script;
	(void)pid;
	(void)registers;
	return (struct hp_engine_call){ .is_handled = true };
}

enum { MOST_EXITS = 50 };

/* How many calls it makes until it has come out too often. */
static uint64_t calls_until_stopped(void)
{
	bench.limits.exits = MOST_EXITS;
	RUN("\x0f\x05\xeb\xfc"); /* syscall; jmp back */
	assert_end(HP_WINDOW_EXITS, 0);
	return bench.script.calls;
}

TEST(a_shadow_that_comes_out_too_often_is_stopped)
{
	uint64_t calls;

	bench.script.answer = answer_zero;
	calls = calls_until_stopped();
	ck_assert_uint_ge(calls, MOST_EXITS - 10);
	ck_assert_uint_le(calls, MOST_EXITS);
}

static int sent;

static struct hp_engine_call answer_and_send(struct script *script, pid_t pid,
					     const struct user_regs_struct *registers)
{
	(void)script;
	(void)registers;
	ck_assert_int_eq(kill(pid, sent), 0);
	return (struct hp_engine_call){ .is_handled = true };
}

/* By a shell's job control, or by a freezer of all processes. Its stops are exits, too, so nobody can
 * keep us busy by them. */
TEST(a_shadow_that_others_stop_or_continue_goes_on)
{
	static const int signals[] = { SIGSTOP, SIGCONT };

	for (size_t i = 0; i < HP_ARRAY_COUNT(signals); i++) {
		uint64_t calls;

		sent = signals[i];
		bench.script.calls = 0;
		bench.script.answer = answer_and_send;
		calls = calls_until_stopped();
		ck_assert_uint_ge(calls, MOST_EXITS / 2 - 5);
		ck_assert_uint_le(calls, MOST_EXITS / 2 + 5);
	}
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
		restart_replays();
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

/* --- indirect branches ------------------------------------------------------------------------ */

/* Together more than the log of a zone has room for. */
enum { CALLS = 500, ROUNDS = 20, CALL_BYTES = 5 };
static_assert(CALLS * ROUNDS > CODE_EXPECTED_ENTRIES, "the log becomes full");

/* A function that returns to CALLS places, in each of ROUNDS; what is at PUPPET_CODE. */
static size_t many_calls(char *code)
{
	char *at = code;
	int32_t distance;

	at = stpcpy(at, "\xb9"); /* mov ROUNDS, %ecx */
	memcpy(at, (const int32_t[]){ ROUNDS }, 4);
	at += 4;
	for (int i = 0; i < CALLS; i++, at += CALL_BYTES) {
		/* call the end */
		distance = (CALLS - i - 1) * CALL_BYTES + 10;
		*at = '\xe8';
		memcpy(at + 1, &distance, sizeof(distance));
	}
	memcpy(at, "\xff\xc9\x0f\x85", 4); /* dec %ecx; jne the first call */
	distance = -(CALLS * CALL_BYTES + 8);
	memcpy(at + 4, &distance, sizeof(distance));
	memcpy(at + 8, "\x0f\x05\xc3", 3); /* syscall; ret */
	return (size_t)(at + 11 - code);
}

static uint64_t returns_to(uint64_t address)
{
	for (size_t i = 0; i < bench.replay.edge_count; i++)
		if (bench.replay.edges[i].kind == HP_WINDOW_EDGE_RETURN &&
		    bench.replay.edges[i].to.value == address)
			return bench.replay.edges[i].counts[0];
	return 0;
}

TEST(returns_to_many_places_are_counted_without_leaving_the_cache)
{
	static char code[(CALLS + 5) * CALL_BYTES];
	size_t bytes = many_calls(code);

	if (!__builtin_cpu_supports("sse4.2"))
		return;
	/* The second time they are known. */
	for (int pass = 0; pass < 2; pass++) {
		run(pass == 0 ? code : NULL, bytes, NULL, 0);
		assert_end(HP_WINDOW_SYSTEM_CALL, PUPPET_CODE + bytes - 3);
		for (unsigned i = 0; i < CALLS; i++)
			ck_assert_uint_eq(returns_to(PUPPET_CODE + 5 + (i + 1) * CALL_BYTES),
					  ROUNDS);
		ck_assert_uint_lt(bench.replay.exits, pass == 0 ? CALLS / 10 : 3);
	}
}

/* As a copy that writes to what hpcprof reads: the data of the first zone. */
static struct hp_engine_call forge_log(struct script *script, pid_t pid,
				       const struct user_regs_struct *registers)
{
	enum { ZONE_BYTES = 16 << 20, DATA_AT = ZONE_BYTES / 8 * 7, LOG_AT = CODE_PAGE_BYTES };
	const size_t bytes = LOG_AT + CODE_EXPECTED_LOG_BYTES;
	uint8_t *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			     hp_engine_memory(script->puppet->engine, 0), DATA_AT);
	struct hp_random random = hp_random_seeded(script->calls);
	struct code_went *log;
	uint64_t *words;

	(void)pid;
	(void)registers;
	ck_assert_ptr_ne(data, MAP_FAILED);
	words = (uint64_t *)(void *)data;
	log = (struct code_went *)(void *)(data + LOG_AT);
	/* The words are where translated code keeps them. */
	ck_assert_uint_le(words[CODE_EXPECTED_ROOM], CODE_EXPECTED_ENTRIES);
	words[CODE_EXPECTED_ROOM] = hp_random_between(&random, 1, 2 * CODE_EXPECTED_ENTRIES);
	words[CODE_EXPECTED_SITE] = hp_random_next(&random);
	for (size_t i = 0; i < CODE_EXPECTED_ENTRIES; i++)
		log[i] = (struct code_went){
			.address = PUPPET_CODE + hp_random_between(&random, 0, 32),
			.site = i % 2 ? hp_random_next(&random) : hp_random_between(&random, 0, 4),
		};
	munmap(data, bytes);
	return (struct hp_engine_call){ .is_handled = true };
}

TEST(a_forged_log_of_branches_is_bounded)
{
	bench.script.answer = forge_log;
	bench.limits.exits = 200;
	/* call to the end; syscall; jmp to the call; ret */
	RUN("\xe8\x04\x00\x00\x00\x0f\x05\xeb\xf7\xc3");
	assert_end(HP_WINDOW_EXITS, 0);
	ck_assert_uint_ge(bench.script.calls, 100);
	ck_assert_uint_le(bench.replay.block_count, 16);
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

HP_TEST_MAIN_UNLESS(PUPPET_REASON, "shadow/engine")
