/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of neighbouring pages of a process, each with its place in a buffer that holds their contents.
 */
#ifndef SHADOW_COPY_RUNS_H
#define SHADOW_COPY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
	RUN_PAGE_BYTES = 4096,
	/* That one system call moves. */
	RUNS_AT_ONCE = 256,
};

struct run {
	uint64_t address;
	uint64_t bytes;
	uint64_t offset; /* in the buffer */
};

struct runs {
	struct run *at; /* by address */
	size_t count, capacity;
	uint64_t bytes; /* of all */
};

void runs_begin(struct runs *runs);
void runs_clear(struct runs *runs);
/* Adds pages behind the last ones, in runs of RUN_BYTES at most, so that readers can share them out; false:
 * no memory. */
bool runs_add(struct runs *runs, uint64_t address, uint64_t bytes, uint64_t offset);

/* For process_vm_readv and process_vm_writev: as many runs, from `first` to before `end`, as one call
 * moves. Returns how many. */
size_t runs_vectors(const struct runs *runs, size_t first, size_t end, uint8_t *buffer,
		    struct iovec local[RUNS_AT_ONCE], struct iovec remote[RUNS_AT_ONCE]);

#endif
