/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that a copy looks up, and files and directories that it opens, makes and removes. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_WHERE(can_copy(), names_are_looked_up)
{
	static const char *const unknown[] = { "/proc/self/stat", "/dev/urandom", "/sys", "" };
	struct hp_engine_call answer;
	struct stat status;

	start();
	answer = call(SYS_newfstatat, FROM_HERE, at(100), at(8), 0);
	answers(answer, 0);
	read_back(8, &status, sizeof(status));
	ck_assert_int_eq(status.st_size, 10);
	/* When it was read last says nothing. */
	ck_assert_uint_eq(answer.guessed_at, at(8) + offsetof(struct stat, st_atim));
	answers(call(SYS_access, at(100), R_OK, 0, 0), 0);
	answers(call(SYS_readlink, at(100), at(8), 100, 0), -EINVAL);
	for (size_t i = 0; i < HP_ARRAY_COUNT(unknown); i++) {
		put_name(200, unknown[i]);
		ends(call(SYS_newfstatat, FROM_HERE, at(200), at(8), 0), false);
		ends(call(SYS_openat, FROM_HERE, at(200), O_RDONLY, 0), false);
	}
	put_name(200, "/nowhere/at/all");
	answers(call(SYS_newfstatat, FROM_HERE, at(200), at(8), 0), -ENOENT);
	answers(call(SYS_openat, FROM_HERE, at(200), O_RDONLY, 0), -ENOENT);
	ends(call(SYS_openat, FROM_HERE, at(200), O_WRONLY | O_CREAT, 0), false);
}

TEST_WHERE(can_copy(), a_file_it_opens_has_the_number_that_the_original_would_get)
{
	struct stat status;
	int wanted;

	start();
	wanted = stage.next;
	answers(call(SYS_openat, FROM_HERE, at(100), O_RDONLY, 0), wanted);
	answers(call(SYS_read, (uint64_t)wanted, at(8), 100, 0), 10);
	answers(call(SYS_fstat, (uint64_t)wanted, at(8), 0, 0), 0);
	read_back(8, &status, sizeof(status));
	ck_assert_int_eq(status.st_size, 10);
	answers(call(SYS_close, (uint64_t)wanted, 0, 0, 0), 0);
	ends(call(SYS_read, (uint64_t)wanted, at(8), 100, 0), false);
	ends(call(SYS_openat, FROM_HERE, at(100), O_RDONLY | O_TRUNC, 0), false);
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
	put_name(200, name);
	answers(call(SYS_access, at(200), F_OK, 0, 0), -ENOENT);
	answers(call(SYS_openat, FROM_HERE, at(200), flags, 0600), made);
	answers(call(SYS_unlink, at(200), 0, 0, 0), 0);
	answers(call(SYS_fstat, (uint64_t)made, at(8), 0, 0), 0);
	read_back(8, &status, sizeof(status));
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_int_eq(status.st_size, 0);
	put(20, "abcdef", 6);
	/* Across pages, and nothing before them. */
	answers(call(SYS_pwrite64, (uint64_t)made, at(20), 6, 4093), 6);
	reads(made, 4093, "abcdef", 20);
	answers(call(SYS_pread64, (uint64_t)made, at(300), 5, 4090), 5);
	read_back(300, name, 5);
	ck_assert_mem_eq(name, "\0\0\0ab", 5);
	answers(call(SYS_close, (uint64_t)made, 0, 0, 0), 0);
	/* One that there is is not emptied. */
	answers(call(SYS_openat, FROM_HERE, at(100), O_WRONLY | O_TRUNC, 0), made);
	answers(call(SYS_write, (uint64_t)made, at(20), 6, 0), 6);
	answers(call(SYS_rename, at(100), at(200), 0, 0), 0);
	ck_assert_int_eq(stat(stage.path, &status), 0);
	ck_assert_int_eq(status.st_size, 10);
	snprintf(name, sizeof(name), "%s.new", stage.path);
	ck_assert_int_lt(stat(name, &status), 0);
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
	return call(SYS_openat, FROM_HERE, at(name_at), O_RDWR | flags, 0600);
}

