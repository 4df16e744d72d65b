/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample_table.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE_BYTES = 64, ADDRESS_BITS = 48, CONTEXT_LIMIT = 1 << 16 };

/*
 * Context (16 bits) and address (48 bits) share one word, and counts have 16 bits, so that six
 * entries fit into a cache line; the paper's entries took 16 bytes. What cannot be packed (57-bit
 * addresses in use, or more than 65,535 contexts) bypasses the table.
 */
struct sample_bucket {
	alignas(CACHE_LINE_BYTES) uint64_t keys[SAMPLE_TABLE_WAYS]; /* 0: free */
	uint16_t counts[SAMPLE_TABLE_WAYS];
};
static_assert(sizeof(struct sample_bucket) == CACHE_LINE_BYTES, "a bucket is one cache line");

bool sample_table_create(struct sample_table *table)
{
	size_t bytes = SAMPLE_TABLE_BUCKETS * sizeof(struct sample_bucket);

	*table = (struct sample_table){ 0 };
	table->buckets = aligned_alloc(CACHE_LINE_BYTES, bytes);
	table->overflow = malloc(SAMPLE_OVERFLOW_ENTRIES * sizeof(*table->overflow));
	if (!table->buckets || !table->overflow) {
		sample_table_clear(table);
		return false;
	}
	memset(table->buckets, 0, bytes);
	return true;
}

void sample_table_clear(struct sample_table *table)
{
	free(table->buckets);
	free(table->overflow);
	*table = (struct sample_table){ 0 };
}

static void overflow(struct sample_table *table, uint32_t context, uint64_t address, uint32_t count)
{
	table->overflow[table->overflow_count++] =
		(struct sampled){ .address = address, .context = context, .count = count };
}

/* Addresses are canonical: the upper 16 bits repeat bit 47, so kernel addresses fit, too. */
static bool pack(uint32_t context, uint64_t address, uint64_t *key)
{
	int64_t extended = (int64_t)(address << 16) >> 16;

	*key = (uint64_t)context << ADDRESS_BITS | (address & ((1ull << ADDRESS_BITS) - 1));
	return (uint64_t)extended == address && context < CONTEXT_LIMIT;
}

static void unpack_to_overflow(struct sample_table *table, uint64_t key, uint16_t count)
{
	uint64_t address = (uint64_t)((int64_t)(key << 16) >> 16);

	overflow(table, (uint32_t)(key >> ADDRESS_BITS), address, count);
}

static struct sample_bucket *bucket_of(const struct sample_table *table, uint64_t key)
{
	static_assert(SAMPLE_TABLE_BUCKETS == 1 << 12, "the shift below takes 12 bits");
	return &table->buckets[key * 0x9e3779b97f4a7c15u >> 52];
}

static void put_front(struct sample_bucket *bucket, size_t way, uint64_t key, uint16_t count)
{
	bucket->keys[way] = bucket->keys[0];
	bucket->counts[way] = bucket->counts[0];
	bucket->keys[0] = key;
	bucket->counts[0] = count;
}

static void insert(struct sample_table *table, struct sample_bucket *bucket, uint64_t key)
{
	const size_t last = SAMPLE_TABLE_WAYS - 1;

	if (bucket->keys[last] && bucket->counts[last])
		unpack_to_overflow(table, bucket->keys[last], bucket->counts[last]);
	memmove(bucket->keys + 1, bucket->keys, last * sizeof(bucket->keys[0]));
	memmove(bucket->counts + 1, bucket->counts, last * sizeof(bucket->counts[0]));
	bucket->keys[0] = key;
	bucket->counts[0] = 1;
}

bool sample_table_add(struct sample_table *table, uint32_t context, uint64_t address)
{
	struct sample_bucket *bucket;
	uint64_t key;

	if (!pack(context, address, &key)) {
		overflow(table, context, address, 1);
		return table->overflow_count == SAMPLE_OVERFLOW_ENTRIES;
	}
	bucket = bucket_of(table, key);
	for (size_t way = 0; way < SAMPLE_TABLE_WAYS; way++) {
		if (bucket->keys[way] != key)
			continue;
		put_front(bucket, way, key, bucket->counts[way]);
		if (++bucket->counts[0] == UINT16_MAX) {
			unpack_to_overflow(table, key, UINT16_MAX);
			bucket->counts[0] = 0;
		}
		return table->overflow_count == SAMPLE_OVERFLOW_ENTRIES;
	}
	insert(table, bucket, key);
	return table->overflow_count == SAMPLE_OVERFLOW_ENTRIES;
}

bool sample_table_drain(struct sample_table *table)
{
	for (size_t i = 0; i < SAMPLE_TABLE_BUCKETS; i++) {
		struct sample_bucket *bucket = &table->buckets[i];

		for (size_t way = 0; way < SAMPLE_TABLE_WAYS; way++) {
			if (!bucket->keys[way])
				continue;
			if (table->overflow_count == SAMPLE_OVERFLOW_ENTRIES)
				return false;
			if (bucket->counts[way])
				unpack_to_overflow(table, bucket->keys[way], bucket->counts[way]);
			bucket->keys[way] = 0;
		}
	}
	return true;
}
