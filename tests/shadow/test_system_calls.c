/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the system calls of a copy do: in a copy of this very program. */
#include "../../src/shadow/copy/sandbox_lock.h"
#include "../../src/shadow/syscalls/answers.h"
#include "../../src/shadow/syscalls/system_calls.h"
#include "../../src/shadow/syscalls/vdso_calls.h"
#include "../support.h"
#include "copied.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A target: a child that only runs, with a file open at a position, and memory to read into. */
struct stage {
	pid_t pid;
	char directory[32];
	char path[64]; /* of a file in it */
	char log[64];  /* of another */
	int reading;   /* descriptor numbers in the child */
	int writing;
	int only_writing;
	int pipe[2];
	int next; /* the number that the child's next one would have */
	uint64_t *memory;
	struct held_state state;
	struct copied copied;
	struct descriptors descriptors;
	struct shadow_calls calls;
};

static struct stage stage;

/* Ten bytes of the file, for the process that asks, until it ends. */
enum { LOCK_OF_THE_TARGET = 100, LOCK_OF_ANOTHER = 200, LOCK_BYTES = 10 };

static void lock(off_t at)
{
	struct flock wanted = { .l_type = F_WRLCK, .l_start = at, .l_len = LOCK_BYTES };

	if (fcntl(stage.writing, F_SETLK, &wanted) < 0)
		_exit(1);
}

static void await_lock(off_t at)
{
	struct flock found;

	do {
		usleep(1000);
		found = (struct flock){ .l_type = F_WRLCK, .l_start = at, .l_len = LOCK_BYTES };
		ck_assert_int_eq(fcntl(stage.writing, F_GETLK, &found), 0);
	} while (found.l_type == F_UNLCK);
}

/* What changes next has another time stamp than all that has changed before. */
static void await_tick(void)
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

static void start(void)
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

static struct hp_engine_call call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
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

static void answers(struct hp_engine_call call, int64_t wanted)
{
	ck_assert(call.is_handled);
	ck_assert_int_eq(call.result, wanted);
}

static void ends(struct hp_engine_call call, bool waits)
{
	ck_assert(!call.is_handled);
	ck_assert_int_eq(stage.calls.may_wait, waits);
}

static uint64_t at(size_t index)
{
	return (uint64_t)(uintptr_t)(stage.memory + index);
}

TEST_WHERE(can_copy(), who_it_is_it_hears_of_the_original)
{
	start();
	answers(call(SYS_getpid, 0, 0, 0, 0), stage.pid);
	answers(call(SYS_gettid, 0, 0, 0, 0), stage.pid);
	answers(call(SYS_getppid, 0, 0, 0, 0), getpid());
	answers(call(SYS_getuid, 0, 0, 0, 0), getuid());
	answers(call(SYS_getegid, 0, 0, 0, 0), getegid());
}

TEST_WHERE(can_copy(), it_reads_on_where_the_original_was_and_moves_nothing)
{
	char found[8] = "";

	start();
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 4, 0), 4);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), found, 4));
	ck_assert_str_eq(found, "3456");
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 100, 0), 3);
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 100, 0), 0);
	answers(call(SYS_pread64, (uint64_t)stage.reading, at(8), 2, 1), 2);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), found, 2));
	ck_assert_int_eq(found[0], '1');
	answers(call(SYS_lseek, (uint64_t)stage.reading, (uint64_t)-2, SEEK_END, 0), 8);
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 1, 0), 1);
	answers(call(SYS_lseek, (uint64_t)stage.reading, 0, SEEK_CUR, 0), 9);
	/* The end is a hole, and behind it there is nothing. */
	answers(call(SYS_lseek, (uint64_t)stage.reading, 2, SEEK_HOLE, 0), 10);
	answers(call(SYS_lseek, (uint64_t)stage.reading, 2, SEEK_DATA, 0), 2);
	answers(call(SYS_lseek, (uint64_t)stage.reading, 2000, SEEK_DATA, 0), -ENXIO);
	answers(call(SYS_lseek, (uint64_t)stage.reading, 9, SEEK_SET, 0), 9);
	/* The description is shared with us. */
	ck_assert_int_eq(lseek(stage.reading, 0, SEEK_CUR), 3);
}

TEST_WHERE(can_copy(), holes_are_where_the_file_has_them)
{
	enum { MIB = 1 << 20 };
	static const off_t places[] = { 0, 4096, MIB / 2, MIB - 1, MIB };

	char name[80];
	int fd;

	start();
	snprintf(name, sizeof(name), "%s.sparse", stage.path);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, MIB), 0);
	ck_assert_int_eq(pwrite(fd, "data", 4, MIB / 2), 4);
	await_tick();
	shadow_clock_copied(&stage.calls.clock, stage.pid, stage.pid);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), name, strlen(name) + 1));
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY, 0), stage.next);
	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++)
		for (int whence = SEEK_DATA; whence <= SEEK_HOLE; whence++) {
			off_t wanted = lseek(fd, places[i], whence);

			answers(call(SYS_lseek, (uint64_t)stage.next, (uint64_t)places[i],
				     (uint64_t)whence, 0),
				wanted < 0 ? -errno : wanted);
		}
	close(fd);
	unlink(name);
}

