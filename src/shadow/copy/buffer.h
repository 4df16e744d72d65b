/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer for the target's memory. All of its pages are present before it is filled, and the kernel has
 * written to them, so that reading is as fast as it can be. It is excluded from core files of hpcprof.
 */
#ifndef SHADOW_COPY_BUFFER_H
#define SHADOW_COPY_BUFFER_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct buffer {
	uint8_t *at;
	uint64_t bytes;
	/* it is a memfd, which a copy can map; the copy gets pages of its own as it writes to
	 * them */
	bool is_lendable;
	/* set by the owner: no copy is to map it, so it has huge pages, which are made in a fraction
	 * of the time */
	bool is_kept;
	int fd;
	uint64_t filled_ns;    /* CPU time that the latest buffer_enlarge took … */
	uint64_t filled_bytes; /* … to make this many bytes */
};

/* The buffer takes over `memory`: whole pages that are mapped and allocated. */
void buffer_adopt(struct buffer *buffer, uint8_t *memory, uint64_t bytes);
/* On whose CPU time memory is made. */
enum filling_time {
	FILL_IDLE, /* idle time, which hardly anybody else wants */
	FILL_PAID, /* any time, at the cost of the target's budget */
};
/* Enlarges the buffer, and makes it lendable if it is large, not kept, and the limit of file sizes
 * allows it. INSUFFICIENT when too little of such time is available, when it has taken `most_ns` of
 * it, or when `stop_fd` becomes readable (-1: never). Memory made until then is kept. */
struct hp_error *buffer_enlarge(struct buffer *buffer, uint64_t bytes, enum filling_time time,
				uint64_t most_ns, int stop_fd);
/* Whether a buffer of so many bytes is made lendable. */
bool buffer_would_be_lent(uint64_t bytes, bool is_kept);
void buffer_release(struct buffer *buffer);

#endif
