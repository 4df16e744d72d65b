/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several kernel rings, read as one stream in order of time.
 *
 * Samples and map changes of one process come through the rings of several CPUs, and a sample must
 * be matched with the maps at its time. Each ring is in order of time, so it is enough to merge by
 * time up to a horizon before which everything has arrived. Newer records stay in the ring, which
 * is the only queue.
 *
 * Damaged data is counted and skipped: one record, or the rest of a pass over one ring, see
 * <hpcprof/pmu/ring.h>.
 *
 * Used by one thread.
 */
#ifndef HPCPROF_SAMPLE_RING_SET_H
#define HPCPROF_SAMPLE_RING_SET_H

#include <hpcprof/base/error.h>
#include <hpcprof/pmu/ring.h>
#include <hpcprof/sample/record.h>

struct hp_ring_set {
	struct hp_ring *rings;
	size_t count;
	struct hp_record_layout layout;
	uint64_t damaged; /* malformed records and rests of rings */
	/* a heap of rings by the time of their next record, during a pass */
	struct ring_next {
		uint64_t time_ns;
		struct hp_ring *ring;
		const uint8_t *bytes;
		size_t size;
	} * heap;
	size_t heap_count;
	bool handed_out; /* the caller uses the heap's top */
	uint64_t horizon_ns;
};

/* Takes an array of `count` zeroed or mapped rings (owned by the set from here on). */
struct hp_error *hp_ring_set_create(struct hp_ring_set *set, struct hp_ring *rings, size_t count,
				    struct hp_record_layout layout);
void hp_ring_set_clear(struct hp_ring_set *set);

/* Starts a pass over the current contents of the rings, up to `horizon_ns` (UINT64_MAX:
 * everything). */
void hp_ring_set_begin(struct hp_ring_set *set, uint64_t horizon_ns);
/* The next record in time order; false at the end of the pass. What the record points to lives
 * until the next call, which returns its space to the kernel. */
bool hp_ring_set_next(struct hp_ring_set *set, struct hp_record *record);
/* The index of the ring of the last record. */
size_t hp_ring_set_current(const struct hp_ring_set *set);
/* Ends the pass, and returns the space of what was read. */
void hp_ring_set_end(struct hp_ring_set *set);

#endif
