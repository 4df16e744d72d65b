/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy whose code has got out of the translator: native code of the attacker's, which knows where
 * everything is. Each wall by itself. */
#include "../support.h"
#include "copied.h"

#include "../../src/shadow/replay/engine.h"
#include "../../src/shadow/copy/sandbox_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PAGE = 4096, LAST_NUMBER = 600, OTHER_NUMBERS = 0x40000000 };

/* Where the attacker's code is: a page that the test makes executable before the walls are up. */
static const uint64_t escaped = 0x200000000000;

static const uint8_t call_code[] = { 0x0f, 0x05, 0xcc };	/* syscall; int3 */
static const uint8_t old_call_code[] = { 0xcd, 0x80, 0xcc };	/* int $0x80; int3 */
static const uint8_t store_code[] = { 0x48, 0x89, 0x07, 0xcc }; /* mov %rax, (%rdi); int3 */

static void start(struct sandbox *sandbox)
{
	struct areas nothing = { 0 };
	cpu_set_t cpus;

	sandbox_init(sandbox);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	hp_assert_ok(sandbox_create(sandbox, &nothing, &cpus));
	ck_assert_int_eq(sandbox_call(sandbox, SYS_mmap, escaped, PAGE,
				      PROT_READ | PROT_WRITE | PROT_EXEC,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX, 0),
			 (int64_t)escaped);
}

static void start_locked(struct sandbox *sandbox, const uint8_t *code, size_t bytes)
{
	start(sandbox);
	ck_assert(sandbox_write(sandbox, escaped, code, bytes));
	hp_assert_ok(sandbox_lock(sandbox));
}

/* Runs on natively from `address`, until it stops or ends. */
static int let_run(struct sandbox *sandbox, uint64_t address, uint64_t rax, uint64_t rdi,
		   uint64_t rdx)
{
	struct user_regs_struct registers;
	int status;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, sandbox->pid, NULL, &registers), 0);
	registers.rip = address;
	registers.rax = rax;
	registers.rdi = rdi;
	registers.rsi = PAGE;
	registers.rdx = rdx;
	registers.r10 = MAP_PRIVATE | MAP_ANONYMOUS;
	registers.r8 = UINT64_MAX;
	registers.r9 = 0;
	registers.orig_rax = UINT64_MAX;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, sandbox->pid, NULL, &registers), 0);
	ck_assert_int_eq(ptrace(PTRACE_CONT, sandbox->pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(sandbox->pid, &status, __WALL), sandbox->pid);
	return status;
}

/* By these, which no filter sees, code that the kernel has put into a program comes back to it
 * (uprobes, since Linux 6.11). Of any other code they are an error, or an illegal instruction. */
enum { SYS_URETPROBE = 335, SYS_UPROBE = 336 };

static void is_killed(int status, const char *by, long number)
{
	bool is_for_probes = number == SYS_URETPROBE || number == SYS_UPROBE;

	if (is_for_probes && WIFSTOPPED(status) &&
	    (WSTOPSIG(status) == SIGILL || WSTOPSIG(status) == SIGTRAP))
		return;
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s %ld: status 0x%x", by,
		      number, (unsigned)status);
}

TEST(a_copy_that_makes_any_system_call_of_its_own_is_killed)
{
	for (long number = 0; number <= LAST_NUMBER; number++) {
		struct sandbox sandbox;

		start_locked(&sandbox, call_code, sizeof(call_code));
		is_killed(let_run(&sandbox, escaped, (uint64_t)number, 0, 0), "call", number);
		sandbox_clear(&sandbox);
	}
}

TEST(other_ways_into_the_kernel_end_it_too)
{
	static const long numbers[] = { SYS_getpid, SYS_mmap, SYS_execve, SYS_clone };
	struct sandbox sandbox;
	int status;

	for (size_t i = 0; i < HP_ARRAY_COUNT(numbers); i++) {
		long number = numbers[i] | OTHER_NUMBERS;

		start_locked(&sandbox, call_code, sizeof(call_code));
		is_killed(let_run(&sandbox, escaped, (uint64_t)number, 0, 0), "x32", number);
		sandbox_clear(&sandbox);
		start_locked(&sandbox, old_call_code, sizeof(old_call_code));
		/* A kernel without calls of 32-bit programs: a fault. */
		status = let_run(&sandbox, escaped, (uint64_t)numbers[i], 0, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSEGV)
			is_killed(status, "int 0x80", numbers[i]);
		sandbox_clear(&sandbox);
	}
}