TEST_WHERE(can_copy(), what_it_writes_goes_nowhere)
{
	struct stat status;
	char byte;

	start();
	answers(call(SYS_write, (uint64_t)stage.writing, at(0), 8, 0), 8);
	answers(call(SYS_write, (uint64_t)stage.pipe[1], at(0), 5, 0), 5);
	ck_assert_int_eq(fstat(stage.writing, &status), 0);
	ck_assert_int_eq(status.st_size, 10);
	ck_assert_int_eq(lseek(stage.writing, 0, SEEK_CUR), 10);
	ck_assert_int_eq(fcntl(stage.pipe[0], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_lt(read(stage.pipe[0], &byte, 1), 0);
	ck_assert_int_eq(errno, EAGAIN);
}

/* A stream looks at its file before its first line, which may be long after the end of a process of
 * which there is a copy. */
TEST_WHERE(can_copy(), what_it_writes_to_it_can_look_at)
{
	struct hp_engine_call answer;
	struct stat status;
	siginfo_t info;
	uint64_t size_at;

	start();
	size_at = at(8) + offsetof(struct stat, st_size);
	ck_assert_int_eq(kill(stage.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)stage.pid, &info, WEXITED | WNOWAIT), 0);
	answers(call(SYS_fstat, (uint64_t)stage.pipe[1], at(8), 0, 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert(S_ISFIFO(status.st_mode));
	answers(call(SYS_write, (uint64_t)stage.only_writing, at(0), 6, 0), 6);
	answer = call(SYS_fstat, (uint64_t)stage.only_writing, at(8), 0, 0);
	answers(answer, 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_int_eq(status.st_size, 14);
	/* Others may have written to it. */
	ck_assert_uint_le(answer.guessed_at, size_at);
	ck_assert_uint_ge(answer.guessed_at + answer.guessed_bytes, size_at + 8);
}

static void reads(int fd, uint64_t position, const char *wanted, size_t bytes)
{
	char found[32] = "";

	answers(call(SYS_pread64, (uint64_t)fd, at(8), bytes, position), (int64_t)strlen(wanted));
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), found, strlen(wanted)));
	ck_assert_str_eq(found, wanted);
}

TEST_WHERE(can_copy(), what_it_has_written_it_reads)
{
	struct stat status;

	start();
	ck_assert(sandbox_write(&stage.copied.sandbox, at(20), "abcdef", 6));
	answers(call(SYS_pwrite64, (uint64_t)stage.writing, at(20), 3, 4), 3);
	reads(stage.writing, 0, "0123abc789", 20);
	reads(stage.reading, 3, "3abc", 4);
	/* Where the original had written to the end of it. */
	answers(call(SYS_write, (uint64_t)stage.writing, at(20), 6, 0), 6);
	reads(stage.reading, 8, "89abcdef", 20);
	answers(call(SYS_lseek, (uint64_t)stage.writing, 0, SEEK_END, 0), 16);
	answers(call(SYS_fstat, (uint64_t)stage.reading, at(8), 0, 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert_int_eq(status.st_size, 16);
	answers(call(SYS_ftruncate, (uint64_t)stage.writing, 5, 0, 0), 0);
	reads(stage.reading, 0, "0123a", 20);
	answers(call(SYS_ftruncate, (uint64_t)stage.writing, 7, 0, 0), 0);
	answers(call(SYS_pread64, (uint64_t)stage.reading, at(8), 20, 4), 3);
	/* It is not what a mapping of the file would have. */
	ck_assert_int_eq(pread(stage.reading, &status, 20, 0), 10);
}

TEST_WHERE(can_copy(), a_file_it_makes_there_is_for_it_alone)
{
	const uint64_t flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
	struct stat status;
	char name[80];
	int made;

	start();
	made = stage.next;
	snprintf(name, sizeof(name), "%s.new", stage.path);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), name, strlen(name) + 1));
	answers(call(SYS_access, at(200), F_OK, 0, 0), -ENOENT);
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), flags, 0600), made);
	answers(call(SYS_unlink, at(200), 0, 0, 0), 0);
	answers(call(SYS_fstat, (uint64_t)made, at(8), 0, 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_int_eq(status.st_size, 0);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(20), "abcdef", 6));
	/* Across pages, and nothing before them. */
	answers(call(SYS_pwrite64, (uint64_t)made, at(20), 6, 4093), 6);
	reads(made, 4093, "abcdef", 20);
	answers(call(SYS_pread64, (uint64_t)made, at(300), 5, 4090), 5);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(300), name, 5));
	ck_assert_mem_eq(name, "\0\0\0ab", 5);
	answers(call(SYS_close, (uint64_t)made, 0, 0, 0), 0);
	/* One that there is is not emptied. */
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_WRONLY | O_TRUNC, 0), made);
	answers(call(SYS_write, (uint64_t)made, at(20), 6, 0), 6);
	answers(call(SYS_rename, at(100), at(200), 0, 0), 0);
	ck_assert_int_eq(stat(stage.path, &status), 0);
	ck_assert_int_eq(status.st_size, 10);
	snprintf(name, sizeof(name), "%s.new", stage.path);
	ck_assert_int_lt(stat(name, &status), 0);
}

