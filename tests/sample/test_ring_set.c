/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"
#include "raw.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/sample/ring_set.h>

#include <linux/perf_event.h>
#include <string.h>

static const struct hp_record_layout plain = { .identifier = false, .period = false };

/* Rings in ordinary memory, with us in the kernel's place: those that were made last. */
static struct hp_ring_set *set;

static void destroy_rings(void *object)
{
	struct hp_ring_set *rings = object;

	for (size_t i = 0; i < rings->count; i++) {
		free(rings->rings[i].control);
		free(rings->rings[i].data);
	}
	hp_ring_set_clear(rings);
	free(rings);
}

static void make_rings(size_t rings, size_t ring_bytes)
{
	struct hp_ring *array = calloc(rings, sizeof(*array));

	ck_assert_ptr_nonnull(array);
	for (size_t i = 0; i < rings; i++) {
		struct perf_event_mmap_page *control = calloc(1, sizeof(*control));
		uint8_t *data = malloc(ring_bytes);

		ck_assert(control && data);
		memset(data, 0xee, ring_bytes);
		hp_ring_over(&array[i], control, data, ring_bytes);
	}
	set = calloc(1, sizeof(*set));
	ck_assert_ptr_nonnull(set);
	hp_assert_ok(hp_ring_set_create(set, array, rings, plain));
	at_end(destroy_rings, set);
}

/* Both ends at `position`, as if so many bytes had gone through. */
static void move_to(struct hp_ring *ring, uint64_t position)
{
	ring->tail = position;
	ring->control->data_tail = position;
	ring->control->data_head = position;
}

/* Writes as the kernel does: at the head, round the end. False when there is no room. */
static bool push(struct hp_ring *ring, const void *bytes, size_t size)
{
	uint64_t head = ring->control->data_head;

	if (head + size - ring->control->data_tail > ring->size)
		return false;
	for (size_t i = 0; i < size; i++)
		ring->data[(head + i) & (ring->size - 1)] = ((const uint8_t *)bytes)[i];
	ring->control->data_head = head + size;
	return true;
}

static void push_sample(struct hp_ring *ring, uint64_t time_ns, uint64_t address)
{
	struct raw raw = raw_sample(plain, (struct raw_trailer){ 1, 1, time_ns, 0 }, address, 0);

	ck_assert(push(ring, raw.bytes, raw.size));
}

/* A header alone, of a size that it claims. */
static void push_header(struct hp_ring *ring, uint16_t size)
{
	struct raw raw = raw_begin(PERF_RECORD_SAMPLE, 0);

	memcpy(raw.bytes + 6, &size, sizeof(size));
	ck_assert(push(ring, raw.bytes, raw.size));
}

/* The addresses of all samples of one pass, in the order they came. */
static size_t pass(uint64_t horizon_ns, uint64_t *addresses, size_t room)
{
	struct hp_record record;
	size_t count = 0;

	hp_ring_set_begin(set, horizon_ns);
	while (hp_ring_set_next(set, &record)) {
		ck_assert_int_eq(record.kind, HP_RECORD_SAMPLE);
		ck_assert_uint_lt(count, room);
		addresses[count++] = record.sample.address;
	}
	hp_ring_set_end(set);
	return count;
}

static void assert_addresses(const uint64_t *found, size_t count, const uint64_t *expected,
			     size_t expected_count)
{
	ck_assert_uint_eq(count, expected_count);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(found[i], expected[i]);
}

