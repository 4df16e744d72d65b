/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a copy has written to files. Nothing of it reaches a file. Pages are kept of files that the
 * copy may read again; other pages of such a file are read from the file itself. The first page of
 * a file that the original may write to is kept as it was when the copy was made, because databases
 * record there that they have changed.
 */
#ifndef SHADOW_SYSCALLS_WRITTEN_H
#define SHADOW_SYSCALLS_WRITTEN_H

#include <hpcprof/base/vector.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct written_page {
	uint64_t number;
	uint8_t *bytes;
};

struct written_file {
	uint64_t device, inode;
	uint64_t size;			      /* size for the copy, in bytes */
	uint64_t base_size;		      /* of these, the first bytes are the file's own */
	HP_VECTOR(struct written_page) pages; /* sorted by number */
	bool is_changed;		      /* by the copy */
};

struct written {
	HP_VECTOR(struct written_file) files;
	uint64_t bytes; /* bytes kept in all */
};

/* NULL: the copy has not written to this file. Valid until one is added. */
struct written_file *written_find(struct written *written, uint64_t device, uint64_t inode);
/* Begins with a file of this size. NULL: out of memory. */
struct written_file *written_add(struct written *written, uint64_t device, uint64_t inode,
				 uint64_t size);
/* Keeps the first page of a file now; nothing is kept if that fails. */
void written_keep_head(struct written *written, uint64_t device, uint64_t inode, int fd);
bool written_is_changed(struct written *written, uint64_t device, uint64_t inode);
void written_clear(struct written *written);

/* `fd` is of the file itself, for bytes that the copy has not written; -1: there is none. False
 * when it is too much to keep, or the file cannot be read. */
bool written_put(struct written *written, struct written_file *file, int fd, uint64_t position,
		 const void *bytes, size_t size);
/* Like pread; -1 when the file cannot be read. */
ssize_t written_get(const struct written_file *file, int fd, uint64_t position, void *bytes,
		    size_t size);
/* Like ftruncate. */
void written_resize(struct written_file *file, uint64_t size);

#endif
