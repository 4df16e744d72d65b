/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store queue and the prefetchers: cases with known answers, and a queue that looks at
 * everything. */
#include "../support.h"

#include "../../src/uarch/tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/path.h>

enum {
	QUEUE = HP_UARCH_FORWARDED | HP_UARCH_FORWARDED_YOUNG | HP_UARCH_FORWARD_FAILED |
		HP_UARCH_ALIAS_4K,
	BROUGHT_BITS = HP_UARCH_PREFETCHED | HP_UARCH_PREFETCHED_LATE,
	FIRST_LEVEL = HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN,
};

static struct hp_uarch *made(uint32_t reorder_slots, uint32_t store_entries)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch;

	geometry.reorder_slots = reorder_slots;
	geometry.store_entries = store_entries;
	uarch = hp_uarch_create(&geometry);
	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	return uarch;
}

static void store(struct hp_uarch *uarch, uint64_t address, uint32_t bytes)
{
	hp_uarch_access(uarch, 1, address, bytes, HP_UARCH_STORE);
}

static unsigned load(struct hp_uarch *uarch, uint64_t address, uint32_t bytes)
{
	return hp_uarch_access(uarch, 2, address, bytes, HP_UARCH_LOAD) & QUEUE;
}

/* --- the store queue -------------------------------------------------------------------------- */

static const struct forward {
	const char *name;
	uint64_t stored;
	uint32_t stored_bytes;
	uint64_t loaded;
	uint32_t loaded_bytes;
	unsigned expected;
} forwards[] = {
	{ "the same bytes", 0x10000, 8, 0x10000, 8, HP_UARCH_FORWARDED },
	{ "the first of them", 0x10000, 8, 0x10000, 4, HP_UARCH_FORWARDED },
	{ "the last of them", 0x10000, 8, 0x10007, 1, HP_UARCH_FORWARDED },
	{ "a part of a vector", 0x10000, 32, 0x10010, 8, HP_UARCH_FORWARDED },
	{ "more than was stored", 0x10000, 4, 0x10000, 8, HP_UARCH_FORWARD_FAILED },
	{ "bytes from before on", 0x10004, 4, 0x10002, 4, HP_UARCH_FORWARD_FAILED },
	{ "bytes till behind", 0x10000, 8, 0x10004, 8, HP_UARCH_FORWARD_FAILED },
	{ "a vector around a byte", 0x1001f, 1, 0x10000, 32, HP_UARCH_FORWARD_FAILED },
	{ "bytes beside", 0x10000, 4, 0x10004, 4, 0 },
	{ "the same place of another page", 0x10010, 8, 0x25010, 8, HP_UARCH_ALIAS_4K },
	{ "a part of that place", 0x10010, 8, 0x2500c, 8, HP_UARCH_ALIAS_4K },
	{ "beside that place", 0x10010, 8, 0x25018, 8, 0 },
	{ "a place that begins on the page before", 0x10ffc, 8, 0x26000, 4, HP_UARCH_ALIAS_4K },
	{ "the end of the address space", UINT64_MAX - 3, 16, UINT64_MAX - 3, 4,
	  HP_UARCH_FORWARDED },
};

TEST(a_load_gets_its_bytes_from_a_store_that_has_them_all)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(forwards); i++) {
		const struct forward *forward = &forwards[i];
		struct hp_uarch *uarch = made(256, 64);
		unsigned events;

		store(uarch, forward->stored, forward->stored_bytes);
		hp_uarch_retire(uarch, YOUNG_STORE + 1);
		events = load(uarch, forward->loaded, forward->loaded_bytes);
		ck_assert_msg(events == forward->expected, "%s: %#x", forward->name, events);
	}
}

TEST(the_youngest_store_decides)
{
	struct hp_uarch *uarch = made(256, 64);

	store(uarch, 0x10000, 8);
	store(uarch, 0x10002, 1);
	hp_uarch_retire(uarch, YOUNG_STORE + 1);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARD_FAILED);
	ck_assert_uint_eq(load(uarch, 0x10004, 4), HP_UARCH_FORWARDED);
	store(uarch, 0x10000, 8);
	hp_uarch_retire(uarch, YOUNG_STORE + 1);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARDED);
}