TEST(records_are_whole_wherever_they_wrap_over_the_end)
{
	struct raw comm =
		raw_comm(plain, (struct raw_trailer){ 1, 1, 20, 0 }, "fifteen-letters", 0);

	for (uint64_t offset = 0; offset < 128; offset += 8) {
		struct hp_ring *ring;
		struct hp_record record;

		make_rings(1, 128);
		ring = &set->rings[0];
		move_to(ring, 128 * 5 + offset);
		push_sample(ring, 10, 0xa);
		ck_assert(push(ring, comm.bytes, comm.size));
		push_sample(ring, 30, 0xb);
		hp_ring_set_begin(set, UINT64_MAX);
		ck_assert(hp_ring_set_next(set, &record));
		ck_assert_uint_eq(record.sample.address, 0xa);
		ck_assert(hp_ring_set_next(set, &record));
		ck_assert_int_eq(record.kind, HP_RECORD_COMM);
		ck_assert_str_eq(record.comm.name, "fifteen-letters");
		ck_assert_uint_eq(record.time_ns, 20);
		ck_assert(hp_ring_set_next(set, &record));
		ck_assert_uint_eq(record.sample.address, 0xb);
		ck_assert(!hp_ring_set_next(set, &record));
		hp_ring_set_end(set);
		ck_assert_uint_eq(ring->control->data_tail, ring->control->data_head);
		ck_assert_uint_eq(set->damaged, 0);
	}
}

TEST(positions_may_pass_the_end_of_64_bits)
{
	static const uint64_t expected[] = { 1, 2 };
	uint64_t found[4];

	make_rings(1, 256);
	move_to(&set->rings[0], UINT64_MAX - 39);
	push_sample(&set->rings[0], 1, 1);
	push_sample(&set->rings[0], 2, 2);
	ck_assert_uint_lt(set->rings[0].control->data_head, 100);
	assert_addresses(found, pass(UINT64_MAX, found, 4), expected, 2);
	ck_assert_uint_eq(set->damaged, 0);
}

TEST(a_full_ring_is_read_to_the_last_byte)
{
	uint64_t found[9];

	make_rings(1, 256);
	move_to(&set->rings[0], 24);
	for (uint64_t i = 0; i < 8; i++)
		push_sample(&set->rings[0], i, i);
	ck_assert_uint_eq(pass(UINT64_MAX, found, 9), 8);
	ck_assert_uint_eq(set->damaged, 0);
}

TEST(several_rings_come_out_in_the_order_of_time)
{
	static const uint64_t expected[] = { 1, 2, 3, 4, 5, 6 };
	uint64_t found[8];

	make_rings(3, 256);
	push_sample(&set->rings[0], 30, 3);
	push_sample(&set->rings[0], 60, 6);
	push_sample(&set->rings[1], 10, 1);
	push_sample(&set->rings[1], 40, 4);
	push_sample(&set->rings[2], 20, 2);
	push_sample(&set->rings[2], 50, 5);
	assert_addresses(found, pass(UINT64_MAX, found, 8), expected, 6);
}

TEST(records_of_one_time_keep_the_order_of_their_ring)
{
	uint64_t found[16];
	uint64_t next[2] = { 0, 100 };

	make_rings(2, 256);
	for (uint64_t i = 0; i < 8; i++) {
		push_sample(&set->rings[0], 7, i);
		push_sample(&set->rings[1], 7, 100 + i);
	}
	ck_assert_uint_eq(pass(7, found, 16), 16);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_eq(found[i], next[found[i] >= 100]++);
}

TEST(what_is_newer_than_the_horizon_stays_in_its_ring)
{
	static const uint64_t first[] = { 1, 2 };
	static const uint64_t second[] = { 3, 4 };
	uint64_t found[4];
	struct hp_ring *rings;

	make_rings(2, 256);
	rings = set->rings;
	push_sample(&rings[0], 10, 1);
	push_sample(&rings[0], 30, 3);
	push_sample(&rings[1], 20, 2);
	push_sample(&rings[1], 31, 4);
	assert_addresses(found, pass(20, found, 4), first, 2);
	ck_assert_uint_eq(rings[0].control->data_tail, 32);
	ck_assert_uint_eq(rings[1].control->data_tail, 32);
	assert_addresses(found, pass(29, found, 4), NULL, 0);
	ck_assert_uint_eq(rings[0].control->data_tail, 32);
	assert_addresses(found, pass(UINT64_MAX, found, 4), second, 2);
}

