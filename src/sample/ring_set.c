/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/sample/ring_set.h>

#include <stdlib.h>

struct hp_error *hp_ring_set_create(struct hp_ring_set *set, struct hp_ring *rings, size_t count,
				    struct hp_record_layout layout)
{
	*set = (struct hp_ring_set){ .rings = rings, .count = count, .layout = layout };
	set->heap = calloc(count ? count : 1, sizeof(*set->heap));
	return set->heap ? NULL : hp_error_create_no_memory();
}

void hp_ring_set_clear(struct hp_ring_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		hp_ring_unmap(&set->rings[i]);
	free(set->rings);
	free(set->heap);
	*set = (struct hp_ring_set){ 0 };
}

/* Looks at the next record of a ring. Returns false if this pass has no more records for it. */
static bool peek(struct hp_ring_set *set, struct hp_ring *ring, struct ring_next *next)
{
	next->ring = ring;
	switch (hp_ring_peek(ring, &next->bytes, &next->size)) {
	case HP_RING_RECORD:
		break;
	case HP_RING_EMPTY:
		return false;
	case HP_RING_DAMAGED:
		set->damaged++;
		return false;
	}
	/* The kernel wrote the record on another CPU, and with a piece of stack its two ends are
	 * far apart. */
	__builtin_prefetch(next->bytes + next->size - sizeof(uint64_t));
	__builtin_prefetch(next->bytes + next->size);
	next->time_ns = hp_record_time(next->bytes, next->size, set->layout);
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

void hp_ring_set_begin(struct hp_ring_set *set, uint64_t horizon_ns)
{
	set->horizon_ns = horizon_ns;
	set->heap_count = 0;
	set->handed_out = false;
	for (size_t i = 0; i < set->count; i++) {
		struct hp_ring *ring = &set->rings[i];

		if (!ring->control)
			continue;
		if (!hp_ring_begin(ring))
			set->damaged++;
		if (peek(set, ring, &set->heap[set->heap_count]))
			set->heap_count++;
	}
	for (size_t i = set->heap_count / 2; i-- > 0;)
		sift_down(set->heap, set->heap_count, i);
}

/* Moves past the record that was handed out last, and puts its ring back in order. The kernel gets
 * the space back at once, since handling the next record may take long. */
static void advance(struct hp_ring_set *set)
{
	struct ring_next *top = &set->heap[0];

	hp_ring_next(top->ring, top->size);
	hp_ring_end(top->ring);
	if (!peek(set, top->ring, top))
		*top = set->heap[--set->heap_count];
	if (set->heap_count)
		sift_down(set->heap, set->heap_count, 0);
}

bool hp_ring_set_next(struct hp_ring_set *set, struct hp_record *record)
{
	/* Not earlier, since the caller may have used the last record's bytes until this call. */
	if (set->handed_out)
		advance(set);
	set->handed_out = false;
	while (set->heap_count) {
		const struct ring_next *top = &set->heap[0];

		if (hp_record_parse(top->bytes, top->size, set->layout, record)) {
			set->handed_out = true;
			return true;
		}
		set->damaged++;
		advance(set);
	}
	return false;
}

size_t hp_ring_set_current(const struct hp_ring_set *set)
{
	return (size_t)(set->heap[0].ring - set->rings);
}

void hp_ring_set_end(struct hp_ring_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct hp_ring *ring = &set->rings[i];

		if (ring->control)
			hp_ring_end(ring);
	}
}
