/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/samples/sample_table.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static struct sample_table table_create(void)
{
	struct sample_table table;

	ck_assert(sample_table_create(&table));
	return table;
}

/* What came out of a table under one (context, address). */
static uint64_t counted(const struct sample_table *table, uint32_t context, uint64_t address)
{
	uint64_t count = 0;

	for (size_t i = 0; i < table->overflow_count; i++) {
		const struct sampled *entry = &table->overflow[i];

		if (entry->context == context && entry->address == address)
			count += entry->count;
	}
	return count;
}

static void add_times(struct sample_table *table, uint32_t context, uint64_t address, size_t times)
{
	for (size_t i = 0; i < times; i++)
		ck_assert(!sample_table_add(table, context, address));
}

/* --- addresses that share a bucket, found by watching what is evicted: true of any hash ------- */

enum { COLLIDING = 9, CANDIDATES = 1 << 17 };

struct collisions {
	uint64_t at[COLLIDING];
	size_t count;
};

static uint64_t candidate(size_t number)
{
	return 0x400000 + 16 * number;
}

static bool is_known(const struct collisions *known, uint64_t address)
{
	for (size_t i = 0; i < known->count; i++) {
		if (known->at[i] == address)
			return true;
	}
	return false;
}

/* Whether the first known address is evicted by up to five others that are known, and the first
 * `count` candidates. */
static bool is_evicted(const struct collisions *known, size_t count)
{
	struct sample_table table = table_create();
	bool evicted = false;

	sample_table_add(&table, 1, known->at[0]);
	for (size_t i = 1; i < known->count && i < SAMPLE_TABLE_WAYS; i++)
		sample_table_add(&table, 1, known->at[i]);
	for (size_t i = 0; i < count && !evicted; i++) {
		if (is_known(known, candidate(i)))
			continue;
		sample_table_add(&table, 1, candidate(i));
		evicted = counted(&table, 1, known->at[0]) > 0;
		table.overflow_count = 0;
	}
	sample_table_clear(&table);
	return evicted;
}

static struct collisions find_collisions(void)
{
	struct collisions known = { .at = { 0x7ffff000 }, .count = 1 };

	while (known.count < COLLIDING) {
		size_t low = 0;
		size_t high = CANDIDATES;

		/* The shortest run of candidates that evicts ends with one of the same bucket. */
		ck_assert(is_evicted(&known, high));
		while (high - low > 1) {
			size_t middle = low + (high - low) / 2;

			if (is_evicted(&known, middle))
				high = middle;
			else
				low = middle;
		}
		known.at[known.count++] = candidate(high - 1);
	}
	return known;
}

TEST(entries_of_one_bucket_leave_it_oldest_first)
{
	struct collisions same = find_collisions();
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	for (size_t i = 0; i < COLLIDING; i++)
		add_times(&table, 1, same.at[i], i + 1);
	ck_assert_uint_eq(table.overflow_count, COLLIDING - SAMPLE_TABLE_WAYS);
	for (size_t i = 0; i < table.overflow_count; i++) {
		ck_assert_uint_eq(table.overflow[i].address, same.at[i]);
		ck_assert_uint_eq(table.overflow[i].count, i + 1);
	}
}

TEST(a_hit_swaps_its_entry_with_the_one_in_front)
{
	struct collisions same = find_collisions();
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	/* From front to back 5 4 3 2 1 0; the hit makes that 0 4 3 2 1 5. */
	for (size_t i = 0; i < SAMPLE_TABLE_WAYS; i++)
		add_times(&table, 1, same.at[i], 1);
	add_times(&table, 1, same.at[0], 1);
	add_times(&table, 1, same.at[6], 1);
	ck_assert_uint_eq(table.overflow_count, 1);
	ck_assert_uint_eq(table.overflow[0].address, same.at[5]);
	/* 6 0 4 3 2 1 */
	add_times(&table, 1, same.at[7], 1);
	ck_assert_uint_eq(table.overflow_count, 2);
	ck_assert_uint_eq(table.overflow[1].address, same.at[1]);
}