TEST_WHERE(can_copy(), names_are_looked_up)
{
	static const char *const unknown[] = { "/proc/self/stat", "/dev/urandom", "/sys", "" };
	struct hp_engine_call answer;
	struct stat status;

	start();
	answer = call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(100), at(8), 0);
	answers(answer, 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert_int_eq(status.st_size, 10);
	/* When it was read last says nothing. */
	ck_assert_uint_eq(answer.guessed_at, at(8) + offsetof(struct stat, st_atim));
	answers(call(SYS_access, at(100), R_OK, 0, 0), 0);
	answers(call(SYS_readlink, at(100), at(8), 100, 0), -EINVAL);
	for (size_t i = 0; i < HP_ARRAY_COUNT(unknown); i++) {
		ck_assert(sandbox_write(&stage.copied.sandbox, at(200), unknown[i],
					strlen(unknown[i]) + 1));
		ends(call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(200), at(8), 0), false);
		ends(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY, 0), false);
	}
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), "/nowhere/at/all", 16));
	answers(call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(200), at(8), 0), -ENOENT);
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY, 0), -ENOENT);
	ends(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_WRONLY | O_CREAT, 0), false);
}

/* Which the kernel may have been built without. */
static int64_t name_memory(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t result = prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, memory, 4096, "x") < 0 ? -errno
											: 0;

	munmap(memory, 4096);
	return result;
}

TEST_WHERE(can_copy(), descriptors_are_what_they_are)
{
	struct hp_engine_call answer;
	struct sysinfo found, info;
	struct stat status;

	start();
	answers(call(SYS_fcntl, (uint64_t)stage.reading, F_GETFL, 0, 0),
		fcntl(stage.reading, F_GETFL));
	answers(call(SYS_fcntl, (uint64_t)stage.pipe[1], F_GETFL, 0, 0), O_WRONLY);
	answers(call(SYS_ioctl, (uint64_t)stage.reading, TCGETS, at(8), 0), -ENOTTY);
	answers(call(SYS_ioctl, (uint64_t)stage.pipe[0], TCGETS, at(8), 0), -ENOTTY);
	answers(call(SYS_lseek, (uint64_t)stage.pipe[0], 0, SEEK_CUR, 0), -ESPIPE);
	answers(call(SYS_fstat, (uint64_t)stage.pipe[0], at(8), 0, 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert(S_ISFIFO(status.st_mode));
	answers(call(SYS_prlimit64, 0, RLIMIT_CORE, 0, at(8)), 0);
	ends(call(SYS_prlimit64, 0, RLIMIT_CORE, at(8), 0), false);
	answers(call(SYS_getrusage, RUSAGE_SELF, at(8), 0, 0), 0);
	answers(call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at(8), 8), name_memory());
	answers(call(SYS_prctl, PR_SET_NAME, at(8), 0, 0), 0);
	ends(call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0), false);
	answer = call(SYS_times, at(8), 0, 0, 0);
	ck_assert(answer.is_handled && answer.result > 0);
	ck_assert_uint_eq(answer.guessed_at, at(8));
	ck_assert(call(SYS_times, 0, 0, 0, 0).result >= answer.result);
	answer = call(SYS_sysinfo, at(8), 0, 0, 0);
	answers(answer, 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &found, sizeof(found)));
	ck_assert_int_eq(sysinfo(&info), 0);
	ck_assert_uint_eq(found.totalswap, info.totalswap);
	ck_assert_uint_eq(found.mem_unit, info.mem_unit);
	/* What is free differs. */
	ck_assert_uint_eq(answer.guessed_at, at(8));
	ck_assert_uint_eq(answer.guessed_bytes, sizeof(info));
	ends(call(SYS_getrusage, (uint64_t)RUSAGE_CHILDREN, at(8), 0, 0), false);
}

