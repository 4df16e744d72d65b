/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose names come from somebody else: the profiled program or another user. Opening such a
 * name directly is dangerous: it may be a link out of a container, a device that has side effects,
 * a pipe that blocks, or a kernel file whose contents depend on the reader.
 *
 * Each file is therefore first located with O_PATH, which does not open it, and examined. It is
 * opened for reading only if it is a regular file on a file system that stores files. Descriptors
 * are close-on-exec. Any thread may call these functions.
 */
#ifndef HPCPROF_BASE_FOREIGN_FILE_H
#define HPCPROF_BASE_FOREIGN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum hp_file_system {
	HP_FILE_SYSTEM_KEEPS,	/* returns what was stored */
	HP_FILE_SYSTEM_PROGRAM, /* asks a program (FUSE), which may never answer */
	HP_FILE_SYSTEM_KERNEL,	/* /proc, /sys, ...: depends on the reader */
};
/* The kind of the descriptor's file system (an O_PATH descriptor is enough); KERNEL if unknown. */
enum hp_file_system hp_file_system_of(int fd);

/*
 * Opens the located file for reading and fills in `status`; `handle` remains the caller's. Returns
 * -1 with errno EACCES if it is not a regular file, or is a file of the kernel.
 */
int hp_foreign_reopen(int handle, struct stat *status);

/* By a path in the mounts of hpcprof. `flags`: O_NOFOLLOW or 0. Returns -1 with errno. */
int hp_foreign_open(const char *path, int flags, struct stat *status);

/*
 * By an absolute path in the mounts and below the root directory of process `pid`, which neither
 * links nor ".." can leave. Returns -1 with errno; ENOSYS before Linux 5.6.
 */
int hp_foreign_open_of(pid_t pid, const char *path, int flags, struct stat *status);

/* Whether the process has another root directory or other mounts than hpcprof, so that its paths
 * mean other files. False if unknown: the process has ended, or hpcprof may not inspect it; then
 * the path is opened with no more rights than the user has. */
bool hp_foreign_is_elsewhere(pid_t pid);

#endif