TEST(two_halves_in_two_stores_are_not_forwarded)
{
	struct hp_uarch *uarch = made(256, 64);

	store(uarch, 0x10000, 4);
	store(uarch, 0x10004, 4);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARD_FAILED);
}

TEST(a_store_leaves_the_queue_with_age)
{
	struct hp_uarch *uarch = made(100, 64);

	store(uarch, 0x10000, 4);
	hp_uarch_retire(uarch, 100);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARD_FAILED);
	hp_uarch_retire(uarch, 1);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), 0);
}

TEST(a_store_leaves_the_queue_that_is_full)
{
	struct hp_uarch *uarch = made(256, 5);

	store(uarch, 0x10000, 4);
	for (uint64_t i = 1; i < 5; i++)
		store(uarch, 0x10000 + i * 8, 4);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARD_FAILED);
	store(uarch, 0x10100, 4);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), 0);
	ck_assert_uint_eq(load(uarch, 0x10008, 8), HP_UARCH_FORWARD_FAILED);
}

TEST(a_store_that_was_hardly_executed_is_young)
{
	struct hp_uarch *uarch = made(256, 64);

	store(uarch, 0x10000, 8);
	hp_uarch_retire(uarch, YOUNG_STORE);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARDED | HP_UARCH_FORWARDED_YOUNG);
	hp_uarch_retire(uarch, 1);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), HP_UARCH_FORWARDED);
}

TEST(prefetches_and_a_reset_have_nothing_to_do_with_stores)
{
	struct hp_uarch *uarch = made(256, 64);

	store(uarch, 0x10000, 8);
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x10000, 1, HP_UARCH_PREFETCH) & QUEUE, 0);
	hp_uarch_reset(uarch);
	ck_assert_uint_eq(load(uarch, 0x10000, 8), 0);
}

/* --- the queue that looks at everything --- */

enum { STORES = 12, AGE = 30, STEPS = 40000 };

struct slow_store {
	uint64_t begin, end, when;
};

/* Byte by byte, of the youngest store that has one of them. */
static unsigned slow_load(const struct slow_store *stores, unsigned count, uint64_t begin,
			  uint64_t end, uint64_t now)
{
	unsigned alias = 0;

	for (unsigned i = count; i-- > 0 && count - i <= STORES;) {
		unsigned shared = 0;

		if (now - stores[i].when > AGE)
			break;
		for (uint64_t byte = begin; byte <= end; byte++) {
			shared += byte >= stores[i].begin && byte <= stores[i].end;
			for (uint64_t other = stores[i].begin; other <= stores[i].end; other++)
				if (other % 4096 == byte % 4096 && other != byte)
					alias = HP_UARCH_ALIAS_4K;
		}
		if (shared == 0)
			continue;
		if (shared <= end - begin)
			return HP_UARCH_FORWARD_FAILED;
		return HP_UARCH_FORWARDED |
		       (now - stores[i].when <= YOUNG_STORE ? HP_UARCH_FORWARDED_YOUNG : 0);
	}
	return alias;
}

TEST(forwarding_is_that_of_a_queue_that_looks_at_everything)
{
	static struct slow_store stores[STEPS];
	static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 32, 64 };
	struct hp_random random = hp_random_seeded(9);
	struct hp_uarch *uarch = made(AGE, STORES);
	unsigned count = 0, seen[16] = { 0 };
	uint64_t now = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t address = 0x10f80 + hp_random_between(&random, 0, 255) +
				   4096 * hp_random_between(&random, 0, 2);
		uint32_t bytes = sizes[hp_random_between(&random, 0, HP_ARRAY_COUNT(sizes) - 1)];
		unsigned length = (unsigned)hp_random_between(&random, 0, 4);

		if (hp_random_between(&random, 0, 2) == 0) {
			store(uarch, address, bytes);
			stores[count++] = (struct slow_store){ address, address + bytes - 1, now };
		} else {
			unsigned expected =
				slow_load(stores, count, address, address + bytes - 1, now);

			ck_assert_uint_eq(load(uarch, address, bytes), expected);
			seen[expected / HP_UARCH_FORWARDED]++;
		}
		hp_uarch_retire(uarch, length);
		now += length;
	}
	/* Every kind of answer was among them. */
	ck_assert_uint_gt(seen[0], 0);
	ck_assert_uint_gt(seen[HP_UARCH_FORWARDED / HP_UARCH_FORWARDED], 0);
	ck_assert_uint_gt(seen[HP_UARCH_FORWARD_FAILED / HP_UARCH_FORWARDED], 0);
	ck_assert_uint_gt(seen[HP_UARCH_ALIAS_4K / HP_UARCH_FORWARDED], 0);
}