TEST_WHERE(can_copy(), a_file_it_opens_both_ways_is_what_it_was_or_ends_the_window)
{
	char name[80];
	int made;
	int fd;

	start();
	made = stage.next;
	put(20, "abcdef", 6);
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
	put_name(200, name);
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
	put_name(200, name);
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
	put_name(200, name);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	if (tells_birth(fd)) {
		answers(call(SYS_access, at(200), F_OK, 0, 0), -ENOENT);
		answers(call(SYS_newfstatat, FROM_HERE, at(200), at(8), 0), -ENOENT);
		answers(call(SYS_openat, FROM_HERE, at(200), O_RDONLY, 0), -ENOENT);
	}
	answers(call(SYS_openat, FROM_HERE, at(200), O_WRONLY | O_CREAT, 0600), stage.next);
	answers(call(SYS_access, at(200), F_OK, 0, 0), 0);
	answers(call(SYS_newfstatat, FROM_HERE, at(200), at(8), 0), 0);
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
	ends_with(call(SYS_openat, FROM_HERE, at(100), O_RDONLY, 0), SYS_openat,
		  "openat of a file that is gone");
	ends_with(call(SYS_openat, FROM_HERE, at(100), O_RDWR, 0), SYS_openat,
		  "openat of a file that is gone");
	ends_with(call(SYS_mkdir, at(100), 0, 0, 0), SYS_mkdir, "mkdir");
	/* Whoever asks is answered: most do so of what never was. */
	answers(call(SYS_access, at(100), F_OK, 0, 0), -ENOENT);
}

/* A copy may be replayed when its original has ended. */
TEST_WHERE(can_copy(), files_are_found_when_the_original_has_ended)
{
	start();
	kill(stage.pid, SIGKILL);
	ck_assert_int_eq(waitpid(stage.pid, NULL, 0), stage.pid);
	answers(call(SYS_openat, FROM_HERE, at(100), O_RDONLY, 0), stage.next);
	put_name(200, "nowhere");
	answers(call(SYS_openat, FROM_HERE, at(200), O_RDONLY, 0), -ENOENT);
	/* For the end of the test. */
	stage.pid = fork();
	if (stage.pid == 0)
		pause();
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
	put_name(200, directory);
	put_name(220, "inside");
	answers(call(SYS_openat, FROM_HERE, at(200), O_RDONLY | O_DIRECTORY, 0), made);
	answers(call(SYS_fsync, (uint64_t)made, 0, 0, 0), 0);
	answers(call(SYS_fstat, (uint64_t)made, at(8), 0, 0), 0);
	read_back(8, &status, sizeof(status));
	ck_assert(S_ISDIR(status.st_mode));
	answers(call(SYS_newfstatat, (uint64_t)made, at(220), at(8), 0), 0);
	answer = call(SYS_getdents64, (uint64_t)made, at(300), sizeof(entries), 0);
	ck_assert(answer.is_handled && answer.result > 0);
	read_back(300, entries, sizeof(entries));
	ck_assert(has_entry(entries, answer.result, "inside"));
	answers(call(SYS_getdents64, (uint64_t)made, at(300), sizeof(entries), 0), 0);
	/* A file is none, and what has changed is not known. */
	answers(call(SYS_openat, FROM_HERE, at(100), O_RDONLY | O_DIRECTORY, 0), -ENOTDIR);
	ck_assert_int_eq(rmdir(inside), 0);
	ends(call(SYS_getdents64, (uint64_t)made, at(300), sizeof(entries), 0), false);
	answers(call(SYS_close, (uint64_t)made, 0, 0, 0), 0);
	rmdir(directory);
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
		put_name(200, name);
		ends(call(SYS_openat, FROM_HERE, at(200), O_RDONLY, 0), false);
		ends(call(SYS_newfstatat, FROM_HERE, at(200), at(8), 0), false);
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
	ends(call(SYS_openat, FROM_HERE, at(100), O_RDONLY, 0), false);
	shadow_calls_describe_end(&stage.calls, SYS_openat, text, sizeof(text));
	ck_assert_str_eq(text, "openat of a file of a program with other rights");
	ends(call(SYS_newfstatat, FROM_HERE, at(100), at(8), 0), false);
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

HP_TEST_MAIN("shadow/path_calls")