static struct hp_engine_call ask_lock(short type, off_t from, off_t bytes)
{
	const struct flock wanted = { .l_type = type, .l_start = from, .l_len = bytes };

	ck_assert(sandbox_write(&stage.copied.sandbox, at(8), &wanted, sizeof(wanted)));
	return call(SYS_fcntl, (uint64_t)stage.writing, F_GETLK, at(8), 0);
}

static void is_free(struct hp_engine_call call)
{
	struct flock found;

	answers(call, 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &found, sizeof(found)));
	ck_assert_int_eq(found.l_type, F_UNLCK);
}

TEST_WHERE(can_copy(), locks_are_free_where_nobody_else_has_one)
{
	pid_t other;

	start();
	await_lock(LOCK_OF_THE_TARGET);
	other = fork();
	if (other == 0) {
		lock(LOCK_OF_ANOTHER);
		for (;;)
			pause();
	}
	await_lock(LOCK_OF_ANOTHER);
	is_free(ask_lock(F_WRLCK, 0, LOCK_OF_THE_TARGET));
	is_free(ask_lock(F_WRLCK, LOCK_OF_THE_TARGET, LOCK_BYTES));
	is_free(ask_lock(F_RDLCK, LOCK_OF_THE_TARGET + 3, 2));
	/* More than that may be of others, and some is. */
	ends(ask_lock(F_WRLCK, LOCK_OF_THE_TARGET, LOCK_BYTES + 1), false);
	ends(ask_lock(F_WRLCK, LOCK_OF_THE_TARGET, 0), false);
	ends(ask_lock(F_WRLCK, LOCK_OF_ANOTHER, 1), false);
	ends(ask_lock(F_RDLCK, LOCK_OF_ANOTHER, 1), false);
	ends(ask_lock(F_UNLCK, 0, 1), false);
	ends(ask_lock(F_WRLCK, -1, 1), false);
	kill(other, SIGKILL);
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
}

/* Where files do not, one that came since may be an old one that has changed. */
static bool tells_birth(int fd)
{
	struct statx status;

	return statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) == 0 &&
	       (status.stx_mask & STATX_BTIME);
}

static struct hp_engine_call open_both_ways(size_t name_at, uint64_t flags)
{
	return call(SYS_openat, (uint64_t)AT_FDCWD, at(name_at), O_RDWR | flags, 0600);
}

TEST_WHERE(can_copy(), a_file_it_opens_both_ways_is_what_it_was_or_ends_the_window)
{
	char name[80];
	int made;
	int fd;

	start();
	made = stage.next;
	ck_assert(sandbox_write(&stage.copied.sandbox, at(20), "abcdef", 6));
	answers(open_both_ways(100, O_CREAT | O_CLOEXEC), made);
	reads(made, 0, "0123456789", 20);
	answers(call(SYS_pwrite64, (uint64_t)made, at(20), 3, 4), 3);
	reads(made, 0, "0123abc789", 20);
	answers(call(SYS_fcntl, (uint64_t)made, F_GETFD, 0, 0), FD_CLOEXEC);
	answers(call(SYS_fcntl, (uint64_t)made, F_SETFD, 0, 0), 0);
	answers(call(SYS_fcntl, (uint64_t)made, F_GETFD, 0, 0), 0);
	answers(call(SYS_close, (uint64_t)made, 0, 0, 0), 0);
	/* It has changed. */
	ck_assert_int_eq(pwrite(stage.writing, "x", 1, 0), 1);
	ends(open_both_ways(100, 0), false);
	/* There is none yet for the copy, whether the original has made it or not. */
	snprintf(name, sizeof(name), "%s.new", stage.path);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), name, strlen(name) + 1));
	answers(open_both_ways(200, 0), -ENOENT);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write(fd, "by the original", 15), 15);
	if (tells_birth(fd)) {
		answers(open_both_ways(200, 0), -ENOENT);
		answers(open_both_ways(200, O_CREAT), made);
		reads(made, 0, "", 20);
		answers(call(SYS_close, (uint64_t)made, 0, 0, 0), 0);
	}
	/* What is in it is known to the original only. */
	ends(open_both_ways(200, 0), false);
	close(fd);
	unlink(name);
	/* A link is not followed when it is not to be. */
	snprintf(name, sizeof(name), "%s.link", stage.path);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), name, strlen(name) + 1));
	ck_assert_int_eq(symlink(stage.path, name), 0);
	await_tick();
	shadow_clock_copied(&stage.calls.clock, stage.pid, stage.pid);
	ends(open_both_ways(200, O_CREAT | O_NOFOLLOW), false);
	unlink(name);
}

static void ends_with(struct hp_engine_call call, long number, const char *wanted)
{
	char text[48];

	ends(call, false);
	shadow_calls_describe_end(&stage.calls, number, text, sizeof(text));
	ck_assert_str_eq(text, wanted);
}

