/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running process, read while it is held for a moment, and rebuilt in a process of ours. */
#include "../support.h"
#include "copied.h"

#include "../../src/shadow/copy/sandbox_lock.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { PAGE = 4096, BIG = 3 << 20 };

/* What a target has, made before it is forked so that both know where it is. */
static struct {
	uint8_t *written, *untouched, *shared, *read_only, *none, *file, *file_shared;
	char path[64];
} memory;

static uint8_t *map_anew(size_t bytes, int flags, int fd)
{
	uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

static void free_memory(void *nothing);

/* Until the test ends. */
static void make_memory(void)
{
	int fd;

	strcpy(memory.path, "/tmp/hpcprof-copy.XXXXXX");
	fd = mkstemp(memory.path);
	ck_assert_int_ge(fd, 0);
	for (int i = 0; i < 2 * PAGE; i++)
		ck_assert_int_eq(write(fd, "f", 1), 1);
	memory.written = map_anew(BIG, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (size_t i = 0; i < BIG; i += 7)
		memory.written[i] = (uint8_t)(i / 7);
	memory.untouched = map_anew(BIG, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memory.shared = map_anew(PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
	strcpy((char *)memory.shared, "shared");
	memory.read_only = map_anew(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	strcpy((char *)memory.read_only, "constant");
	mprotect(memory.read_only, PAGE, PROT_READ);
	memory.none = map_anew(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mprotect(memory.none, PAGE, PROT_NONE);
	memory.file = map_anew(2 * PAGE, MAP_PRIVATE, fd);
	memory.file[PAGE] = 'w';
	memory.file_shared = map_anew(PAGE, MAP_SHARED, fd);
	close(fd);
	at_end(free_memory, NULL);
}

static void free_memory(void *nothing)
{
	(void)nothing;
	munmap(memory.written, BIG);
	munmap(memory.untouched, BIG);
	munmap(memory.shared, PAGE);
	munmap(memory.read_only, PAGE);
	munmap(memory.none, PAGE);
	munmap(memory.file, 2 * PAGE);
	munmap(memory.file_shared, PAGE);
	unlink(memory.path);
}

/* Until the child has set this byte. */
static void await_shared(size_t at)
{
	while (!*(volatile uint8_t *)&memory.shared[at])
		usleep(1000);
}

/* A target with memory. */
static pid_t start_target(void)
{
	pid_t pid;

	make_memory();
	pid = fork();
	if (pid == 0) {
		/* What it shares is a copy's only as far as it has it in its own page table. */
		memory.shared[103] = 1;
		for (;;)
			;
	}
	ck_assert_int_gt(pid, 0);
	await_shared(103);
	return pid;
}

static void end_target(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static struct held_state state; /* too large for the stack */
static struct hold_times times;

static void make_copy(struct copied *copy, pid_t pid, bool is_old_kernel)
{
	copied_hold(copy, pid, is_old_kernel, &state);
	copied_rebuild(copy, pid);
	hp_assert_ok(rebuild_close(&copy->sandbox, &copy->snapshot.areas));
}

static void assert_same_bytes(pid_t target, struct copied *copy, const uint8_t *at, size_t bytes)
{
	uint8_t *wanted = malloc(bytes);
	uint8_t *found = malloc(bytes);
	struct iovec local = { wanted, bytes };
	struct iovec remote = { (void *)(uintptr_t)at, bytes };

	ck_assert_int_eq(process_vm_readv(target, &local, 1, &remote, 1, 0), (ssize_t)bytes);
	ck_assert(sandbox_read(&copy->sandbox, (uint64_t)(uintptr_t)at, found, bytes));
	ck_assert_mem_eq(wanted, found, bytes);
	free(wanted);
	free(found);
}

static void assert_same(pid_t target, struct copied *copy)
{
	assert_same_bytes(target, copy, memory.written, BIG);
	assert_same_bytes(target, copy, memory.untouched, BIG);
	assert_same_bytes(target, copy, memory.shared, PAGE);
	assert_same_bytes(target, copy, memory.read_only, PAGE);
	assert_same_bytes(target, copy, memory.file, 2 * PAGE);
	assert_same_bytes(target, copy, memory.file_shared, PAGE);
}

static void ignore(int signal)
{
	(void)signal;
}

/* Ctrl-C, while a copy is in the making: it ends the recording, not the copy. */
TEST_WHERE(can_copy(), a_signal_to_all_of_our_group_is_none_of_a_copys)
{
	struct copied copy;
	pid_t pid;

	/* Not to whoever runs us. */
	ck_assert_int_eq(getpgrp() == getpid() ? 0 : setpgid(0, 0), 0);
	signal(SIGINT, ignore);
	pid = start_target();
	copied_hold(&copy, pid, false, &state);
	ck_assert_int_eq(kill(0, SIGINT), 0);
	copied_rebuild(&copy, pid);
	ck_assert_int_gt(sandbox_call(&copy.sandbox, SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
	copied_clear(&copy);
	end_target(pid);
	signal(SIGINT, SIG_DFL);
}

TEST_WHERE(can_copy(), a_copy_holds_what_the_target_holds)
{
	struct copied copy;
	pid_t pid;

	pid = start_target();
	make_copy(&copy, pid, false);
	assert_same(pid, &copy);
	copied_clear(&copy);
	end_target(pid);
}

/* Bytes of our own in huge pages, as the kernel adds them up. */
static uint64_t huge_bytes(void)
{
	static const char *const names[] = { "\nAnonHugePages:", "\nShmemPmdMapped:",
					     "\nFilePmdMapped:" };
	_cleanup_free_ char *text = hp_file_text("/proc/self/smaps_rollup");
	uint64_t sum = 0;

	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *line = strstr(text, names[i]);

		sum += line ? strtoull(line + strlen(names[i]), NULL, 10) << 10 : 0;
	}
	return sum;
}

static bool add_bytes(void *context, uint64_t start, uint64_t end)
{
	*(uint64_t *)context += end - start;
	return true;
}

TEST(huge_pages_are_told)
{
	const size_t bytes = 8 * HUGE_PAGE_BYTES;
	void *region =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t found = 0, all = 0;
	struct snapshot snapshot;
	bool is_old;

	ck_assert_ptr_ne(region, MAP_FAILED);
	/* Where the kernel gives none, none are told. */
	madvise(region, bytes, MADV_HUGEPAGE);
	memset(region, 1, bytes);
	snapshot_init(&snapshot);
	ck_assert_ptr_null(snapshot_prepare(&snapshot, getpid(), &all));
	ck_assert_ptr_null(snapshot_find_huge(&snapshot, add_bytes, &found));
	is_old = snapshot.pages.is_old;
	snapshot_clear(&snapshot);
	ck_assert_uint_eq(found, is_old ? 0 : huge_bytes());
	munmap(region, bytes);
}

TEST(kernels_before_6_7_tell_the_same_pages)
{
	struct snapshot snapshot;
	struct hp_error *error;
	struct copied copy;
	uint64_t bytes;
	pid_t pid;

	snapshot_init(&snapshot);
	snapshot.pages.is_old = true;
	error = snapshot_prepare(&snapshot, getpid(), &bytes);
	snapshot_clear(&snapshot);
	if (error) {
		ck_assert_int_eq(error->class, HP_ERROR_INSUFFICIENT);
		hp_error_destroy(error);
		return;
	}
	pid = start_target();
	make_copy(&copy, pid, true);
	assert_same(pid, &copy);
	copied_clear(&copy);
	end_target(pid);
}

TEST_WHERE(can_copy(), what_a_copy_writes_reaches_nobody)
{
	struct copied copy;
	uint8_t byte = 'x';
	char found;
	pid_t pid;
	int fd;

	pid = start_target();
	make_copy(&copy, pid, false);
	/* As the copy itself would: no way round protections. */
	for (int i = 0; i < 2; i++) {
		uint8_t *at = i ? memory.file_shared : memory.shared;
		struct iovec local = { &byte, 1 };
		struct iovec remote = { at, 1 };

		ck_assert_int_eq(process_vm_writev(copy.sandbox.pid, &local, 1, &remote, 1, 0), 1);
	}
	ck_assert_str_eq((char *)memory.shared, "shared");
	ck_assert_int_eq(memory.file_shared[0], 'f');
	fd = open(memory.path, O_RDONLY);
	ck_assert_int_eq(pread(fd, &found, 1, 0), 1);
	ck_assert_int_eq(found, 'f');
	close(fd);
	copied_clear(&copy);
	end_target(pid);
}

/* Its own code is there to be read. */
static int protection_of_copy(const struct area *wanted)
{
	if (wanted->kind == AREA_VVAR)
		return PROT_NONE;
	return wanted->protection & PROT_EXEC ? (wanted->protection | PROT_READ) & ~PROT_EXEC
					      : wanted->protection;
}

TEST_WHERE(can_copy(), areas_of_a_copy_are_where_the_targets_are)
{
	struct areas areas = { 0 };
	struct copied copy;
	pid_t pid;

	pid = start_target();
	make_copy(&copy, pid, false);
	hp_assert_ok(areas_read(&areas, copy.sandbox.pid));
	for (size_t i = 0; i < copy.snapshot.areas.count; i++) {
		const struct area *wanted = &copy.snapshot.areas.at[i];
		const struct area *found = areas_find(&areas, wanted->start);

		if (wanted->kind == AREA_VSYSCALL)
			continue;
		ck_assert_msg(found != NULL, "nothing at 0x%llx %s",
			      (unsigned long long)wanted->start, wanted->path);
		ck_assert_int_eq(found->protection, protection_of_copy(wanted));
		ck_assert(!found->is_shared);
		found = areas_find(&areas, wanted->end - 1);
		ck_assert_ptr_nonnull(found);
		ck_assert_int_eq(found->protection, protection_of_copy(wanted));
	}
	areas_clear(&areas);
	copied_clear(&copy);
	end_target(pid);
}

static bool can_be_laid_out_alike(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(personality(ADDR_NO_RANDOMIZE) < 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status) == 0;
}

TEST_WHERE(can_copy(), what_is_read_of_a_target_goes_into_no_core_file)
{
	static char secret[] = "what only the target knows";
	struct copied copy;
	pid_t pid;

	pid = start_spinning();
	copied_hold(&copy, pid, false, &state);
	hold_release(pid, &times);
	ck_assert_ptr_nonnull(memmem(copy.snapshot.buffer.at, copy.snapshot.buffer.bytes, secret,
				     sizeof(secret)));
	ck_assert(is_left_out_of_cores(copy.snapshot.buffer.at));
	ck_assert(is_left_out_of_cores(copy.snapshot.buffer.at + copy.snapshot.buffer.bytes - 1));
	/* Of ours, for comparison. */
	ck_assert(!is_left_out_of_cores(secret));
	copied_clear(&copy);
	end_target(pid);
}

/* Where the target itself maps next, told through a pipe. */
TEST_WHERE(can_copy(), a_copy_maps_where_the_target_would)
{
	uint64_t theirs[3] = { 0 };
	int tell[2];
	int go[2];
	struct copied copy;
	pid_t pid;
	const size_t sizes[3] = { 5 * PAGE, 40 * PAGE, 9 << 20 };

	/* Some containers forbid it, and then the layout is less alike. */
	if (!can_be_laid_out_alike())
		return;
	ck_assert_int_eq(pipe(tell), 0);
	ck_assert_int_eq(pipe(go), 0);
	make_memory();
	fcntl(go[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0) {
		uint64_t found[3];
		char byte;

		while (read(go[0], &byte, 1) != 1) {
			for (volatile int i = 0; i < 1000000; i++)
				;
		}
		for (int i = 0; i < 3; i++)
			found[i] = (uint64_t)(uintptr_t)mmap(NULL, sizes[i], PROT_READ,
							     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		_exit(write(tell[1], found, sizeof(found)) != sizeof(found));
	}
	make_copy(&copy, pid, false);
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	ck_assert_int_eq(read(tell[0], theirs, sizeof(theirs)), sizeof(theirs));
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(sandbox_call(&copy.sandbox, SYS_mmap, 0, sizes[i], PROT_READ,
					      MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0),
				 (int64_t)theirs[i]);
	copied_clear(&copy);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		close(tell[i]);
		close(go[i]);
	}
}

TEST_WHERE(can_copy(), a_copy_has_the_targets_registers_and_runs_none_of_its_code)
{
	struct user_regs_struct registers;
	struct copied copy;
	int status;
	pid_t pid;

	pid = start_target();
	make_copy(&copy, pid, false);
	ck_assert(hold_give_state(copy.sandbox.pid, &state));
	registers = state.registers;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, copy.sandbox.pid, NULL, &registers), 0);
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, copy.sandbox.pid, NULL, NULL), 0);
	ck_assert(wait_stopped(copy.sandbox.pid, &status));
	ck_assert_int_eq(WSTOPSIG(status), SIGSEGV);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, copy.sandbox.pid, NULL, &registers), 0);
	ck_assert_uint_eq(registers.rip, state.registers.rip);
	ck_assert_uint_eq(registers.rsp, state.registers.rsp);
	ck_assert_uint_eq(registers.rbx, state.registers.rbx);
	copied_clear(&copy);
	end_target(pid);
}

/* A target with memory, and what there is to read of it. */
static pid_t prepare(struct snapshot *snapshot, uint64_t *bytes)
{
	pid_t pid;

	pid = start_target();
	snapshot_init(snapshot);
	hp_assert_ok(snapshot_prepare(snapshot, pid, bytes));
	return pid;
}

TEST_WHERE(can_copy(), nobody_waits_for_room_at_the_end)
{
	struct snapshot snapshot;
	struct hp_error *error;
	int stop_fd = eventfd(1, EFD_CLOEXEC);
	uint64_t bytes;
	pid_t pid;

	pid = prepare(&snapshot, &bytes);
	error = snapshot_reserve(&snapshot, FILL_IDLE, UINT64_MAX, stop_fd);
	ck_assert_ptr_nonnull(error);
	hp_error_destroy(error);
	snapshot_clear(&snapshot);
	close(stop_fd);
	end_target(pid);
}

/* What has been filled stays when time is up. */
TEST(the_buffer_is_filled_at_the_lowest_priority)
{
	struct snapshot snapshot;
	uint64_t bytes;
	pid_t pid;

	pid = prepare(&snapshot, &bytes);
	/* On a busy machine it takes several attempts. */
	reserve(&snapshot);
	ck_assert_uint_ge(snapshot.buffer.bytes, bytes);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	ck_assert_uint_eq(snapshot.read_bytes, snapshot.used_bytes);
	snapshot_clear(&snapshot);
	end_target(pid);
}

static bool holds_text(const uint8_t *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* MADV_DONTDUMP, MADV_WIPEONFORK, memfd_secret, MADV_DONTFORK and locked: neither in a copy, nor in our
 * memory. MADV_DONTFORK alone is no mark of a secret. */
TEST_WHERE(can_copy(), what_is_marked_as_secret_is_not_in_a_copy)
{
	static const char text[] = "the key to everything";
	static const char plain[] = "the heap of an engine";
	enum { DUMP, WIPE, NOBODY, LOCKED, HEAP, PLACES };
	uint8_t *places[PLACES] = { NULL };
	int secret_fd = (int)syscall(SYS_memfd_secret, 0);
	struct copied copy;
	uint8_t found[PAGE];
	pid_t pid;

	make_memory();
	pid = fork();
	/* In the child, which would not have them. They are where they would be in us. */
	for (size_t i = 0; i < PLACES; i++) {
		if (i == NOBODY && (secret_fd < 0 || ftruncate(secret_fd, PAGE) < 0))
			continue;
		places[i] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				 i == NOBODY ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
				 i == NOBODY ? secret_fd : -1, 0);
		if (places[i] == MAP_FAILED)
			places[i] = NULL;
	}
	if (pid == 0) {
		for (size_t i = 0; i < PLACES; i++) {
			if (places[i])
				strcpy((char *)places[i], i == HEAP ? plain : text);
		}
		madvise(places[DUMP], PAGE, MADV_DONTDUMP);
		madvise(places[WIPE], PAGE, MADV_WIPEONFORK);
		madvise(places[LOCKED], PAGE, MADV_DONTFORK);
		mlock(places[LOCKED], PAGE);
		madvise(places[HEAP], PAGE, MADV_DONTFORK);
		memory.shared[101] = 1;
		for (;;)
			;
	}
	ck_assert_int_gt(pid, 0);
	await_shared(101);
	make_copy(&copy, pid, false);
	ck_assert(!holds_text(copy.snapshot.buffer.at, copy.snapshot.used_bytes, text + 1));
	ck_assert(holds_text(copy.snapshot.buffer.at, copy.snapshot.used_bytes, plain + 1));
	for (size_t i = 0; i < PLACES; i++) {
		if (places[i] && sandbox_read(&copy.sandbox, (uint64_t)(uintptr_t)places[i], found,
					      sizeof(found)))
			ck_assert(!holds_text(found, sizeof(found), text + 1));
	}
	copied_clear(&copy);
	end_target(pid);
	for (size_t i = 0; i < PLACES; i++) {
		if (places[i])
			munmap(places[i], PAGE);
	}
	if (secret_fd >= 0)
		close(secret_fd);
}

/* It came between the look and the stop; the next window leaves it out. */
TEST_WHERE(can_copy(), a_secret_that_came_late_is_scrubbed)
{
	static const char text[] = "the key to everything";
	struct snapshot snapshot;
	uint64_t bytes;
	pid_t pid;

	make_memory();
	pid = fork();
	if (pid == 0) {
		memcpy(memory.written, text, sizeof(text));
		memory.shared[102] = 1;
		while (!*(volatile uint8_t *)&memory.shared[100])
			;
		madvise(memory.written, PAGE, MADV_DONTDUMP);
		memory.shared[101] = 1;
		for (;;)
			;
	}
	ck_assert_int_gt(pid, 0);
	await_shared(102);
	snapshot_init(&snapshot);
	hp_assert_ok(snapshot_prepare(&snapshot, pid, &bytes));
	reserve(&snapshot);
	memory.shared[100] = 1;
	await_shared(101);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	ck_assert(holds_text(snapshot.buffer.at, snapshot.used_bytes, text + 1));
	hp_assert_ok(snapshot_scrub(&snapshot));
	ck_assert(!holds_text(snapshot.buffer.at, snapshot.used_bytes, text + 1));
	hp_assert_ok(snapshot_prepare(&snapshot, pid, &bytes));
	hp_assert_ok(snapshot_take(&snapshot, 0));
	ck_assert(!holds_text(snapshot.buffer.at, snapshot.used_bytes, text + 1));
	snapshot_clear(&snapshot);
	end_target(pid);
}

TEST_WHERE(can_copy(), a_copy_has_no_descriptors_and_is_the_first_to_go)
{
	struct copied copy;
	char path[64];
	char text[16] = "";
	pid_t pid;
	FILE *file;

	pid = start_target();
	make_copy(&copy, pid, false);
	hp_assert_ok(sandbox_lock(&copy.sandbox));
	snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)copy.sandbox.pid);
	ck_assert_int_lt(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)copy.sandbox.pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	ck_assert_str_eq(text, "1000\n");
	fclose(file);
	copied_clear(&copy);
	end_target(pid);
}

TEST_WHERE(can_copy(), reading_ends_when_it_takes_too_long)
{
	struct snapshot snapshot;
	uint64_t bytes;
	pid_t pid;

	pid = prepare(&snapshot, &bytes);
	reserve(&snapshot);
	/* At the beginning of time. */
	hp_assert_fails(HP_ERROR_INSUFFICIENT, snapshot_take(&snapshot, 1));
	ck_assert_uint_eq(snapshot.read_bytes, 0);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	ck_assert_uint_gt(snapshot.read_bytes, 0);
	ck_assert_uint_eq(snapshot.read_bytes, snapshot.used_bytes);
	hp_assert_ok(snapshot_take(&snapshot, UINT64_MAX));
	snapshot_clear(&snapshot);
	end_target(pid);
}

HP_TEST_MAIN("shadow/copy")