/* --- prefetchers ------------------------------------------------------------------------------ */

/* Misses of a walk of loads, and those of them that were brought. */
struct walk {
	unsigned misses, brought, late;
};

static struct walk walk(struct hp_uarch *uarch, uint64_t begin, int64_t stride, unsigned count,
			unsigned instructions, bool by_one_load)
{
	struct walk walk = { 0 };

	for (unsigned i = 0; i < count; i++) {
		uint64_t ip = by_one_load ? 0x401000 : 0x401000 + 4 * i;
		unsigned events = hp_uarch_access(
			uarch, ip, begin + (uint64_t)(stride * (int64_t)i), 8, HP_UARCH_LOAD);

		walk.misses += (events & FIRST_LEVEL) != 0;
		walk.brought += (events & HP_UARCH_PREFETCHED) != 0;
		walk.late += (events & HP_UARCH_PREFETCHED_LATE) != 0;
		hp_uarch_retire(uarch, instructions);
	}
	return walk;
}

static const struct way {
	const char *name;
	int64_t stride;
	unsigned count; /* within a page or two */
	bool by_one_load;
	double least, most; /* of the misses, brought */
} ways[] = {
	{ "neighbouring words", 8, 512, true, 0.9, 1 },
	{ "neighbouring lines", 64, 64, true, 0.9, 1 },
	{ "neighbouring lines, backward", -64, 64, true, 0.9, 1 },
	{ "every fifth line", 320, 12, true, 0.6, 0.8 },
	{ "neighbouring lines by loads that are not related", 64, 64, false, 0.9, 1 },
	{ "every fifth line by loads that are not related", 320, 12, false, 0, 0 },
	{ "a page each", 4096, 64, true, 0.9, 1 },
	{ "a page each by loads that are not related", 4096, 64, false, 0, 0 },
};

TEST(regular_ways_are_brought_and_others_are_not)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(ways); i++) {
		const struct way *way = &ways[i];
		uint64_t begin = way->stride < 0 ? 0x10fc0 : 0x10000;
		struct walk walked =
			walk(made(256, 64), begin, way->stride, way->count, 1000, way->by_one_load);
		double share = (double)walked.brought / walked.misses;

		ck_assert_msg(share >= way->least && share <= way->most, "%s: %u of %u", way->name,
			      walked.brought, walked.misses);
		ck_assert_uint_eq(walked.late, 0);
	}
}

TEST(what_is_used_at_once_is_brought_late)
{
	struct walk walked = walk(made(256, 64), 0x10000, 64, 64, 1, true);

	ck_assert_uint_ge(walked.brought, 58);
	ck_assert_uint_eq(walked.late, walked.brought);
}

/* Each page has 64 lines: of the second to the last even the first line is brought. With some 50 instructions
 * per line, four lines ahead would be late, and twenty are not. */
TEST(a_long_stream_runs_far_ahead_and_from_page_to_page)
{
	for (int64_t stride = -64; stride <= 64; stride += 128) {
		struct hp_uarch *uarch = made(256, 64);
		uint64_t begin = stride > 0 ? 0x100000 : 0x1fffc0;
		struct walk first = walk(uarch, begin, stride, 64, 50, false);
		struct walk others =
			walk(uarch, begin + (uint64_t)(64 * stride), stride, 640, 50, false);

		ck_assert_uint_ge(first.brought, 61);
		ck_assert_uint_ge(first.late, 4);
		ck_assert_uint_le(first.late, 24);
		ck_assert_uint_eq(others.brought, others.misses);
		ck_assert_uint_eq(others.late, 0);
	}
}

