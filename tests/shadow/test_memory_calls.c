/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a copy maps, unmaps and protects; what nothing of it may touch. */
#include "../../src/shadow/syscalls/answers.h"
#include "calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>

TEST_WHERE(can_copy(), its_memory_is_its_own)
{
	struct hp_engine_call mapped;
	uint64_t value = 1;

	start();
	mapped = call(SYS_mmap, 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	ck_assert(mapped.is_handled && mapped.result > 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, (uint64_t)mapped.result, &value,
			       sizeof(value)));
	ck_assert_uint_eq(value, 0);
	answers(call(SYS_munmap, (uint64_t)mapped.result, 8192, 0, 0), 0);
	ck_assert(!sandbox_read(&stage.copied.sandbox, (uint64_t)mapped.result, &value,
				sizeof(value)));
	answers(call(SYS_madvise, at(0), 4096, MADV_DONTNEED, 0), 0);
	read_back(0, &value, sizeof(value));
	ck_assert_uint_eq(value, 0);
	ck_assert_uint_eq(stage.memory[0], 77);
}

TEST_WHERE(can_copy(), code_of_files_that_comes_or_goes_ends_the_window)
{
	uint64_t code = (uint64_t)(uintptr_t)&shadow_calls_handle & ~4095ull;

	start();
	ends(call(SYS_munmap, code, 4096, 0, 0), false);
	ends(call(SYS_mprotect, code, 4096, PROT_READ | PROT_WRITE, 0), false);
	ends(call(SYS_madvise, code, 4096, MADV_DONTNEED, 0), false);
	ends(call(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS), false);
}

static int protection_of(uint64_t address)
{
	const struct area *area = areas_find(stage.calls.areas, address);

	return area ? area->protection : 0;
}

/* As a JIT compiler does it. The copy may write it until it is protected, and so may calls. */
TEST_WHERE(can_copy(), code_that_the_program_makes_is_known_for_such)
{
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	uint64_t value = 5, made;

	start();
	answers(call(SYS_mprotect, at(0), 4096, PROT_READ | PROT_EXEC, 0), 0);
	ck_assert_int_eq(protection_of(at(0)), PROT_READ | PROT_EXEC);
	ck_assert(call_is_sacred(&stage.calls, at(0), 1));
	answers(call(SYS_mprotect, at(0), 4096, PROT_READ | PROT_WRITE, 0), 0);
	ck_assert(!call_is_sacred(&stage.calls, at(0), 1));
	made = (uint64_t)call(SYS_mmap, 0, 12288, all, MAP_PRIVATE | MAP_ANONYMOUS).result;
	ck_assert_int_eq(protection_of(made), all);
	ck_assert(call_write(&stage.calls, made, &value, 8));
	ck_assert(shadow_calls_protect(&stage.calls, made, 4096, PROT_READ));
	ck_assert(!call_write(&stage.calls, made, &value, 8));
	ck_assert(call_write(&stage.calls, made + 4096, &value, 8));
	ck_assert(shadow_calls_protect(&stage.calls, made, 4096, PROT_READ | PROT_WRITE));
	ck_assert(call_write(&stage.calls, made, &value, 8));
	answers(call(SYS_munmap, made + 4096, 4096, 0, 0), 0);
	ck_assert_int_eq(protection_of(made), all);
	ck_assert_int_eq(protection_of(made + 4096), 0);
	ck_assert_int_eq(protection_of(made + 8192), all);
	ck_assert(!shadow_calls_protect(&stage.calls, stage.copied.sandbox.tools, 4096, PROT_READ));
}

/* Wherever a range begins or ends in what is ours, and however it wraps around. */
TEST_WHERE(can_copy(), memory_of_the_engines_is_touched_by_no_call)
{
	const uint64_t ours = 0x300000000000, bytes = 1 << 20;
	uint64_t tools;

	start();
	tools = stage.copied.sandbox.tools;
	ck_assert(sandbox_reserve(&stage.copied.sandbox, ours, bytes));
	for (size_t i = 0; i < 4; i++) {
		const uint64_t places[][2] = {
			{ i % 2 ? tools : ours, 4096 },
			{ (i % 2 ? tools : ours) - 8192, 8193 },
			{ i % 2 ? tools - 4096 : ours + bytes - 4096, 1 },
			{ 4096, UINT64_MAX - 4096 },
		};
		const uint64_t *place = places[i];

		ends(call(SYS_munmap, place[0], place[1], 0, 0), false);
		ends(call(SYS_mprotect, place[0], place[1], PROT_READ, 0), false);
		ends(call(SYS_madvise, place[0], place[1], MADV_DONTNEED, 0), false);
		ends(call(SYS_mremap, place[0], place[1], 4096, MREMAP_MAYMOVE), false);
		ends(call(SYS_mmap, place[0], place[1], PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED),
		     false);
		/* Nor is another moved there. */
		struct user_regs_struct registers = stage.state.registers;

		registers.rax = SYS_mremap;
		registers.rdi = at(0);
		registers.rsi = 4096;
		registers.rdx = place[1];
		registers.r10 = (uint64_t)(MREMAP_MAYMOVE | MREMAP_FIXED);
		registers.r8 = place[0];
		ck_assert(!shadow_calls_handle(&stage.calls, stage.copied.sandbox.pid, &registers)
				   .is_handled);
	}
	/* A break that takes all below it away. */
	stage.calls.heap = (struct sandbox_range){ ours - 4096, ours + bytes };
	stage.calls.heap_end = ours + bytes;
	ends(call(SYS_brk, ours, 0, 0, 0), false);
	ends(call(SYS_brk, ours - 8192, 0, 0, 0), false);
	ends(call(SYS_brk, UINT64_MAX - 100, 0, 0, 0), false);
}

