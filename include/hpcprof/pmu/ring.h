/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel ring of raw records.
 *
 * A ring is memory shared with the kernel. The kernel moves `data_head`, and hpcprof moves
 * `data_tail`. The bytes between the two belong to hpcprof, from hp_ring_begin() to hp_ring_end():
 *
 *	hp_ring_begin(&ring);
 *	while (hp_ring_peek(&ring, &bytes, &size) == HP_RING_RECORD) {
 *		... bytes, as <linux/perf_event.h> has them, header and all ...
 *		hp_ring_next(&ring, size);
 *	}
 *	hp_ring_end(&ring);
 *
 * Nothing in a ring is trusted. After an impossible size the start of the next record is unknown,
 * so everything up to the head is dropped. The reader checks the contents of records.
 *
 * Used by one thread. Only hp_ring_peek() is called often; it allocates only for the largest record
 * so far that wraps around the end.
 */
#ifndef HPCPROF_PMU_RING_H
#define HPCPROF_PMU_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct hp_ring {
	struct perf_event_mmap_page *control; /* NULL: no ring */
	uint8_t *data;
	size_t size;	  /* of data, a power of two */
	int fd;		  /* borrowed, for poll; -1 of memory that is the caller's */
	uint64_t tail;	  /* next byte to read */
	uint64_t head;	  /* snapshot: end of what this pass may read */
	uint8_t *scratch; /* a record that wraps, straightened */
	size_t scratch_capacity;
};

/* Maps 1 + 2^n pages over an event's descriptor. Returns 0 or an errno value, and then no ring. */
int hp_ring_map(struct hp_ring *ring, int fd, size_t data_pages);
/* A ring over memory that is not the kernel's, for tests: control page and data are the caller's.
 */
void hp_ring_over(struct hp_ring *ring, struct perf_event_mmap_page *control, uint8_t *data,
		  size_t size);
/* Unmaps the ring; does nothing if it is zeroed. The descriptor remains open. */
void hp_ring_unmap(struct hp_ring *ring);

/* Starts a pass over the current contents. False if the positions cannot be the kernel's:
 * everything is then dropped. */
bool hp_ring_begin(struct hp_ring *ring);

enum hp_ring_peek {
	HP_RING_RECORD,
	HP_RING_EMPTY,	 /* this pass is over */
	HP_RING_DAMAGED, /* the rest of the ring is dropped; or no memory for a record that wraps */
};

/* The next record, without moving past it. The bytes are valid until hp_ring_next() or
 * hp_ring_end(). */
enum hp_ring_peek hp_ring_peek(struct hp_ring *ring, const uint8_t **bytes, size_t *size);
/* Moves past it; `size` is hp_ring_peek()'s. */
void hp_ring_next(struct hp_ring *ring, size_t size);

/* Returns the space of what was read to the kernel. */
void hp_ring_end(struct hp_ring *ring);

/* The size in a record's header, 0 if it is impossible (below 8, not a multiple of 8, or more than
 * `available`). */
size_t hp_ring_record_size(const void *header, size_t available);

#endif
