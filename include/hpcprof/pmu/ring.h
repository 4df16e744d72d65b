/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel ring of raw records.
 *
 * A ring is memory shared with the kernel, which moves `data_head`; we move `data_tail`. Bytes
 * between the two are ours, from hp_ring_begin() to hp_ring_end():
 *
 *	hp_ring_begin(&ring);
 *	while (hp_ring_peek(&ring, &bytes, &size) == HP_RING_RECORD) {
 *		... bytes, as <linux/perf_event.h> has them, header and all ...
 *		hp_ring_next(&ring, size);
 *	}
 *	hp_ring_end(&ring);
 *
 * Nothing in a ring is trusted: where a size makes no sense nobody knows where the next record
 * begins, so everything up to the head is given up. What is in the records is the reader's to
 * check.
 *
 * Used by one thread. Nothing here is hot but hp_ring_peek(), which allocates only for the largest
 * record so far that wraps over the end.
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
/* Leaves no ring; of one that is none already (all zero) too. The descriptor stays open. */
void hp_ring_unmap(struct hp_ring *ring);

/* Starts a pass over what the ring holds now. False when its positions cannot be the kernel's:
 * everything is given up then. */
bool hp_ring_begin(struct hp_ring *ring);

enum hp_ring_peek {
	HP_RING_RECORD,
	HP_RING_EMPTY,	 /* this pass is over */
	HP_RING_DAMAGED, /* and the rest of the ring given up; or no memory for a record that wraps */
};

/* The next record, which stays the next. The bytes live until hp_ring_next() or hp_ring_end(). */
enum hp_ring_peek hp_ring_peek(struct hp_ring *ring, const uint8_t **bytes, size_t *size);
/* Moves past it; `size` is hp_ring_peek()'s. */
void hp_ring_next(struct hp_ring *ring, size_t size);

/* Hands the space of what was read back to the kernel. */
void hp_ring_end(struct hp_ring *ring);

/* The size in a record's header, 0 when it cannot be right (below 8, not a multiple of 8, or more
 * than `available`, all that can be read). */
size_t hp_ring_record_size(const void *header, size_t available);

#endif
