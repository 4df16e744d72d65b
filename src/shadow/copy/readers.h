/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the memory of another process, with as many threads as make it faster. */
#ifndef SHADOW_COPY_READERS_H
#define SHADOW_COPY_READERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A run of adjacent pages. */
struct run {
	uint64_t address;
	uint64_t bytes;
	uint64_t offset; /* of its contents in the buffer */
};

uint64_t runs_bytes(const struct run *runs, size_t count);

/* Reads the runs of process `pid` into `buffer`. Returns how many bytes were handled by
 * `deadline_ns` of the monotonic clock; if fewer than asked for, the time was up. Pages that cannot
 * be read any more become zero. */
uint64_t readers_read(pid_t pid, const struct run *runs, size_t count, uint8_t *buffer,
		      uint64_t deadline_ns);

#endif
