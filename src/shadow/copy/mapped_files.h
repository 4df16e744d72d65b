/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a target has mapped, opened by hpcprof for reading, so that copies can map the
 * same files. They stay open from one copy to the next.
 */
#ifndef SHADOW_COPY_MAPPED_FILES_H
#define SHADOW_COPY_MAPPED_FILES_H

#include "areas.h"

struct mapped_file {
	uint64_t device;
	uint64_t inode;
	int fd; /* -1: it cannot be opened; this is not tried again */
};

struct mapped_files {
	struct mapped_file *at;
	size_t count, capacity;
};

/* The very file that `area` of process `pid` maps, until the next call. It has no descriptor if it
 * was removed or replaced, or if we may not open it. NULL: there are too many files. */
const struct mapped_file *mapped_files_find(struct mapped_files *files, pid_t pid,
					    const struct area *area);
void mapped_files_clear(struct mapped_files *files);

#endif