TEST(the_kernel_gets_the_space_of_a_record_back_when_the_next_one_is_taken)
{
	struct hp_record record;
	struct hp_ring *ring;

	make_rings(1, 256);
	ring = &set->rings[0];
	push_sample(ring, 1, 1);
	push_sample(ring, 2, 2);
	hp_ring_set_begin(set, UINT64_MAX);
	ck_assert(hp_ring_set_next(set, &record));
	ck_assert_uint_eq(ring->control->data_tail, 0);
	ck_assert(hp_ring_set_next(set, &record));
	ck_assert_uint_eq(ring->control->data_tail, 32);
	ck_assert(!hp_ring_set_next(set, &record));
	hp_ring_set_end(set);
	ck_assert_uint_eq(ring->control->data_tail, 64);
}

TEST(what_comes_during_a_pass_waits_for_the_next)
{
	struct hp_record record;
	uint64_t found[2];

	make_rings(1, 256);
	push_sample(&set->rings[0], 1, 1);
	hp_ring_set_begin(set, UINT64_MAX);
	push_sample(&set->rings[0], 2, 2);
	ck_assert(hp_ring_set_next(set, &record));
	ck_assert(!hp_ring_set_next(set, &record));
	hp_ring_set_end(set);
	ck_assert_uint_eq(pass(UINT64_MAX, found, 2), 1);
	ck_assert_uint_eq(found[0], 2);
}

TEST(a_damaged_size_gives_up_the_rest_of_its_ring_only)
{
	static const uint16_t sizes[] = { 0, 4, 7, 9, 12, 31, 33, 72, 4096, 65528, 65535 };
	static const uint64_t expected[] = { 1, 2, 3 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(sizes); i++) {
		uint64_t found[4];
		struct hp_ring *rings;

		make_rings(2, 256);
		rings = set->rings;
		push_sample(&rings[0], 10, 1);
		push_header(&rings[0], sizes[i]);
		push_sample(&rings[0], 11, 99);
		push_sample(&rings[1], 20, 2);
		push_sample(&rings[1], 30, 3);
		assert_addresses(found, pass(UINT64_MAX, found, 4), expected, 3);
		ck_assert_uint_eq(set->damaged, 1);
		ck_assert_uint_eq(rings[0].control->data_tail, rings[0].control->data_head);
		/* The ring is good again from there. */
		push_sample(&rings[0], 40, 4);
		ck_assert_uint_eq(pass(UINT64_MAX, found, 4), 1);
		ck_assert_uint_eq(found[0], 4);
		ck_assert_uint_eq(set->damaged, 1);
	}
}

TEST(a_record_whose_fields_run_out_is_skipped_alone)
{
	static const uint64_t expected[] = { 1, 2 };
	uint64_t found[4];

	make_rings(1, 256);
	push_sample(&set->rings[0], 1, 1);
	push_header(&set->rings[0], 8);
	push_sample(&set->rings[0], 2, 2);
	assert_addresses(found, pass(UINT64_MAX, found, 4), expected, 2);
	ck_assert_uint_eq(set->damaged, 1);
}

TEST(a_head_that_is_no_multiple_of_8_is_given_up)
{
	uint64_t found[2];
	struct hp_ring *ring;

	make_rings(1, 256);
	ring = &set->rings[0];
	push_sample(ring, 1, 1);
	ring->control->data_head += 4;
	ck_assert_uint_eq(pass(UINT64_MAX, found, 2), 0);
	ck_assert_uint_eq(set->damaged, 1);
	ck_assert_uint_eq(ring->control->data_tail % 8, 0);
}

TEST(a_head_further_away_than_the_ring_is_long_is_given_up)
{
	static const uint64_t heads[] = { 264, 512, 1ull << 40, UINT64_MAX - 7 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(heads); i++) {
		uint64_t found[2];
		struct hp_ring *ring;

		make_rings(1, 256);
		ring = &set->rings[0];
		push_sample(ring, 1, 1);
		ring->control->data_head = heads[i];
		ck_assert_uint_eq(pass(UINT64_MAX, found, 2), 0);
		ck_assert_uint_eq(set->damaged, 1);
		ck_assert_uint_eq(ring->control->data_tail, heads[i]);
	}
}