/* As a database has its journal: it is there while something is being changed. */
TEST_WHERE(can_copy(), files_that_the_original_makes_are_not_there_before_the_copy_makes_them)
{
	struct stat status;
	char name[80];
	int fd;

	start();
	snprintf(name, sizeof(name), "%s.new", stage.path);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), name, strlen(name) + 1));
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	if (tells_birth(fd)) {
		answers(call(SYS_access, at(200), F_OK, 0, 0), -ENOENT);
		answers(call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(200), at(8), 0), -ENOENT);
		answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY, 0), -ENOENT);
	}
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_WRONLY | O_CREAT, 0600),
		stage.next);
	answers(call(SYS_access, at(200), F_OK, 0, 0), 0);
	answers(call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(200), at(8), 0), 0);
	answers(call(SYS_unlink, at(200), 0, 0, 0), 0);
	answers(call(SYS_access, at(200), F_OK, 0, 0), -ENOENT);
	answers(call(SYS_unlink, at(200), 0, 0, 0), -ENOENT);
	answers(call(SYS_rename, at(100), at(200), 0, 0), 0);
	answers(call(SYS_access, at(200), F_OK, 0, 0), 0);
	answers(call(SYS_access, at(100), F_OK, 0, 0), -ENOENT);
	/* All of it as the copy believes. */
	ck_assert_int_eq(stat(stage.path, &status), 0);
	ck_assert_int_eq(stat(name, &status), 0);
	close(fd);
	unlink(name);
}

TEST_WHERE(can_copy(), files_that_are_gone_end_the_window_and_it_says_so)
{
	start();
	answers(call(SYS_access, at(100), F_OK, 0, 0), 0);
	ck_assert_int_eq(unlink(stage.path), 0);
	ends_with(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDONLY, 0), SYS_openat,
		  "openat of a file that is gone");
	ends_with(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDWR, 0), SYS_openat,
		  "openat of a file that is gone");
	ends_with(call(SYS_mkdir, at(100), 0, 0, 0), SYS_mkdir, "mkdir");
	/* Whoever asks is answered: most do so of what never was. */
	answers(call(SYS_access, at(100), F_OK, 0, 0), -ENOENT);
}

TEST_WHERE(can_copy(), heads_of_files_that_the_original_writes_are_what_they_were)
{
	char byte;
	struct iovec whole = { &byte, 1 };

	start();
	/* Some file systems cannot be read at once or not at all. */
	if (preadv2(stage.writing, &whole, 1, 0, RWF_NOWAIT) == 1) {
		ck_assert_int_eq(pwrite(stage.writing, "changed and longer", 18, 0), 18);
		reads(stage.writing, 0, "0123456789", 20);
		reads(stage.reading, 0, "0123456789", 20);
	}
}

static bool has_entry(const uint8_t *entries, int64_t bytes, const char *name)
{
	/* A name follows what is of one size: its inode, offset, length and kind. */
	enum { LENGTH_AT = 16, NAME_AT = 19 };
	uint16_t length;

	for (int64_t i = 0; i + NAME_AT < bytes; i += length) {
		memcpy(&length, entries + i + LENGTH_AT, sizeof(length));
		if (strcmp((const char *)entries + i + NAME_AT, name) == 0)
			return true;
		ck_assert_uint_gt(length, NAME_AT);
	}
	return false;
}

TEST_WHERE(can_copy(), directories_are_opened_and_read_while_they_are_what_they_were)
{
	char directory[] = "/tmp/hpcprof-calls.XXXXXX";
	struct hp_engine_call answer;
	char inside[64];
	uint8_t entries[1024];
	struct stat status;
	int made;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(inside, sizeof(inside), "%s/inside", directory);
	ck_assert_int_eq(mkdir(inside, 0700), 0);
	start();
	made = stage.next;
	await_tick();
	shadow_clock_copied(&stage.calls.clock, stage.pid, stage.pid);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), directory, strlen(directory) + 1));
	ck_assert(sandbox_write(&stage.copied.sandbox, at(220), "inside", 7));
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY | O_DIRECTORY, 0), made);
	answers(call(SYS_fsync, (uint64_t)made, 0, 0, 0), 0);
	answers(call(SYS_fstat, (uint64_t)made, at(8), 0, 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert(S_ISDIR(status.st_mode));
	answers(call(SYS_newfstatat, (uint64_t)made, at(220), at(8), 0), 0);
	answer = call(SYS_getdents64, (uint64_t)made, at(300), sizeof(entries), 0);
	ck_assert(answer.is_handled && answer.result > 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(300), entries, sizeof(entries)));
	ck_assert(has_entry(entries, answer.result, "inside"));
	answers(call(SYS_getdents64, (uint64_t)made, at(300), sizeof(entries), 0), 0);
	/* A file is none, and what has changed is not known. */
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDONLY | O_DIRECTORY, 0), -ENOTDIR);
	ck_assert_int_eq(rmdir(inside), 0);
	ends(call(SYS_getdents64, (uint64_t)made, at(300), sizeof(entries), 0), false);
	answers(call(SYS_close, (uint64_t)made, 0, 0, 0), 0);
	rmdir(directory);
}

