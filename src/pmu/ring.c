/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/ring.h>

#include <hpcprof/base/vector.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int hp_ring_map(struct hp_ring *ring, int fd, size_t data_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory =
		mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED) {
		*ring = (struct hp_ring){ .fd = -1 };
		return errno;
	}
	hp_ring_over(ring, memory, (uint8_t *)memory + page, data_pages * page);
	ring->fd = fd;
	return 0;
}

void hp_ring_over(struct hp_ring *ring, struct perf_event_mmap_page *control, uint8_t *data,
		  size_t size)
{
	*ring = (struct hp_ring){ .control = control, .data = data, .size = size, .fd = -1 };
}

void hp_ring_unmap(struct hp_ring *ring)
{
	if (ring->control && ring->fd >= 0)
		munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	free(ring->scratch);
	*ring = (struct hp_ring){ .fd = -1 };
}

bool hp_ring_begin(struct hp_ring *ring)
{
	/* Pairs with the kernel's barrier before it moves data_head: the bytes below the head are
	 * visible to us after this load. */
	ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	if (ring->tail % 8 == 0 && ring->head % 8 == 0)
		return true;
	ring->head &= ~(uint64_t)7;
	ring->tail = ring->head;
	return false;
}

/* `size` bytes at the tail, straightened into the scratch buffer when they wrap. */
static const uint8_t *bytes_at_tail(struct hp_ring *ring, size_t size)
{
	size_t start = (size_t)(ring->tail & (ring->size - 1));
	size_t first = ring->size - start;

	if (size <= first)
		return ring->data + start;
	if (!hp_grow((void **)&ring->scratch, &ring->scratch_capacity, size, 1))
		return NULL;
	memcpy(ring->scratch, ring->data + start, first);
	memcpy(ring->scratch + first, ring->data, size - first);
	return ring->scratch;
}

enum hp_ring_peek hp_ring_peek(struct hp_ring *ring, const uint8_t **bytes, size_t *size)
{
	uint64_t available = ring->head - ring->tail;

	if (!available)
		return HP_RING_EMPTY;
	/* More than fits is no position of the kernel's. Records are multiples of 8 and so is the
	 * ring: a header never wraps. */
	*size = hp_ring_record_size(ring->data + (ring->tail & (ring->size - 1)),
				    available > ring->size ? 0 : (size_t)available);
	*bytes = *size ? bytes_at_tail(ring, *size) : NULL;
	if (*bytes)
		return HP_RING_RECORD;
	ring->tail = ring->head;
	return HP_RING_DAMAGED;
}

void hp_ring_next(struct hp_ring *ring, size_t size)
{
	ring->tail += size;
}

void hp_ring_end(struct hp_ring *ring)
{
	/* Our reads of the bytes come before the kernel may overwrite them. */
	__atomic_store_n(&ring->control->data_tail, ring->tail, __ATOMIC_RELEASE);
}

size_t hp_ring_record_size(const void *header, size_t available)
{
	struct perf_event_header copy;

	if (available < sizeof(copy))
		return 0;
	memcpy(&copy, header, sizeof(copy));
	if (copy.size < sizeof(copy) || copy.size % 8 || copy.size > available)
		return 0;
	return copy.size;
}