/* By our own instruction: what we might ask for comes to us first, and nothing has happened. */
TEST(the_way_by_our_own_instruction_leads_to_us)
{
	static const struct {
		long number;
		int protection;
		bool is_ours;
	} cases[] = {
		{ SYS_mmap, PROT_READ | PROT_WRITE, true },
		{ SYS_munmap, 0, true },
		{ SYS_mremap, 0, true },
		{ SYS_madvise, MADV_DONTNEED, true },
		{ SYS_mprotect, PROT_READ, true },
		{ SYS_mmap, PROT_READ | PROT_EXEC, false },
		{ SYS_mprotect, PROT_EXEC, false },
		{ SYS_pkey_mprotect, PROT_READ, false },
		{ SYS_getpid, 0, false },
		{ SYS_openat, 0, false },
		{ SYS_clone, 0, false },
		{ SYS_execve, 0, false },
		{ SYS_ptrace, 0, false },
		{ SYS_prctl, 0, false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct user_regs_struct registers;
		struct sandbox sandbox;
		int status;

		start_locked(&sandbox, call_code, sizeof(call_code));
		status = let_run(&sandbox, sandbox.tools, (uint64_t)cases[i].number, escaped,
				 (uint64_t)cases[i].protection);
		if (cases[i].is_ours) {
			ck_assert_msg(WIFSTOPPED(status) &&
					      status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8),
				      "call %ld: status 0x%x", cases[i].number, (unsigned)status);
			ck_assert_int_eq(ptrace(PTRACE_GETREGS, sandbox.pid, NULL, &registers), 0);
			ck_assert_int_eq((int64_t)registers.rax, -ENOSYS);
		} else {
			is_killed(status, "call", cases[i].number);
		}
		sandbox_clear(&sandbox);
	}
}

/* The code that makes many calls is for us, and of no use to a copy. */
TEST(nor_does_any_other_of_our_instructions_help_it)
{
	enum { LONGEST_CODE = 64 };
	static const uint8_t instruction[] = { 0x0f, 0x05 };
	uint8_t code[LONGEST_CODE] = { 0 };
	struct sandbox sandbox;
	const uint8_t *found;
	uint64_t at;

	start(&sandbox);
	ck_assert(sandbox_read(&sandbox, sandbox.tools, code, sizeof(code)));
	found = memmem(code + 2, sizeof(code) - 2, instruction, sizeof(instruction));
	ck_assert_ptr_nonnull(found);
	hp_assert_ok(sandbox_lock(&sandbox));
	at = sandbox.tools + (uint64_t)(found - code);
	is_killed(let_run(&sandbox, at, SYS_mmap, escaped, PROT_READ), "call", SYS_mmap);
	sandbox_clear(&sandbox);
}

TEST(many_calls_have_the_results_of_each)
{
	enum { CALLS = 1000, CLOSED = 999 };
	static struct shadow_call calls[CALLS];
	struct sandbox sandbox;

	start(&sandbox);
	for (uint64_t i = 0; i < CALLS; i++)
		calls[i] = (struct shadow_call){ SYS_mprotect, { escaped, PAGE, i % 4 } };
	calls[1] = (struct shadow_call){ SYS_close, { CLOSED } };
	ck_assert(sandbox_calls(&sandbox, calls, CALLS));
	for (size_t i = 0; i < CALLS; i++)
		ck_assert_int_eq(calls[i].number, i == 1 ? -EBADF : 0);
	kill(sandbox.pid, SIGKILL);
	ck_assert(!sandbox_calls(&sandbox, calls, 1));
	sandbox_clear(&sandbox);
}

