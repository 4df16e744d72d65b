/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer for the target's memory. All of its pages are present before it is filled, so that
 * reading is as fast as it can be. It is excluded from core files of hpcprof.
 */
#ifndef SHADOW_COPY_BUFFER_H
#define SHADOW_COPY_BUFFER_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct buffer {
	uint8_t *at;
	uint64_t bytes;
	bool is_lendable; /* a memfd, that a copy can map: the copy has a page of it as soon as it uses it */
	int fd;
	uint64_t filled_ns;    /* CPU time of the latest buffer_enlarge, … */
	uint64_t filled_bytes; /* … which made so much */
};

/* Has it begin with this, whole pages that are mapped and in memory, which it owns from then on. */
void buffer_adopt(struct buffer *buffer, uint8_t *memory, uint64_t bytes);
/* Whose time it takes to make memory. */
enum filling_time {
	FILL_IDLE, /* that hardly anybody else wants */
	FILL_PAID, /* that others may want, too: the target's budget pays for it */
};
/* Makes it larger, and lendable if it is large. INSUFFICIENT when there is too little of such time, or `stop_fd`
 * becomes readable (-1: never): what has been made stays. */
struct hp_error *buffer_enlarge(struct buffer *buffer, uint64_t bytes, enum filling_time time,
				int stop_fd);
void buffer_release(struct buffer *buffer);

#endif
