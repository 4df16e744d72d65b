/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "calls.h"

#include "../../src/shadow/copy/sandbox_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct stage stage;

void lock(off_t at)
{
	struct flock wanted = { .l_type = F_WRLCK, .l_start = at, .l_len = LOCK_BYTES };

	if (fcntl(stage.writing, F_SETLK, &wanted) < 0)
		_exit(1);
}

void await_lock(off_t at)
{
	struct flock found;

	do {
		usleep(1000);
		found = (struct flock){ .l_type = F_WRLCK, .l_start = at, .l_len = LOCK_BYTES };
		ck_assert_int_eq(fcntl(stage.writing, F_GETLK, &found), 0);
	} while (found.l_type == F_UNLCK);
}

void await_tick(void)
{
	struct timespec now, stamp;

	clock_gettime(CLOCK_REALTIME, &now);
	do {
		usleep(1000);
		clock_gettime(CLOCK_REALTIME_COARSE, &stamp);
	} while (stamp.tv_sec < now.tv_sec ||
		 (stamp.tv_sec == now.tv_sec && stamp.tv_nsec <= now.tv_nsec));
}

static void end(void *nothing)
{
	(void)nothing;
	copied_clear(&stage.copied);
	descriptors_clear(&stage.descriptors);
	kill(stage.pid, SIGKILL);
	ck_assert_int_eq(waitpid(stage.pid, NULL, 0), stage.pid);
	close(stage.reading);
	close(stage.writing);
	close(stage.only_writing);
	close(stage.pipe[0]);
	close(stage.pipe[1]);
	munmap(stage.memory, 4096);
	unlink(stage.path);
	unlink(stage.log);
	rmdir(stage.directory);
	shadow_calls_clear(&stage.calls);
}

void start(void)
{
	stage = (struct stage){ 0 };
	at_end(end, &stage);
	strcpy(stage.directory, "/tmp/hpcprof-calls.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(stage.directory));
	snprintf(stage.path, sizeof(stage.path), "%s/file", stage.directory);
	stage.writing = open(stage.path, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(write(stage.writing, "0123456789", 10), 10);
	stage.reading = open(stage.path, O_RDONLY);
	ck_assert_int_eq(lseek(stage.reading, 3, SEEK_SET), 3);
	snprintf(stage.log, sizeof(stage.log), "%s/log", stage.directory);
	stage.only_writing = open(stage.log, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(stage.only_writing, "01234567", 8), 8);
	ck_assert_int_eq(pipe(stage.pipe), 0);
	stage.memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stage.memory[0] = 77;
	strcpy((char *)(stage.memory + 100), stage.path);
	stage.next = dup(stage.reading);
	close(stage.next);
	stage.pid = fork();
	if (stage.pid == 0) {
		lock(LOCK_OF_THE_TARGET);
		for (volatile uint64_t i = 0;; i++)
			;
	}
	ck_assert_int_gt(stage.pid, 0);
	hp_assert_ok(descriptors_list(&stage.descriptors, stage.pid));
	ck_assert(shadow_calls_identify(&stage.calls, stage.pid, stage.pid));
	copied_hold(&stage.copied, stage.pid, false, &stage.state);
	descriptors_read_positions(&stage.descriptors);
	await_tick();
	shadow_calls_copied(&stage.calls);
	await_tick();
	copied_rebuild(&stage.copied, stage.pid);
	hp_assert_ok(sandbox_lock(&stage.copied.sandbox));
	stage.calls.may_name = true;
	stage.calls.is_confined = false;
	stage.calls.sandbox = &stage.copied.sandbox;
	stage.calls.areas = &stage.copied.snapshot.areas;
	stage.calls.descriptors = &stage.descriptors;
	stage.calls.blocked = stage.state.blocked_signals;
}

struct hp_engine_call call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct user_regs_struct registers = stage.state.registers;

	registers.rax = (uint64_t)number;
	registers.rdi = a;
	registers.rsi = b;
	registers.rdx = c;
	registers.r10 = d;
	registers.r8 = UINT64_MAX;
	registers.r9 = 0;
	return shadow_calls_handle(&stage.calls, stage.copied.sandbox.pid, &registers);
}

void answers(struct hp_engine_call call, int64_t wanted)
{
	ck_assert(call.is_handled);
	ck_assert_int_eq(call.result, wanted);
}

void ends(struct hp_engine_call call, bool waits)
{
	ck_assert(!call.is_handled);
	ck_assert_int_eq(stage.calls.may_wait, waits);
}

uint64_t at(size_t index)
{
	return (uint64_t)(uintptr_t)(stage.memory + index);
}

void put(size_t index, const void *bytes, size_t size)
{
	ck_assert(sandbox_write(&stage.copied.sandbox, at(index), bytes, size));
}

void put_name(size_t index, const char *name)
{
	put(index, name, strlen(name) + 1);
}

void read_back(size_t index, void *bytes, size_t size)
{
	ck_assert(sandbox_read(&stage.copied.sandbox, at(index), bytes, size));
}

void reads(int fd, uint64_t position, const char *wanted, size_t bytes)
{
	char found[32] = "";

	answers(call(SYS_pread64, (uint64_t)fd, at(8), bytes, position), (int64_t)strlen(wanted));
	read_back(8, found, strlen(wanted));
	ck_assert_str_eq(found, wanted);
}
