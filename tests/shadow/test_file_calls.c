/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a copy reads and writes: files as they were when it was made, and nothing of the original's
 * changes. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_WHERE(can_copy(), it_reads_on_where_the_original_was_and_moves_nothing)
{
	char found[8] = "";

	start();
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 4, 0), 4);
	read_back(8, found, 4);
	ck_assert_str_eq(found, "3456");
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 100, 0), 3);
	answers(call(SYS_read, (uint64_t)stage.reading, at(8), 100, 0), 0);
	answers(call(SYS_pread64, (uint64_t)stage.reading, at(8), 2, 1), 2);
	read_back(8, found, 2);
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
	put_name(200, name);
	answers(call(SYS_openat, FROM_HERE, at(200), O_RDONLY, 0), stage.next);
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
	read_back(8, &status, sizeof(status));
	ck_assert(S_ISFIFO(status.st_mode));
	answers(call(SYS_write, (uint64_t)stage.only_writing, at(0), 6, 0), 6);
	answer = call(SYS_fstat, (uint64_t)stage.only_writing, at(8), 0, 0);
	answers(answer, 0);
	read_back(8, &status, sizeof(status));
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_int_eq(status.st_size, 14);
	/* Others may have written to it. */
	ck_assert_uint_le(answer.guessed_at, size_at);
	ck_assert_uint_ge(answer.guessed_at + answer.guessed_bytes, size_at + 8);
}

TEST_WHERE(can_copy(), what_it_has_written_it_reads)
{
	struct stat status;

	start();
	put(20, "abcdef", 6);
	answers(call(SYS_pwrite64, (uint64_t)stage.writing, at(20), 3, 4), 3);
	reads(stage.writing, 0, "0123abc789", 20);
	reads(stage.reading, 3, "3abc", 4);
	/* Where the original had written to the end of it. */
	answers(call(SYS_write, (uint64_t)stage.writing, at(20), 6, 0), 6);
	reads(stage.reading, 8, "89abcdef", 20);
	answers(call(SYS_lseek, (uint64_t)stage.writing, 0, SEEK_END, 0), 16);
	answers(call(SYS_fstat, (uint64_t)stage.reading, at(8), 0, 0), 0);
	read_back(8, &status, sizeof(status));
	ck_assert_int_eq(status.st_size, 16);
	answers(call(SYS_ftruncate, (uint64_t)stage.writing, 5, 0, 0), 0);
	reads(stage.reading, 0, "0123a", 20);
	answers(call(SYS_ftruncate, (uint64_t)stage.writing, 7, 0, 0), 0);
	answers(call(SYS_pread64, (uint64_t)stage.reading, at(8), 20, 4), 3);
	/* It is not what a mapping of the file would have. */
	ck_assert_int_eq(pread(stage.reading, &status, 20, 0), 10);
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

static struct hp_engine_call ask_lock(short type, off_t from, off_t bytes)
{
	const struct flock wanted = { .l_type = type, .l_start = from, .l_len = bytes };

	put(8, &wanted, sizeof(wanted));
	return call(SYS_fcntl, (uint64_t)stage.writing, F_GETLK, at(8), 0);
}

static void is_free(struct hp_engine_call call)
{
	struct flock found;

	answers(call, 0);
	read_back(8, &found, sizeof(found));
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

HP_TEST_MAIN("shadow/file_calls")