/* As our own input, by whatever number. */
TEST_WHERE(can_copy(), terminals_say_what_they_said_and_null_devices_that_they_are_none)
{
	static const char *const null_devices[] = { "/dev/null", "/dev/zero", "/dev/full" };
	enum { SETTINGS_BYTES = 36 }; /* the kernel's */
	const struct winsize wanted = { .ws_row = 33, .ws_col = 77 };
	uint8_t settings[64] = { 0 }, found[64];
	struct winsize size;
	int null[HP_ARRAY_COUNT(null_devices)];
	int input = dup(STDIN_FILENO);
	int random = open("/dev/urandom", O_RDONLY);
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int other = posix_openpt(O_RDWR | O_NOCTTY);
	int terminal;

	ck_assert_int_eq(unlockpt(master), 0);
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &wanted), 0);
	ck_assert_int_eq(ioctl(terminal, TCGETS, settings), 0);
	ck_assert_int_eq(dup2(terminal, STDIN_FILENO), STDIN_FILENO);
	for (size_t i = 0; i < HP_ARRAY_COUNT(null); i++)
		null[i] = open(null_devices[i], O_RDWR);
	start();
	/* From here on it is another size. */
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &(struct winsize){ .ws_row = 1 }), 0);
	answers(call(SYS_ioctl, (uint64_t)terminal, TCGETS, at(8), 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), found, SETTINGS_BYTES));
	ck_assert_mem_eq(found, settings, SETTINGS_BYTES);
	answers(call(SYS_ioctl, (uint64_t)terminal, TIOCGWINSZ, at(8), 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &size, sizeof(size)));
	ck_assert_mem_eq(&size, &wanted, sizeof(size));
	ends(call(SYS_ioctl, (uint64_t)terminal, TCSETS, at(8), 0), false);
	ends(call(SYS_ioctl, (uint64_t)terminal, TIOCGPGRP, at(8), 0), false);
	/* One that we do not have, or that has answers of its own. */
	ends(call(SYS_ioctl, (uint64_t)other, TCGETS, at(8), 0), false);
	ends(call(SYS_ioctl, (uint64_t)random, TCGETS, at(8), 0), false);
	for (size_t i = 0; i < HP_ARRAY_COUNT(null); i++) {
		ck_assert_int_lt(ioctl(null[i], TCGETS, found), 0);
		answers(call(SYS_ioctl, (uint64_t)null[i], TCGETS, at(8), 0), -errno);
		answers(call(SYS_lseek, (uint64_t)null[i], 5, SEEK_SET, 0),
			lseek(null[i], 5, SEEK_SET));
		close(null[i]);
	}
	end_now(&stage);
	dup2(input, STDIN_FILENO);
	close(input);
	close(random);
	close(terminal);
	close(master);
	close(other);
}

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
	ck_assert(sandbox_read(&stage.copied.sandbox, at(0), &value, sizeof(value)));
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