/* As a walk through a table whose length is no multiple of the step. */
TEST(a_stride_goes_on_where_the_load_turned_aside)
{
	struct hp_uarch *uarch = made(256, 64);

	for (uint64_t i = 0; i < 20; i++) {
		struct walk walked = walk(uarch, 0x10000000 + i * 0x12340, 190056, 38, 400, true);

		ck_assert_uint_eq(walked.misses, 38);
		ck_assert_uint_ge(walked.brought, i ? 37 : 34);
	}
}

TEST(loads_that_hit_do_not_disturb)
{
	struct hp_uarch *uarch = made(256, 64);
	unsigned brought = 0;

	for (uint64_t i = 0; i < 100; i++) {
		for (uint64_t other = 0; other < 500; other++)
			hp_uarch_access(uarch, 0x500000 + 4 * other, 0x2000, 8, HP_UARCH_LOAD);
		brought += walk(uarch, 0x10000000 + i * 190056, 0, 1, 400, true).brought;
	}
	ck_assert_uint_ge(brought, 90);
}

TEST(a_stream_in_another_page_begins_anew)
{
	struct hp_uarch *uarch = made(256, 64);

	for (uint64_t page = 0; page < 20; page++) {
		struct walk walked = walk(uarch, 0x100000 + 2 * page * 4096, 64, 64, 50, false);

		ck_assert_uint_ge(walked.misses - walked.brought, page ? 0 : 2);
		ck_assert_uint_ge(walked.late, page ? 0 : 4);
	}
}

TEST(addresses_by_chance_are_not_brought)
{
	struct hp_random random = hp_random_seeded(7);
	struct hp_uarch *uarch = made(256, 64);
	unsigned misses = 0, brought = 0;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t address = hp_random_between(&random, 1 << 16, 1 << 26);
		unsigned events = hp_uarch_access(uarch, 0x401000, address, 8, HP_UARCH_LOAD);

		misses += (events & FIRST_LEVEL) != 0;
		brought += (events & HP_UARCH_PREFETCHED) != 0;
		hp_uarch_retire(uarch, 10);
	}
	ck_assert_uint_ge(misses, 19000);
	ck_assert_uint_le(brought, misses / 100);
}

/* The second walk finds all in the cache. What its prefetches would bring is there: when other
 * lines have put it out, a use by chance is a miss that nobody brought. */
TEST(what_is_in_the_cache_is_not_brought)
{
	struct hp_uarch *uarch = made(256, 64);
	unsigned events;

	walk(uarch, 0x10000, 64, 64, 1000, true);
	ck_assert_uint_eq(walk(uarch, 0x10000, 64, 64, 1000, true).misses, 0);
	for (uint64_t i = 0; i < 64; i++)
		walk(uarch, 0x100000 + i * 4096, 64 * 5, 12, 1000, false);
	for (uint64_t i = 1; i < 10; i++)
		walk(uarch, 0x100000 + i * 4096 + 20 * 64, 1, 1, 1000, false);
	events = hp_uarch_access(uarch, 0x409000, 0x10000 + 20 * 64, 8, HP_UARCH_LOAD);
	ck_assert_uint_eq(events & FIRST_LEVEL, HP_UARCH_L1_MISS);
	ck_assert_uint_eq(events & BROUGHT_BITS, 0);
}

TEST(a_prefetch_instruction_may_come_late)
{
	struct hp_uarch *uarch = made(256, 64);

	for (unsigned late = 0; late < 2; late++) {
		uint64_t address = 0x10000 + late * 0x10000;

		hp_uarch_access(uarch, 1, address, 1, HP_UARCH_PREFETCH);
		hp_uarch_retire(uarch, late ? LATE_FAR - 1 : LATE_FAR);
		ck_assert_uint_eq(hp_uarch_access(uarch, 2, address, 8, HP_UARCH_LOAD) &
					  BROUGHT_BITS,
				  HP_UARCH_PREFETCHED | (late ? HP_UARCH_PREFETCHED_LATE : 0));
	}
}

HP_TEST_MAIN("uarch/queues")