TEST(slots_without_a_ring_are_passed_over)
{
	struct hp_ring *rings = calloc(2, sizeof(*rings));
	_cleanup_(hp_ring_set_clear) struct hp_ring_set empty;
	struct hp_record record;

	ck_assert_ptr_nonnull(rings);
	hp_assert_ok(hp_ring_set_create(&empty, rings, 2, plain));
	hp_ring_set_begin(&empty, UINT64_MAX);
	ck_assert(!hp_ring_set_next(&empty, &record));
	hp_ring_set_end(&empty);
}

/* --- against a plain sort --------------------------------------------------------------------- */

enum { MOST_RINGS = 17, EACH = 200 };

struct stamped {
	uint64_t time_ns;
	uint64_t address; /* ring and number in it */
};

HP_ORDER_BY_TWO(compare_stamped, struct stamped, time_ns, address);

/* Sorted by time, then ring, then place in the ring: what came out of a merge, made comparable. */
static void assert_same_set(struct stamped *found, struct stamped *expected, size_t count)
{
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_le(found[i - 1].time_ns, found[i].time_ns);
	qsort(found, count, sizeof(*found), compare_stamped);
	qsort(expected, count, sizeof(*expected), compare_stamped);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(found[i].time_ns, expected[i].time_ns);
		ck_assert_uint_eq(found[i].address, expected[i].address);
	}
}

static void merge_at_random(struct hp_random *random, size_t rings)
{
	_cleanup_free_ struct stamped *found = calloc(rings * EACH, sizeof(*found));
	_cleanup_free_ struct stamped *expected = calloc(rings * EACH, sizeof(*expected));
	uint64_t clock[MOST_RINGS] = { 0 };
	size_t pushed[MOST_RINGS] = { 0 };
	size_t total = 0;
	size_t got = 0;
	uint64_t horizon = 0;
	struct hp_record record;

	make_rings(rings, 1024);
	for (size_t i = 0; i < rings; i++)
		move_to(&set->rings[i], 8 * hp_random_between(random, 0, 1000));
	while (got < rings * EACH) {
		for (size_t i = 0; i < rings; i++) {
			uint64_t more = hp_random_between(random, 0, 20);

			for (; more && pushed[i] < EACH; more--, pushed[i]++) {
				struct raw_trailer from = { 1, 1, 0, 0 };
				struct raw raw;

				from.time_ns = clock[i] + hp_random_between(random, 0, 3);
				/* What comes now is newer than the last horizon, as the kernel's
				 * records are newer than the moment before. */
				if (from.time_ns <= horizon)
					from.time_ns = horizon + 1;
				raw = raw_sample(plain, from, i << 32 | pushed[i], 0);
				if (!push(&set->rings[i], raw.bytes, raw.size))
					break;
				clock[i] = from.time_ns;
				expected[total++] =
					(struct stamped){ from.time_ns, i << 32 | pushed[i] };
			}
		}
		horizon += hp_random_between(random, 0, 40);
		hp_ring_set_begin(set, horizon);
		while (hp_ring_set_next(set, &record)) {
			ck_assert_uint_le(record.time_ns, horizon);
			found[got++] = (struct stamped){ record.time_ns, record.sample.address };
		}
		hp_ring_set_end(set);
	}
	ck_assert_uint_eq(total, rings * EACH);
	ck_assert_uint_eq(set->damaged, 0);
	assert_same_set(found, expected, total);
}

TEST(any_number_of_rings_merges_as_a_sort_would)
{
	struct hp_random random = hp_random_seeded(17);

	for (size_t rings = 1; rings <= MOST_RINGS; rings++)
		merge_at_random(&random, rings);
}

HP_TEST_MAIN("sample/ring_set")