/* As a JIT compiler does it. The copy may read what is code, and no more. */
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
	ck_assert_int_lt(process_vm_writev(stage.copied.sandbox.pid, &(struct iovec){ &value, 8 },
					   1, &(struct iovec){ (void *)(uintptr_t)made, 8 }, 1, 0),
			 0);
	ck_assert(shadow_calls_protect(&stage.calls, made, PROT_READ | PROT_WRITE));
	ck_assert_int_eq(process_vm_writev(stage.copied.sandbox.pid, &(struct iovec){ &value, 8 },
					   1, &(struct iovec){ (void *)(uintptr_t)made, 8 }, 1, 0),
			 8);
	answers(call(SYS_munmap, made + 4096, 4096, 0, 0), 0);
	ck_assert_int_eq(protection_of(made), all);
	ck_assert_int_eq(protection_of(made + 4096), 0);
	ck_assert_int_eq(protection_of(made + 8192), all);
	ck_assert(!shadow_calls_protect(&stage.calls, stage.copied.sandbox.tools, PROT_READ));
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
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), whole, sizeof(whole)));
	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++) {
		const uint64_t place = places[i];
		const struct iovec vector = { (void *)(uintptr_t)place, 3 };

		ck_assert(sandbox_write(&stage.copied.sandbox, at(300), &vector, sizeof(vector)));
		ends(call(SYS_read, fd, place, 4, 0), false);
		ends(call(SYS_pread64, fd, place, 4, 0), false);
		ends(call(SYS_readv, fd, at(300), 1, 0), false);
		ends(call(SYS_fstat, fd, place, 0, 0), false);
		ends(call(SYS_stat, name, place, 0, 0), false);
		ends(call(SYS_newfstatat, (uint64_t)AT_FDCWD, name, place, 0), false);
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

/* It has them open, but not to read them, or what is read depends on who does. */
TEST_WHERE(can_copy(), what_the_original_may_not_read_is_not_read_for_its_copy)
{
	int handle = open("/etc/passwd", O_PATH | O_CLOEXEC);
	int of_kernel = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	start();
	ends(call(SYS_read, (uint64_t)handle, at(8), 8, 0), false);
	ends(call(SYS_pread64, (uint64_t)handle, at(8), 8, 0), false);
	ends(call(SYS_read, (uint64_t)of_kernel, at(8), 8, 0), false);
	ends(call(SYS_read, (uint64_t)stage.only_writing, at(8), 8, 0), false);
	end_now(&stage);
	close(handle);
	close(of_kernel);
}

/* Whatever it is called, and through whatever links. */
TEST_WHERE(can_copy(), names_of_the_kernels_files_end_the_window)
{
	static const char *const names[] = {
		"//proc/self/comm",
		"/./proc/self/comm",
		"/proc/../proc/self/comm",
		"/dev/fd/0",
		"/dev/fd/0/x",
		"/proc/self/root/etc/passwd",
		"/proc/none",
		"link",
		"link/../comm",
	};
	char name[64], directory[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(directory, sizeof(directory)));
	start();
	snprintf(name, sizeof(name), "%s/link", stage.directory);
	ck_assert_int_eq(symlink("/proc/self/comm", name), 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		snprintf(name, sizeof(name), "%s%s%s", *names[i] == '/' ? "" : stage.directory,
			 *names[i] == '/' ? "" : "/", names[i]);
		ck_assert(sandbox_write(&stage.copied.sandbox, at(200), name, strlen(name) + 1));
		ends(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY, 0), false);
		ends(call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(200), at(8), 0), false);
		ends(call(SYS_access, at(200), R_OK, 0, 0), false);
	}
	snprintf(name, sizeof(name), "%s/link", stage.directory);
	unlink(name);
}

TEST_WHERE(can_copy(), names_are_ours_to_look_up_only_with_just_the_originals_rights)
{
	char text[96];

	start();
	stage.calls.may_name = false;
	ends(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDONLY, 0), false);
	shadow_calls_describe_end(&stage.calls, SYS_openat, text, sizeof(text));
	ck_assert_str_eq(text, "openat of a file of a program with other rights");
	ends(call(SYS_newfstatat, (uint64_t)AT_FDCWD, at(100), at(8), 0), false);
	ends(call(SYS_readlink, at(100), at(8), 100, 0), false);
	ends(call(SYS_unlink, at(100), 0, 0, 0), false);
	/* What it has open it may read. */
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 4, 0), 4);
	stage.calls.may_name = true;
	answers(call(SYS_access, at(100), R_OK, 0, 0), 0);
	/* Under a filter nothing is told of the machine. */
	stage.calls.is_confined = true;
	ends(call(SYS_sysinfo, at(8), 0, 0, 0), false);
	ends(call(SYS_prlimit64, 0, RLIMIT_CORE, 0, at(8)), false);
}

TEST_WHERE(can_copy(), a_file_it_opens_has_the_number_that_the_original_would_get)
{
	struct stat status;
	int wanted;

	start();
	wanted = stage.next;
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDONLY, 0), wanted);
	answers(call(SYS_read, (uint64_t)wanted, at(8), 100, 0), 10);
	answers(call(SYS_fstat, (uint64_t)wanted, at(8), 0, 0), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &status, sizeof(status)));
	ck_assert_int_eq(status.st_size, 10);
	answers(call(SYS_close, (uint64_t)wanted, 0, 0, 0), 0);
	ends(call(SYS_read, (uint64_t)wanted, at(8), 100, 0), false);
	ends(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDONLY | O_TRUNC, 0), false);
}

