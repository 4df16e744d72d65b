/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel rings, and reading several of them as one stream in time order.
 *
 * A ring is memory shared with the kernel, which moves `data_head`; we move `data_tail`. Bytes
 * between the two are ours. Nothing in them is trusted: a record whose size makes no sense ends
 * that ring's pass, everything up to the head is given up and counted as damaged.
 *
 * Order: samples and map changes of one process come through the rings of several CPUs, and a
 * sample must meet the maps of its moment. Each ring is in time order, so merging by time up to a
 * horizon (everything older has surely arrived) is enough; what is newer stays in the ring, which
 * is the only queue there is.
 *
 * Used by one thread.
 */
#ifndef HPCPROF_COLLECT_RING_H
#define HPCPROF_COLLECT_RING_H

#include "record.h"

#include <hpcprof/base/cleanup.h>

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	struct perf_event_mmap_page *control; /* NULL: this slot has no ring */
	uint8_t *data;
	size_t size;	  /* of data, a power of two */
	int fd;		  /* borrowed, for poll */
	uint64_t tail;	  /* next byte to read */
	uint64_t head;	  /* snapshot: end of what this pass may read */
	uint8_t *scratch; /* a record that wraps, straightened */
	size_t scratch_capacity;
};

/* Maps 1 + 2^n pages over `fd`. Returns 0 or an errno value. */
int ring_map(struct ring *ring, int fd, size_t data_pages);
/* A ring over memory that is not the kernel's, for tests: control page and data are the caller's.
 */
void ring_over(struct ring *ring, struct perf_event_mmap_page *control, uint8_t *data, size_t size);
void ring_unmap(struct ring *ring);

struct ring_set {
	struct ring *rings;
	size_t count;
	struct record_layout layout;
	uint64_t damaged; /* records, or rests of rings, that made no sense */
	/* a heap of rings by the time of their next record, during a pass */
	struct ring_next {
		uint64_t time_ns;
		struct ring *ring;
		const uint8_t *bytes;
		size_t size;
	} * heap;
	size_t heap_count;
	bool handed_out; /* the heap's top is in the caller's hands */
	uint64_t horizon_ns;
};

/* Takes an array of `count` zeroed or mapped rings (owned by the set from here on). */
struct hp_error *ring_set_create(struct ring_set *set, struct ring *rings, size_t count,
				 struct record_layout layout);
void ring_set_clear(struct ring_set *set);

/* Starts a pass over what the rings hold now, up to `horizon_ns` (UINT64_MAX: everything). */
void ring_set_begin(struct ring_set *set, uint64_t horizon_ns);
/* The next record in time order; false at the end of the pass. The record's strings live until the
 * next call. */
bool ring_set_next(struct ring_set *set, struct record *record);
/* The number of the ring that the record handed out last is from. */
size_t ring_set_current(const struct ring_set *set);
/* Hands the space of what was read back to the kernel. */
void ring_set_end(struct ring_set *set);

#endif