TEST(a_hit_on_the_front_changes_no_order)
{
	struct collisions same = find_collisions();
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	for (size_t i = 0; i < SAMPLE_TABLE_WAYS; i++)
		add_times(&table, 1, same.at[i], 3);
	add_times(&table, 1, same.at[6], 1);
	ck_assert_uint_eq(table.overflow_count, 1);
	ck_assert_uint_eq(table.overflow[0].address, same.at[0]);
	ck_assert_uint_eq(table.overflow[0].count, 3);
}

TEST(addresses_come_back_whole_from_both_halves)
{
	static const uint64_t addresses[] = {
		0, 1, 0x401234, 0x7fffffffffff, 0xffff800000000000, 0xffffffff81000123, UINT64_MAX,
	};
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	for (size_t i = 0; i < HP_ARRAY_COUNT(addresses); i++)
		add_times(&table, 0xffff, addresses[i], i + 1);
	ck_assert_uint_eq(table.overflow_count, 0);
	ck_assert(sample_table_drain(&table));
	ck_assert_uint_eq(table.overflow_count, HP_ARRAY_COUNT(addresses));
	for (size_t i = 0; i < HP_ARRAY_COUNT(addresses); i++)
		ck_assert_uint_eq(counted(&table, 0xffff, addresses[i]), i + 1);
}

TEST(what_does_not_fit_an_entry_goes_by_the_table)
{
	static const struct {
		uint32_t context;
		uint64_t address;
	} wide[] = {
		{ 1, 1ull << 47 },	    { 1, 1ull << 48 }, { 1, 0x00ff800000000000 },
		{ 1, 0xff00000000000000 },  { 1, 1ull << 63 }, { 1 << 16, 0x401000 },
		{ UINT32_MAX, UINT64_MAX },
	};
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	for (size_t i = 0; i < HP_ARRAY_COUNT(wide); i++) {
		add_times(&table, wide[i].context, wide[i].address, 2);
		ck_assert_uint_eq(table.overflow_count, 2 * (i + 1));
		ck_assert_uint_eq(counted(&table, wide[i].context, wide[i].address), 2);
	}
}

TEST(contexts_and_addresses_are_not_mistaken_for_each_other)
{
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	add_times(&table, 1, 2, 5);
	add_times(&table, 2, 1, 7);
	add_times(&table, 0x8000, 2, 11);
	ck_assert(sample_table_drain(&table));
	ck_assert_uint_eq(counted(&table, 1, 2), 5);
	ck_assert_uint_eq(counted(&table, 2, 1), 7);
	ck_assert_uint_eq(counted(&table, 0x8000, 2), 11);
}

TEST(a_count_that_outgrows_its_field_overflows_and_goes_on)
{
	static const size_t totals[] = { 65534, 65535, 65536, 131070, 200000 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(totals); i++) {
		struct sample_table table = table_create();

		add_times(&table, 3, 0x1234, totals[i]);
		ck_assert_uint_eq(table.overflow_count, totals[i] / 65535);
		ck_assert(sample_table_drain(&table));
		ck_assert_uint_eq(counted(&table, 3, 0x1234), totals[i]);
		sample_table_clear(&table);
	}
}

TEST(an_entry_whose_count_has_just_gone_leaves_nothing_behind)
{
	struct collisions same = find_collisions();
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	add_times(&table, 1, same.at[0], 65535);
	ck_assert_uint_eq(table.overflow_count, 1);
	for (size_t i = 1; i < COLLIDING; i++)
		add_times(&table, 1, same.at[i], 1);
	for (size_t i = 1; i < table.overflow_count; i++)
		ck_assert_uint_ne(table.overflow[i].address, same.at[0]);
}

TEST(a_drained_table_is_empty)
{
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	add_times(&table, 1, 0x1000, 4);
	ck_assert(sample_table_drain(&table));
	table.overflow_count = 0;
	ck_assert(sample_table_drain(&table));
	ck_assert_uint_eq(table.overflow_count, 0);
}

TEST(a_full_overflow_buffer_is_announced_with_the_add_that_filled_it)
{
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	for (size_t i = 1; i < SAMPLE_OVERFLOW_ENTRIES; i++)
		ck_assert(!sample_table_add(&table, 1 << 16, i));
	ck_assert(sample_table_add(&table, 1 << 16, 0));
	ck_assert_uint_eq(table.overflow_count, SAMPLE_OVERFLOW_ENTRIES);
}

