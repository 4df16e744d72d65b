/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that somebody else has named, who wants us to open another. */
#include "../support.h"

#include <hpcprof/base/foreign_file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *directory;

static const char *at(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned next;
	char *text = path[next++ % 4];

	snprintf(text, PATH_MAX, "%s/%s", directory, name);
	return text;
}

static void make(const char *name, const char *text)
{
	FILE *file = fopen(at(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

SETUP
{
	directory = temporary_directory();
	ck_assert_int_eq(chmod(directory, 0755), 0);
	make("plain", "plain");
	make("secret", "secret");
	ck_assert_int_eq(mkdir(at("jail"), 0755), 0);
	make("jail/inside", "inside");
	ck_assert_int_eq(symlink(at("secret"), at("jail/absolute")), 0);
	ck_assert_int_eq(symlink("../secret", at("jail/relative")), 0);
	ck_assert_int_eq(symlink("/inside", at("jail/to-inside")), 0);
	ck_assert_int_eq(symlink("/dev/zero", at("device")), 0);
	ck_assert_int_eq(symlink("plain", at("link")), 0);
	ck_assert_int_eq(mkfifo(at("pipe"), 0600), 0);
}

static void reads(int fd, const char *wanted)
{
	char text[16] = "";

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, wanted);
	close(fd);
}

TEST(a_regular_file_is_opened_and_nothing_else)
{
	static const char *const others[] = { "device", "pipe", "jail", "none" };
	struct stat status;

	reads(hp_foreign_open(at("plain"), 0, &status), "plain");
	ck_assert_int_eq(status.st_size, 5);
	reads(hp_foreign_open(at("link"), 0, &status), "plain");
	ck_assert_int_lt(hp_foreign_open(at("link"), O_NOFOLLOW, &status), 0);
	/* It neither waits for who writes the pipe, nor is it seen by who does. */
	for (size_t i = 0; i < HP_ARRAY_COUNT(others); i++)
		ck_assert_int_lt(hp_foreign_open(at(others[i]), 0, &status), 0);
	ck_assert_int_lt(open(at("pipe"), O_WRONLY | O_NONBLOCK), 0);
	ck_assert_int_eq(errno, ENXIO);
}

TEST(what_the_kernel_shows_is_not_opened)
{
	static const char *const names[] = { "/proc/self/status", "/proc/version",
					     "/sys/kernel/mm/transparent_hugepage/enabled" };
	struct stat status;

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++)
		ck_assert_int_lt(hp_foreign_open(names[i], 0, &status), 0);
}

TEST(a_handle_is_opened_again_as_the_same_file)
{
	struct stat status;
	int handle;

	handle = open(at("plain"), O_PATH | O_CLOEXEC);
	/* Another file by that name is not the one. */
	ck_assert_int_eq(rename(at("secret"), at("plain")), 0);
	reads(hp_foreign_reopen(handle, &status), "plain");
	close(handle);
}

static pid_t start_in_jail(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		byte = chroot(at("jail")) == 0 && chdir("/") == 0;
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (byte)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

TEST(no_path_leads_out_of_a_root_directory)
{
	static const char *const ways[] = { "/absolute",	  "/relative",
					    "/../secret",	  "/../../../etc/passwd",
					    "/../jail/../secret", "/proc/self/root" };
	struct stat status;
	pid_t pid;

	pid = start_in_jail();
	if (pid) {
		ck_assert(hp_foreign_is_elsewhere(pid));
		reads(hp_foreign_open_of(pid, "/inside", 0, &status), "inside");
		/* Links are its own. */
		reads(hp_foreign_open_of(pid, "/to-inside", 0, &status), "inside");
		ck_assert_int_lt(hp_foreign_open_of(pid, "/to-inside", O_NOFOLLOW, &status), 0);
		for (size_t i = 0; i < HP_ARRAY_COUNT(ways); i++)
			ck_assert_msg(hp_foreign_open_of(pid, ways[i], 0, &status) < 0, "%s",
				      ways[i]);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
}

TEST(who_has_our_root_sees_what_we_see)
{
	struct stat status;

	ck_assert(!hp_foreign_is_elsewhere(getpid()));
	reads(hp_foreign_open_of(getpid(), at("link"), 0, &status), "plain");
	ck_assert_int_lt(hp_foreign_open_of(getpid(), at("pipe"), 0, &status), 0);
	/* A link of the kernel's own leads anywhere. */
	ck_assert_int_lt(hp_foreign_open_of(getpid(), "/proc/self/exe", 0, &status), 0);
}

HP_TEST_MAIN("base/foreign_file")