TEST(many_files_are_opened_and_one_that_is_none_is_not)
{
	enum { FILES = 300, NONE = 200 };
	static struct sandbox_file files[FILES];
	struct sandbox sandbox;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	start(&sandbox);
	for (size_t i = 0; i < FILES; i++)
		files[i].ours = i == NONE ? -1 : fd;
	ck_assert(sandbox_open_all(&sandbox, files, FILES));
	for (size_t i = 0; i < FILES; i++) {
		int64_t at = sandbox_call(&sandbox, SYS_mmap, 0, PAGE, PROT_READ, MAP_PRIVATE,
					  (uint64_t)files[i].theirs, 0);

		ck_assert_int_eq(files[i].theirs >= 0, i != NONE);
		ck_assert_int_eq(at > 0, i != NONE);
	}
	sandbox_clear(&sandbox);
	close(fd);
}

TEST(what_we_ask_for_is_done)
{
	struct sandbox sandbox;
	uint64_t word = 0;

	start_locked(&sandbox, store_code, sizeof(store_code));
	ck_assert_int_eq(sandbox_call(&sandbox, SYS_mmap, escaped + PAGE, PAGE,
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX, 0),
			 (int64_t)escaped + PAGE);
	ck_assert_int_eq(WSTOPSIG(let_run(&sandbox, escaped, 77, escaped + PAGE, 0)), SIGTRAP);
	ck_assert(sandbox_read(&sandbox, escaped + PAGE, &word, sizeof(word)));
	ck_assert_uint_eq(word, 77);
	ck_assert_int_eq(sandbox_call(&sandbox, SYS_munmap, escaped + PAGE, PAGE, 0, 0, 0, 0), 0);
	sandbox_clear(&sandbox);
}

/* As a watchdog tells it to, whose limit may be over at any moment. */
TEST(a_copy_that_is_told_to_stop_makes_our_call_first)
{
	struct sandbox sandbox;

	start_locked(&sandbox, store_code, sizeof(store_code));
	ck_assert_int_eq(kill(sandbox.pid, SIGSTOP), 0);
	ck_assert_int_eq(sandbox_call(&sandbox, SYS_munmap, escaped + PAGE, PAGE, 0, 0, 0, 0), 0);
	ck_assert_int_eq(WSTOPSIG(let_run(&sandbox, escaped, 77, escaped, 0)), SIGSTOP);
	sandbox_clear(&sandbox);
}

/* --- the engine's memory ---------------------------------------------------------------------- */

static void map_engine(struct sandbox *sandbox, const struct hp_engine *engine,
		       const struct hp_engine_mapping *mappings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_written = mappings[i].protection & PROT_WRITE;
		int64_t fd = sandbox_open(sandbox, hp_engine_memory(engine, mappings[i].memory),
					  is_written ? O_RDWR : O_RDONLY);

		ck_assert_int_eq(sandbox_call(sandbox, SYS_mmap, mappings[i].address,
					      mappings[i].bytes, (uint64_t)mappings[i].protection,
					      MAP_SHARED | MAP_FIXED_NOREPLACE, (uint64_t)fd,
					      mappings[i].offset),
				 (int64_t)mappings[i].address);
	}
}

/* Where another part of the cache goes on behind this one, in the next file. */
static bool goes_on(const struct hp_engine_mapping *mappings, size_t count, size_t which)
{
	return which + 1 < count &&
	       mappings[which + 1].address == mappings[which].address + mappings[which].bytes;
}

/* The word at `address` can be written, or cannot. */
static void try_to_write(struct sandbox *sandbox, uint64_t address, bool may)
{
	ck_assert_int_eq(WSTOPSIG(let_run(sandbox, escaped, 1, address, 0)),
			 may ? SIGTRAP : SIGSEGV);
}

