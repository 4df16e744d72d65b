/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target's descriptors, as its copy sees them. The copy itself has none. hpcprof reads regular
 * files for it, from descriptors of its own and at positions that it keeps; what the copy writes is
 * dropped, or kept in memory (written.h). So a copy holds no pipe open and no lock, and takes
 * nothing from a socket.
 *
 * A file is read for the copy only if the target has it open for reading, whatever hpcprof may
 * read. Files of the kernel (/proc, /sys) are not read: their contents depend on who opens them.
 */
#ifndef SHADOW_SYSCALLS_DESCRIPTORS_H
#define SHADOW_SYSCALLS_DESCRIPTORS_H

#include "terminal.h"
#include "written.h"

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum descriptor_kind {
	DESCRIPTOR_REGULAR,
	DESCRIPTOR_DIRECTORY,
	DESCRIPTOR_OTHER, /* pipe, socket, terminal, device, eventfd, ... */
};

struct descriptor {
	int number; /* in the target */
	uint8_t kind;
	bool is_known; /* its position and flags; regular files only */
	bool is_new;   /* opened by the copy */
	/* the copy believes it has written to it, but this was not kept: what it would read is
	 * unknown */
	bool is_written;
	bool is_stream; /* a pipe or a socket */
	bool is_null;	/* /dev/null, zero or full */
	bool is_terminal;
	struct terminal terminal; /* its settings when it was listed */
	int flags;		  /* O_* */
	uint32_t mode;		  /* with which the copy created it */
	uint64_t position;
	uint64_t size; /* when it was listed, in bytes */
	uint64_t device;
	uint64_t inode;
	struct stat status; /* when it was listed */
	/* our own descriptor for reading; -1: not opened yet, or it cannot be opened */
	int fd;
};

struct descriptors {
	pid_t pid;
	struct descriptor *at; /* sorted by number */
	size_t count, capacity;
	struct written written;
	/* it watches files being opened (inotify, fanotify), so it would notice if we opened any */
	bool is_watching;
};

/* Device of files that exist only for the copy. */
#define DESCRIPTOR_MADE_UP_DEVICE UINT64_MAX

/* Lists the descriptors of a running process, without positions of regular files. */
struct hp_error *descriptors_list(struct descriptors *descriptors, pid_t pid);
/* Reads the positions while a thread of the process is held. If there are few descriptors, it also
 * finds those opened and closed since they were listed. */
void descriptors_read_positions(struct descriptors *descriptors);
void descriptors_clear(struct descriptors *descriptors);

/* Whether it is a device without ioctls and positions. */
bool descriptor_is_null(const struct stat *status);

/* Whether the target may read from it: it was not opened for writing only, nor with O_PATH, for
 * which read permission is not checked. */
bool descriptor_may_be_read(const struct descriptor *descriptor);

/* NULL: not open, or too many are. */
struct descriptor *descriptors_find(struct descriptors *descriptors, uint64_t number);
/* Returns a descriptor to read a regular file with; -1 when the same file cannot be opened, or the
 * target would notice. */
int descriptors_open(struct descriptors *descriptors, struct descriptor *descriptor);
/* Adds a copy of `like` with the lowest free number, as open() does, and takes over its `fd`. NULL:
 * out of memory. */
struct descriptor *descriptors_add(struct descriptors *descriptors,
				   const struct descriptor *opened);
/* Marks its file as written, by whichever descriptor it was. */
void descriptors_mark_written(struct descriptors *descriptors, const struct descriptor *descriptor);
void descriptors_remove(struct descriptors *descriptors, struct descriptor *descriptor);

/* Parses the text of /proc/PID/fdinfo/N. False when it has no position or no flags. `inode` is
 * unchanged if the kernel does not print it. */
bool descriptor_parse_info(const char *text, uint64_t *position, int *flags, uint64_t *inode);

#endif