/* Answers are written whatever the protection: not to our code, not to the program's. */
TEST_WHERE(can_copy(), no_answer_is_written_to_code)
{
	static const uint8_t tools_code[] = { 0x0f, 0x05, 0xcc };
	const uint64_t whole[4] = { 0 };
	uint64_t places[3];
	uint8_t before[256];
	uint8_t after[256];
	uint64_t name;
	uint64_t fd;

	start();
	fd = (uint64_t)stage.reading;
	name = at(100);
	places[0] = stage.copied.sandbox.tools;
	places[1] = stage.copied.sandbox.tools - 1; /* and on into it */
	places[2] = stage.state.registers.rip;
	ck_assert(sandbox_read(&stage.copied.sandbox, places[2], before, sizeof(before)));
	put(200, whole, sizeof(whole));
	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++) {
		const uint64_t place = places[i];
		const struct iovec vector = { (void *)(uintptr_t)place, 3 };

		put(300, &vector, sizeof(vector));
		ends(call(SYS_read, fd, place, 4, 0), false);
		ends(call(SYS_pread64, fd, place, 4, 0), false);
		ends(call(SYS_readv, fd, at(300), 1, 0), false);
		ends(call(SYS_fstat, fd, place, 0, 0), false);
		ends(call(SYS_stat, name, place, 0, 0), false);
		ends(call(SYS_newfstatat, FROM_HERE, name, place, 0), false);
		ends(call(SYS_getcwd, place, 4096, 0, 0), false);
		ends(call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, place), false);
		ends(call(SYS_sched_getaffinity, 0, 128, place, 0), false);
		ends(call(SYS_getrusage, RUSAGE_SELF, place, 0, 0), false);
		ends(call(SYS_times, place, 0, 0, 0), false);
		ends(call(SYS_sysinfo, place, 0, 0, 0), false);
		ends(call(SYS_rt_sigprocmask, SIG_BLOCK, at(200), place, 8), false);
		ends(call(SYS_clock_gettime, CLOCK_MONOTONIC, place, 0, 0), false);
		ends(call(SYS_gettimeofday, place, 0, 0, 0), false);
		ends(call(SYS_time, place, 0, 0, 0), false);
	}
	ck_assert(sandbox_read(&stage.copied.sandbox, places[0], after, sizeof(tools_code)));
	ck_assert_mem_eq(after, tools_code, sizeof(tools_code));
	ck_assert(sandbox_read(&stage.copied.sandbox, places[2], after, sizeof(after)));
	ck_assert_mem_eq(after, before, sizeof(before));
}

TEST_WHERE(can_copy(), a_mapping_of_a_file_has_what_is_in_it)
{
	struct user_regs_struct registers;
	struct hp_engine_call mapped;
	char found[11] = "";

	start();
	registers = stage.state.registers;
	registers.rax = SYS_mmap;
	registers.rdi = 0;
	registers.rsi = 4096;
	registers.rdx = PROT_READ;
	registers.r10 = MAP_SHARED;
	registers.r8 = (unsigned)stage.reading;
	registers.r9 = 0;
	mapped = shadow_calls_handle(&stage.calls, stage.copied.sandbox.pid, &registers);
	ck_assert(mapped.is_handled && mapped.result > 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, (uint64_t)mapped.result, found, 10));
	ck_assert_str_eq(found, "0123456789");
	/* More than anybody reads in a window. */
	registers.rsi = (uint64_t)1 << 40;
	ck_assert(!shadow_calls_handle(&stage.calls, stage.copied.sandbox.pid, &registers)
			   .is_handled);
}

HP_TEST_MAIN("shadow/memory_calls")