/* The first word of a mapping, the one in front of it, and the one behind. */
static void try_mapping(struct sandbox *sandbox, const struct hp_engine_mapping *mappings,
			size_t count, size_t which)
{
	const struct hp_engine_mapping *mapping = &mappings[which];
	bool is_data = mapping->protection & PROT_WRITE;

	try_to_write(sandbox, mapping->address, is_data);
	try_to_write(sandbox, mapping->address - 8,
		     is_data && which && goes_on(mappings, count, which - 1));
	try_to_write(sandbox, mapping->address + mapping->bytes,
		     is_data && goes_on(mappings, count, which));
	/* Not even by a call of ours: it was mapped from what is only read. */
	ck_assert_int_eq(sandbox_call(sandbox, SYS_mprotect, mapping->address, PAGE,
				      PROT_READ | PROT_WRITE, 0, 0, 0),
			 is_data ? 0 : -EACCES);
}

/* What is executed is not even read, tables are only read, and what is written is neither. */
static void assert_kinds(const struct hp_engine_mapping *mappings, size_t count)
{
	size_t found[3] = { 0 };

	for (size_t i = 0; i < count; i++) {
		found[0] += mappings[i].protection == PROT_EXEC;
		found[1] += mappings[i].protection == PROT_READ;
		found[2] += mappings[i].protection == (PROT_READ | PROT_WRITE);
	}
	ck_assert_uint_gt(found[0], 0);
	ck_assert_uint_gt(found[1], 0);
	ck_assert_uint_gt(found[2], 0);
	ck_assert_uint_eq(found[0] + found[1] + found[2], count);
}

static void try_all_mappings(struct hp_engine *engine)
{
	const struct hp_engine_mapping *mappings;
	size_t count = 1;

	for (size_t which = 0; which < count; which++) {
		struct sandbox sandbox;

		start(&sandbox);
		ck_assert(sandbox_write(&sandbox, escaped, store_code, sizeof(store_code)));
		hp_assert_ok(hp_engine_prepare(engine, sandbox.pid, NULL, &mappings, &count));
		assert_kinds(mappings, count);
		map_engine(&sandbox, engine, mappings, count);
		hp_assert_ok(sandbox_lock(&sandbox));
		try_mapping(&sandbox, mappings, count, which);
		sandbox_clear(&sandbox);
	}
}

TEST(code_and_tables_cannot_be_written_by_anybody_in_it)
{
	struct hp_engine_options options = { 0 };
	struct hp_engine *engine;

	hp_assert_ok(hp_engine_create(&options, &engine));
	ck_assert_int_lt(hp_engine_memory(engine, 1), 0);
	try_all_mappings(engine);
	hp_engine_destroy(engine);
}

TEST(nor_where_a_limit_makes_several_files_of_them)
{
	const struct rlimit limit = { (7 << 20) + 1, RLIM_INFINITY };
	struct hp_engine_options options = { .cache_bytes = 64 << 20 };
	struct hp_engine *engine;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	hp_assert_ok(hp_engine_create(&options, &engine));
	ck_assert_int_ge(hp_engine_memory(engine, 9), 0);
	ck_assert_int_lt(hp_engine_memory(engine, 10), 0);
	try_all_mappings(engine);
	hp_engine_destroy(engine);
}

TEST(places_differ_from_engine_to_engine)
{
	uint64_t tools[4], zones[4];
	bool differ = false, zones_differ = false;

	for (size_t i = 0; i < HP_ARRAY_COUNT(tools); i++) {
		struct hp_engine_options options = { 0 };
		const struct hp_engine_mapping *mappings;
		struct hp_engine *engine;
		struct sandbox sandbox;
		size_t count;

		hp_assert_ok(hp_engine_create(&options, &engine));
		start(&sandbox);
		hp_assert_ok(hp_engine_prepare(engine, sandbox.pid, NULL, &mappings, &count));
		ck_assert_uint_gt(count, 0);
		tools[i] = sandbox.tools;
		zones[i] = mappings[0].address;
		differ |= i && tools[i] != tools[0];
		zones_differ |= i && zones[i] != zones[0];
		sandbox_clear(&sandbox);
		hp_engine_destroy(engine);
	}
	ck_assert(differ);
	ck_assert(zones_differ);
}

HP_TEST_MAIN("shadow/sandbox")
