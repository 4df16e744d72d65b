/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ring.h"

#include <hpcprof/base/vector.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *ring, int fd, size_t data_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory =
		mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return errno;
	ring_over(ring, memory, (uint8_t *)memory + page, data_pages * page);
	ring->fd = fd;
	return 0;
}

void ring_over(struct ring *ring, struct perf_event_mmap_page *control, uint8_t *data, size_t size)
{
	*ring = (struct ring){ .control = control, .data = data, .size = size, .fd = -1 };
}

void ring_unmap(struct ring *ring)
{
	if (ring->control && ring->fd >= 0)
		munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	free(ring->scratch);
	*ring = (struct ring){ .fd = -1 };
}

struct hp_error *ring_set_create(struct ring_set *set, struct ring *rings, size_t count,
				 struct record_layout layout)
{
	*set = (struct ring_set){ .rings = rings, .count = count, .layout = layout };
	set->heap = calloc(count ? count : 1, sizeof(*set->heap));
	return set->heap ? NULL : hp_error_create_no_memory();
}

void ring_set_clear(struct ring_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		ring_unmap(&set->rings[i]);
	free(set->rings);
	free(set->heap);
	*set = (struct ring_set){ 0 };
}

/* `size` bytes at `position`, straightened into the scratch buffer when they wrap. */
static const uint8_t *ring_bytes(struct ring *ring, uint64_t position, size_t size)
{
	size_t start = (size_t)(position & (ring->size - 1));
	size_t first = ring->size - start;

	if (size <= first)
		return ring->data + start;
	if (!hp_grow((void **)&ring->scratch, &ring->scratch_capacity, size, 1))
		return NULL;
	memcpy(ring->scratch, ring->data + start, first);
	memcpy(ring->scratch + first, ring->data, size - first);
	return ring->scratch;
}

/* Looks at the next record of a ring. False when this pass has no more for it. */
static bool peek(struct ring_set *set, struct ring *ring, struct ring_next *next)
{
	uint64_t available = ring->head - ring->tail;
	const uint8_t *header;
	size_t size;

	if (!available)
		return false;
	/* Records are multiples of 8 and so is the ring: a header never wraps. */
	header = ring->data + (ring->tail & (ring->size - 1));
	size = record_size(header, available > ring->size ? 0 : (size_t)available);
	next->bytes = size ? ring_bytes(ring, ring->tail, size) : NULL;
	if (!next->bytes) {
		set->damaged++;
		ring->tail = ring->head;
		return false;
	}
	next->ring = ring;
	next->size = size;
	next->time_ns = record_time(next->bytes, size, set->layout);
	return next->time_ns <= set->horizon_ns;
}

static void sift_down(struct ring_next *heap, size_t count, size_t at)
{
	struct ring_next moving = heap[at];

	for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && heap[child + 1].time_ns < heap[child].time_ns)
			child++;
		if (moving.time_ns <= heap[child].time_ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

void ring_set_begin(struct ring_set *set, uint64_t horizon_ns)
{
	set->horizon_ns = horizon_ns;
	set->heap_count = 0;
	set->handed_out = false;
	for (size_t i = 0; i < set->count; i++) {
		struct ring *ring = &set->rings[i];

		if (!ring->control)
			continue;
		/* Pairs with the kernel's barrier before it moves data_head: the bytes below the
		 * head are visible to us after this load. */
		ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
		if (ring->tail % 8 || ring->head % 8) {
			set->damaged++;
			ring->tail = ring->head & ~(uint64_t)7;
			continue;
		}
		if (peek(set, ring, &set->heap[set->heap_count]))
			set->heap_count++;
	}
	for (size_t i = set->heap_count / 2; i-- > 0;)
		sift_down(set->heap, set->heap_count, i);
}

/* Moves past the record handed out last, and puts its ring back in order. */
static void advance(struct ring_set *set)
{
	struct ring_next *top = &set->heap[0];

	top->ring->tail += top->size;
	if (!peek(set, top->ring, top))
		*top = set->heap[--set->heap_count];
	if (set->heap_count)
		sift_down(set->heap, set->heap_count, 0);
}

bool ring_set_next(struct ring_set *set, struct record *record)
{
	/* Only now: the caller may have been using the last record's bytes until this call. */
	if (set->handed_out)
		advance(set);
	set->handed_out = false;
	while (set->heap_count) {
		const struct ring_next *top = &set->heap[0];

		if (record_parse(top->bytes, top->size, set->layout, record)) {
			set->handed_out = true;
			return true;
		}
		set->damaged++;
		advance(set);
	}
	return false;
}

size_t ring_set_current(const struct ring_set *set)
{
	return (size_t)(set->heap[0].ring - set->rings);
}

void ring_set_end(struct ring_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct ring *ring = &set->rings[i];

		/* Our reads of the bytes come before the kernel may overwrite them. */
		if (ring->control)
			__atomic_store_n(&ring->control->data_tail, ring->tail, __ATOMIC_RELEASE);
	}
}