TEST_WHERE(can_copy(), signals_are_masked_for_it_alone)
{
	uint64_t set = 1ull << (SIGUSR1 - 1);
	uint64_t old;

	start();
	ck_assert(sandbox_write(&stage.copied.sandbox, at(8), &set, sizeof(set)));
	answers(call(SYS_rt_sigprocmask, SIG_BLOCK, at(8), 0, 8), 0);
	answers(call(SYS_rt_sigprocmask, SIG_BLOCK, 0, at(9), 8), 0);
	ck_assert(sandbox_read(&stage.copied.sandbox, at(9), &old, sizeof(old)));
	ck_assert_uint_eq(old, stage.state.blocked_signals | set);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	ck_assert_int_eq(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Between the moment of the copy and now, since its time goes no faster than ours. */
TEST_WHERE(can_copy(), its_time_begins_when_it_was_made)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct timespec found;

	start();
	shadow_clock_start(&stage.calls.clock, stage.copied.sandbox.pid);
	for (size_t i = 0; i < HP_ARRAY_COUNT(clocks); i++) {
		uint64_t before = now_ns(clocks[i]);
		uint64_t value;

		shadow_clock_copied(&stage.calls.clock, stage.pid, stage.pid);
		usleep(20000);
		answers(call(SYS_clock_gettime, (uint64_t)clocks[i], at(8), 0, 0), 0);
		ck_assert(sandbox_read(&stage.copied.sandbox, at(8), &found, sizeof(found)));
		value = (uint64_t)found.tv_sec * 1000000000 + (uint64_t)found.tv_nsec;
		/* The two clocks of ours are read one after the other. */
		ck_assert_uint_ge(value + 10000000, before);
		ck_assert_uint_le(value, now_ns(clocks[i]));
	}
	answers(call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, at(8), 0, 0), 0);
	ends(call(SYS_clock_gettime, 12345, at(8), 0, 0), false);
	ends(call(SYS_clock_gettime, CLOCK_REALTIME, 0, 0, 0), false);
}

TEST_WHERE(can_copy(), its_vdso_makes_system_calls_and_the_originals_does_not)
{
	uint64_t offset = vdso_function("__vdso_clock_gettime");
	uint8_t before[8] = { 0 };
	uint8_t after[8] = { 0 };
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	const uint8_t *ours = (const uint8_t *)(uintptr_t)(vdso + offset); // NOLINT

	/* A kernel without one. */
	if (!vdso || !offset)
		return;
	start();
	memcpy(before, ours, sizeof(before));
	vdso_make_calls(&stage.copied.sandbox, &stage.copied.snapshot.areas);
	ck_assert(sandbox_read(&stage.copied.sandbox, vdso + offset, after, sizeof(after)));
	/* mov $228, %eax; syscall */
	ck_assert_int_eq(after[0], 0xb8);
	ck_assert_int_eq(after[1], SYS_clock_gettime);
	ck_assert_int_eq(after[5], 0x0f);
	ck_assert_int_eq(after[6], 0x05);
	ck_assert_mem_eq(before, ours, sizeof(before));
}

TEST_WHERE(can_copy(), waiting_ends_the_window_and_is_told_apart)
{
	start();
	ends(call(SYS_poll, at(0), 0, 0, 0), true);
	ends(call(SYS_read, (uint64_t)stage.pipe[0], at(8), 1, 0), true);
	ends(call(SYS_futex, at(0), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 77, 0), true);
	answers(call(SYS_futex, at(0), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 78, 0), -EAGAIN);
	answers(call(SYS_futex, at(0), FUTEX_WAKE, 1, 0), 0);
}

TEST_WHERE(can_copy(), everything_else_ends_it_too)
{
	static const long numbers[] = { SYS_exit_group, SYS_execve, SYS_clone,	SYS_fork,
					SYS_vfork,	SYS_kill,   SYS_socket, SYS_dup,
					SYS_ptrace,	SYS_mkdir,  SYS_mount,	SYS_reboot,
					SYS_ioctl,	SYS_dup2,   99999,	-1 };

	start();
	for (size_t i = 0; i < HP_ARRAY_COUNT(numbers); i++)
		ends(call(numbers[i], UINT64_MAX, 0, 0, 0), false);
	/* And the copy is there still. */
	answers(call(SYS_getpid, 0, 0, 0, 0), stage.pid);
}

TEST(calls_of_the_table_have_their_names)
{
	ck_assert_str_eq(shadow_call_name(SYS_futex), "futex");
	ck_assert_ptr_null(shadow_call_name(99999));
	ck_assert_ptr_null(shadow_call_name(-1));
}

/* A copy may be replayed when its original has ended. */
TEST_WHERE(can_copy(), files_are_found_when_the_original_has_ended)
{
	start();
	kill(stage.pid, SIGKILL);
	ck_assert_int_eq(waitpid(stage.pid, NULL, 0), stage.pid);
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(100), O_RDONLY, 0), stage.next);
	ck_assert(sandbox_write(&stage.copied.sandbox, at(200), "nowhere", 8));
	answers(call(SYS_openat, (uint64_t)AT_FDCWD, at(200), O_RDONLY, 0), -ENOENT);
	/* For the end of the test. */
	stage.pid = fork();
	if (stage.pid == 0)
		pause();
}

HP_TEST_MAIN("shadow/system_calls")
