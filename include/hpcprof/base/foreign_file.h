/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that somebody else has named: the profiled program, another user. Opening one by its name
 * alone could lead anywhere: by a link out of a container, to a device that notices, to a pipe that
 * waits, to what the kernel shows of who asks.
 *
 * So each is first only found (O_PATH, which opens nothing), looked at, and then opened for reading
 * if it is a regular file that some file system keeps. Descriptors close on exec. By any thread.
 */
#ifndef HPCPROF_BASE_FOREIGN_FILE_H
#define HPCPROF_BASE_FOREIGN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum hp_file_system {
	HP_FILE_SYSTEM_KEEPS,	/* what was put there */
	HP_FILE_SYSTEM_PROGRAM, /* asks a program (FUSE), which may never answer */
	HP_FILE_SYSTEM_KERNEL,	/* /proc, /sys, ...: shows what depends on who asks */
};
/* Of what a descriptor is of (O_PATH will do); KERNEL where that cannot be told. */
enum hp_file_system hp_file_system_of(int fd);

/*
 * What was found, open for reading; `handle` stays the caller's. `status` is filled in. -1 with
 * errno EACCES when it is no regular file, or the kernel's own.
 */
int hp_foreign_reopen(int handle, struct stat *status);

/* By a path as we see it. `flags`: O_NOFOLLOW or 0. -1 with errno. */
int hp_foreign_open(const char *path, int flags, struct stat *status);

/*
 * By an absolute path as process `pid` sees it: below its root directory and in its mounts, which
 * neither links nor ".." leave. -1 with errno; ENOSYS before Linux 5.6.
 */
int hp_foreign_open_of(pid_t pid, const char *path, int flags, struct stat *status);

/* Whether it has another root directory or other mounts than we: then a path of its means nothing to
 * us. Not where that cannot be told: it is over, or we may not look, and then may not do more with
 * a path than its user. */
bool hp_foreign_is_elsewhere(pid_t pid);

#endif