TEST(draining_more_than_the_buffer_holds_takes_several_calls)
{
	_cleanup_(sample_table_clear) struct sample_table table = table_create();
	uint64_t total = 0;
	size_t calls = 0;
	bool empty = false;

	for (size_t i = 0; i < 2 * SAMPLE_OVERFLOW_ENTRIES; i++) {
		if (sample_table_add(&table, 1 + (uint32_t)(i & 3), 0x400000 + i)) {
			total += table.overflow_count;
			table.overflow_count = 0;
		}
	}
	while (!empty) {
		ck_assert_uint_lt(calls++, 4);
		empty = sample_table_drain(&table);
		ck_assert_uint_le(table.overflow_count, SAMPLE_OVERFLOW_ENTRIES);
		/* Each was added once. */
		total += table.overflow_count;
		table.overflow_count = 0;
	}
	ck_assert_uint_gt(calls, 1);
	ck_assert_uint_eq(total, 2 * SAMPLE_OVERFLOW_ENTRIES);
}

/* --- against a plain map ---------------------------------------------------------------------- */

enum { CONTEXTS = 40, ADDRESSES = 2000, SAMPLES = 1000000 };

static uint32_t context_of(size_t number)
{
	return number % 4 ? (uint32_t)number + 1 : (uint32_t)number + (1 << 16);
}

static uint64_t address_of(size_t number)
{
	switch (number % 3) {
	case 0:
		return 0xffffffff81000000 + 4 * number;
	case 1:
		return 0x7f0000000000 + 16 * number;
	default:
		return number % 2 ? 0x400000 + number : (1ull << 56) + number;
	}
}

/* Takes the counts out of the reference. */
static void empty(struct sample_table *table, uint64_t *reference)
{
	for (size_t i = 0; i < table->overflow_count; i++) {
		const struct sampled *entry = &table->overflow[i];
		size_t context = entry->context >= 1 << 16 ? entry->context - (1 << 16)
							   : entry->context - 1;
		uint64_t address = entry->address;
		size_t number;

		if (address >> 63)
			number = (size_t)(address - 0xffffffff81000000) / 4;
		else if (address >> 56)
			number = (size_t)(address - (1ull << 56));
		else if (address >= 0x7f0000000000)
			number = (size_t)(address - 0x7f0000000000) / 16;
		else
			number = (size_t)(address - 0x400000);
		ck_assert_uint_lt(context, CONTEXTS);
		ck_assert_uint_lt(number, ADDRESSES);
		ck_assert_uint_gt(entry->count, 0);
		ck_assert_uint_ge(reference[context * ADDRESSES + number], entry->count);
		reference[context * ADDRESSES + number] -= entry->count;
	}
	table->overflow_count = 0;
}

TEST(every_sample_comes_out_exactly_once_where_it_went_in)
{
	_cleanup_free_ uint64_t *reference = calloc(CONTEXTS * ADDRESSES, sizeof(*reference));
	struct hp_random random = hp_random_seeded(54);
	_cleanup_(sample_table_clear) struct sample_table table = table_create();

	ck_assert_ptr_nonnull(reference);
	for (size_t i = 0; i < SAMPLES; i++) {
		/* Most samples fall on few places, as in a program; some places wrap their count.
		 */
		uint64_t cold = hp_random_between(&random, 0, 3);
		size_t context = (size_t)hp_random_between(&random, 0, cold ? 1 : CONTEXTS - 1);
		size_t address = (size_t)hp_random_between(&random, 0, cold ? 5 : ADDRESSES - 1);

		reference[context * ADDRESSES + address]++;
		if (sample_table_add(&table, context_of(context), address_of(address)))
			empty(&table, reference);
	}
	while (!sample_table_drain(&table))
		empty(&table, reference);
	empty(&table, reference);
	for (size_t i = 0; i < CONTEXTS * ADDRESSES; i++)
		ck_assert_uint_eq(reference[i], 0);
}

HP_TEST_MAIN("collect/sample_table")
