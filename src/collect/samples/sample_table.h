/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample table: counts recent samples by (context, pc), in bounded memory.
 *
 * This is the hash table of the DCPI driver (Anderson et al. 1997, section 4.2.1) in the variant
 * that section 5.4 found best: a bucket is one cache line with six entries; a hit swaps the entry
 * to the front; a new entry goes to the front and the last one is evicted. Evicted entries go to an
 * overflow buffer, which its owner empties when it is full. A context number stands for all else
 * that distinguishes samples (process, event, period).
 */
#ifndef COLLECT_SAMPLES_SAMPLE_TABLE_H
#define COLLECT_SAMPLES_SAMPLE_TABLE_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampled {
	uint64_t address;
	uint32_t context;
	uint32_t count;
};

enum {
	SAMPLE_TABLE_WAYS = 6,
	SAMPLE_TABLE_BUCKETS = 4096, /* 256 KiB */
};

struct sample_bucket;

struct sample_table {
	struct sample_bucket *buckets;
	struct sampled *overflow;
	size_t overflow_count;
};

bool sample_table_create(struct sample_table *table);
void sample_table_clear(struct sample_table *table);

/* Counts one sample. `context` must not be 0. True when the overflow buffer is full: it must be
 * emptied before the next call. */
bool sample_table_add(struct sample_table *table, uint32_t context, uint64_t address);

/* Moves entries from the table to the overflow buffer, until the table is empty (true) or the
 * buffer is full (false: to be emptied before calling again). */
bool sample_table_drain(struct sample_table *table);

#endif
