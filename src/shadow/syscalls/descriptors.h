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
	bool is_known;	 /* position and flags are; regular files only */
	bool is_new;	 /* opened by the copy */
	bool is_written; /* by the copy, as it believes, and not kept: what it would read is not
			    known */
	bool is_stream;	 /* a pipe or a socket */
	bool is_null;	 /* /dev/null, zero or full */
	bool is_terminal;
	struct terminal terminal; /* what it said when it was listed */
	int flags;		  /* O_* */
	uint32_t mode;		  /* as the copy made it */
	uint64_t position;
	uint64_t size; /* when it was listed */
	uint64_t device;
	uint64_t inode;
	struct stat status; /* when it was listed */
	int fd;		    /* ours, to read from; -1: not opened yet, or it cannot be */
};

struct descriptors {
	pid_t pid;
	struct descriptor *at; /* by number */
	size_t count, capacity;
	struct written written;
	bool is_watching; /* files being opened (inotify, fanotify): it must not see us do so */
};

/* Of files that there are for the copy only. */
#define DESCRIPTOR_MADE_UP_DEVICE UINT64_MAX

/* Those of a process, it running; without positions of regular files. */
struct hp_error *descriptors_list(struct descriptors *descriptors, pid_t pid);
/* Their positions, a thread of it held; and, where they are few, what was opened and closed since
 * they were listed. */
void descriptors_read_positions(struct descriptors *descriptors);
void descriptors_clear(struct descriptors *descriptors);

/* Whether it is one of the devices that know no ioctl, and no positions. */
bool descriptor_is_null(const struct stat *status);

/* Whether the target may read it: it was opened for that, not for writing only, nor just to have it
 * (O_PATH, for which nobody asks who may read it). */
bool descriptor_may_be_read(const struct descriptor *descriptor);

/* NULL: not open, or too many. */
struct descriptor *descriptors_find(struct descriptors *descriptors, uint64_t number);
/* Something to read a regular file with; -1 when the very file cannot be had, or the target would
 * see it opened. */
int descriptors_open(struct descriptors *descriptors, struct descriptor *descriptor);
/* Adds one like this, but with the lowest free number, as open() would; takes over its `fd`. NULL:
 * no memory. */
struct descriptor *descriptors_add(struct descriptors *descriptors,
				   const struct descriptor *opened);
/* Its file, by whatever descriptor. */
void descriptors_mark_written(struct descriptors *descriptors, const struct descriptor *descriptor);
void descriptors_remove(struct descriptors *descriptors, struct descriptor *descriptor);

/* The text of /proc/PID/fdinfo/N; false when there is no position or no flags. `inode` stays as it
 * is where the kernel does not say. */
bool descriptor_parse_info(const char *text, uint64_t *position, int *flags, uint64_t *inode);

#endif
