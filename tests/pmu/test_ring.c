/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring in ordinary memory, with us in the kernel's place. How a ring set goes on after damage is
 * in tests/sample/test_ring_set.c. */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/ring.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { RING_BYTES = 128 };

struct bench {
	struct perf_event_mmap_page control;
	uint8_t data[RING_BYTES];
	struct hp_ring ring;
};

static void bench_init(struct bench *bench, uint64_t position)
{
	*bench = (struct bench){ .control = { .data_head = position, .data_tail = position } };
	hp_ring_over(&bench->ring, &bench->control, bench->data, RING_BYTES);
	bench->ring.tail = position;
}

/* A record that claims `size`, of `written` bytes, all `filler` but the header. */
static void push(struct bench *bench, uint16_t size, size_t written, uint8_t filler)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = size };
	uint8_t bytes[RING_BYTES];

	memset(bytes, filler, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	for (size_t i = 0; i < written; i++)
		bench->data[(bench->control.data_head + i) % RING_BYTES] = bytes[i];
	bench->control.data_head += written;
}

TEST(a_record_is_in_one_piece_wherever_it_lies)
{
	for (uint64_t position = 0; position < RING_BYTES; position += 8) {
		struct bench bench;
		const uint8_t *bytes;
		size_t size;

		bench_init(&bench, position);
		push(&bench, 48, 48, 0xab);
		ck_assert(hp_ring_begin(&bench.ring));
		ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_RECORD);
		ck_assert_uint_eq(size, 48);
		for (size_t i = sizeof(struct perf_event_header); i < size; i++)
			ck_assert_uint_eq(bytes[i], 0xab);
		hp_ring_next(&bench.ring, size);
		ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_EMPTY);
		hp_ring_unmap(&bench.ring);
	}
}

TEST(what_was_looked_at_only_stays_the_next)
{
	struct bench bench;
	const uint8_t *bytes;
	size_t size;

	bench_init(&bench, 0);
	push(&bench, 16, 16, 1);
	push(&bench, 24, 24, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert(hp_ring_begin(&bench.ring));
		ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_RECORD);
		ck_assert_uint_eq(size, 16);
		hp_ring_end(&bench.ring);
		ck_assert_uint_eq(bench.control.data_tail, 0);
	}
	hp_ring_next(&bench.ring, size);
	hp_ring_end(&bench.ring);
	ck_assert_uint_eq(bench.control.data_tail, 16);
	ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_RECORD);
	ck_assert_uint_eq(size, 24);
	hp_ring_unmap(&bench.ring);
}

TEST(after_damage_the_ring_is_good_again_from_the_head)
{
	struct bench bench;
	const uint8_t *bytes;
	size_t size;

	bench_init(&bench, 0);
	push(&bench, 12, 16, 1);
	push(&bench, 16, 16, 2);
	ck_assert(hp_ring_begin(&bench.ring));
	ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_DAMAGED);
	ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_EMPTY);
	hp_ring_end(&bench.ring);
	ck_assert_uint_eq(bench.control.data_tail, 32);
	push(&bench, 16, 16, 3);
	ck_assert(hp_ring_begin(&bench.ring));
	ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_RECORD);
	ck_assert_uint_eq(bytes[15], 3);
	hp_ring_unmap(&bench.ring);
}

TEST(positions_that_are_not_the_kernels_are_given_up)
{
	struct bench bench;
	const uint8_t *bytes;
	size_t size;

	bench_init(&bench, 0);
	push(&bench, 16, 16, 1);
	bench.control.data_head = 20;
	ck_assert(!hp_ring_begin(&bench.ring));
	ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_EMPTY);
	bench.control.data_head = 16 + RING_BYTES + 8;
	ck_assert(hp_ring_begin(&bench.ring));
	ck_assert_int_eq(hp_ring_peek(&bench.ring, &bytes, &size), HP_RING_DAMAGED);
	hp_ring_end(&bench.ring);
	ck_assert_uint_eq(bench.control.data_tail, bench.control.data_head);
	hp_ring_unmap(&bench.ring);
}

TEST(a_size_that_makes_no_sense_is_zero)
{
	static const struct {
		uint16_t size;
		size_t available;
		size_t expected;
	} sizes[] = {
		{ 8, 8, 8 },	       { 16, 4096, 16 }, { 65528, 65528, 65528 },
		{ 0, 4096, 0 },	       { 4, 4096, 0 },	 { 7, 4096, 0 },
		{ 9, 4096, 0 },	       { 12, 4096, 0 },	 { 17, 4096, 0 },
		{ 65535, 1 << 20, 0 }, { 16, 15, 0 },	 { 16, 8, 0 },
		{ 4104, 4096, 0 },     { 8, 7, 0 },	 { 8, 0, 0 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(sizes); i++) {
		size_t there = sizes[i].available < 8 ? sizes[i].available : 8;
		struct perf_event_header header = { .size = sizes[i].size };
		uint8_t *copy = malloc(there ? there : 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, &header, there);
		ck_assert_uint_eq(hp_ring_record_size(copy, sizes[i].available), sizes[i].expected);
		free(copy);
	}
}

TEST(no_ring_is_where_none_can_be_mapped)
{
	struct hp_ring ring;

	ck_assert_int_eq(hp_ring_map(&ring, -1, 1), EBADF);
	ck_assert_ptr_null(ring.control);
	hp_ring_unmap(&ring);
}

HP_TEST_MAIN("pmu/ring")
