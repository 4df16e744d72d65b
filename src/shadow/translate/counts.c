/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counts.h"

#include "replay.h"
#include "x86_decode.h"

#include <hpcprof/base/search.h>

#include <string.h>

bool shadow_counts_take(struct shadow_counts *counts, const struct code_cache *cache)
{
	for (size_t i = 0; i < cache->zone_count; i++) {
		size_t count = cache->zones[i].counter_count;

		if (!hp_vector_reserve(&counts->zones[i], count))
			return false;
		if (count)
			memcpy(counts->zones[i].at, code_counters(&cache->zones[i]),
			       count * sizeof(uint64_t));
		counts->zones[i].count = count;
	}
	counts->count_starts = cache->count_starts;
	return true;
}

void shadow_counts_free(struct shadow_counts *counts)
{
	for (size_t i = 0; i < SHADOW_PLACES; i++)
		free(counts->zones[i].at);
	*counts = (struct shadow_counts){ 0 };
}

/* --- counts at a moment ----------------------------------------------------------------------- */

/* A counter that did not exist at that moment was 0. */
static uint64_t at(const struct shadow_counts *counts, uint8_t zone, uint32_t counter)
{
	return counter < counts->zones[zone].count ? counts->zones[zone].at[counter] : 0;
}

/* Executions of a block that ends with an indirect branch: the sum over the branch's targets. */
static uint64_t site_count(const struct code_site *site, const struct shadow_counts *counts)
{
	uint64_t count = 0;

	for (size_t i = 0; i < site->targets.count; i++)
		count += at(counts, site->zone, site->targets.at[i].counter);
	return count;
}

/* How often a block that ran `count` times fell through. If the moment lies within a block, its
 * branch is one behind. */
static uint64_t onward(const struct code_block *block, const struct shadow_counts *counts,
		       uint64_t count)
{
	uint64_t counted;

	if (block->kind != X86_JUMP_IF && block->kind != X86_JUMP_COUNTED)
		return count;
	counted = at(counts, block->zone, block->branch_counter);
	if (block->counts_fall)
		return counted;
	return counted < count ? count - counted : 0;
}

/* Computed from the last block before it that had a counter at that moment. */
static uint64_t count_of(const struct code_cache *cache, const struct shadow_counts *counts,
			 size_t number)
{
	const struct code_block *block = &cache->blocks.at[number];
	size_t from = number;
	uint64_t count;

	if (x86_is_indirect(block->kind))
		return site_count(&cache->sites.at[block->site], counts);
	while (cache->blocks.at[from].counted_since > counts->count_starts)
		from--;
	count = at(counts, cache->blocks.at[from].zone, cache->blocks.at[from].counter);
	for (; from < number; from++)
		count = onward(&cache->blocks.at[from], counts, count);
	return count;
}

uint64_t shadow_counts_now(const struct code_cache *cache, uint32_t block)
{
	struct shadow_counts now = { .count_starts = cache->count_starts };

	for (size_t i = 0; i < cache->zone_count; i++) {
		now.zones[i].at = code_counters(&cache->zones[i]);
		now.zones[i].count = cache->zones[i].counter_count;
	}
	return count_of(cache, &now, block);
}

/* --- from moment to moment -------------------------------------------------------------------- */

struct result {
	const struct code_cache *cache;
	const struct shadow_counts *const *moments;
	size_t part_count;
	HP_VECTOR(struct hp_window_block) blocks;
	HP_VECTOR(struct hp_window_edge) edges;
};

/* The counts of each part. */
struct parts {
	uint64_t counts[HP_WINDOW_PARTS];
};

static struct parts counted_in(const struct result *result, uint8_t zone, uint32_t counter)
{
	struct parts parts = { 0 };

	for (size_t i = 0; i < result->part_count; i++)
		parts.counts[i] = at(result->moments[i + 1], zone, counter) -
				  at(result->moments[i], zone, counter);
	return parts;
}

static struct parts ran_in(const struct result *result, size_t block)
{
	uint64_t before = count_of(result->cache, result->moments[0], block);
	struct parts parts = { 0 };

	for (size_t i = 0; i < result->part_count; i++) {
		uint64_t after = count_of(result->cache, result->moments[i + 1], block);

		parts.counts[i] = after > before ? after - before : 0;
		before = after;
	}
	return parts;
}

static bool add_edge(struct result *result, const struct code_block *block, uint64_t to,
		     enum hp_window_edge_kind kind, const struct parts *parts)
{
	struct hp_window_edge edge = {
		.from = { block->last },
		.to = { to },
		.kind = (uint8_t)kind,
	};

	memcpy(edge.counts, parts->counts, sizeof(edge.counts));
	return !hp_window_count(parts->counts) || hp_vector_push(&result->edges, edge);
}

/* If a moment lies within a block, the branch is one behind the block. */
static bool add_conditional(struct result *result, const struct code_block *block,
			    const struct parts *parts)
{
	struct parts counted = counted_in(result, block->zone, block->branch_counter);
	struct parts other = { 0 };

	for (size_t i = 0; i < result->part_count; i++)
		if (counted.counts[i] < parts->counts[i])
			other.counts[i] = parts->counts[i] - counted.counts[i];
	return add_edge(result, block, block->next, HP_WINDOW_EDGE_FALL,
			block->counts_fall ? &counted : &other) &&
	       add_edge(result, block, block->target, HP_WINDOW_EDGE_TAKEN,
			block->counts_fall ? &other : &counted);
}

static bool add_indirect(struct result *result, const struct code_block *block,
			 enum hp_window_edge_kind kind)
{
	const struct code_site *site = &result->cache->sites.at[block->site];

	for (size_t i = 0; i < site->targets.count; i++) {
		const struct code_target *target = &site->targets.at[i];
		struct parts parts = counted_in(result, site->zone, target->counter);

		if (!add_edge(result, block, target->address, kind, &parts))
			return false;
	}
	return true;
}

static bool add_edges(struct result *result, const struct code_block *block,
		      const struct parts *parts)
{
	switch ((enum x86_kind)block->kind) {
	case X86_PLAIN:
		return add_edge(result, block, block->next, HP_WINDOW_EDGE_FALL, parts);
	case X86_JUMP:
		return add_edge(result, block, block->target, HP_WINDOW_EDGE_JUMP, parts);
	case X86_CALL:
		return add_edge(result, block, block->target, HP_WINDOW_EDGE_CALL, parts);
	case X86_SYSTEM_CALL:
		return add_edge(result, block, block->next, HP_WINDOW_EDGE_SYSTEM_CALL, parts);
	case X86_JUMP_IF:
	case X86_JUMP_COUNTED:
		return add_conditional(result, block, parts);
	case X86_JUMP_INDIRECT:
		return add_indirect(result, block, HP_WINDOW_EDGE_JUMP_INDIRECT);
	case X86_CALL_INDIRECT:
		return add_indirect(result, block, HP_WINDOW_EDGE_CALL_INDIRECT);
	case X86_RETURN:
		return add_indirect(result, block, HP_WINDOW_EDGE_RETURN);
	case X86_END:
	default:
		return true;
	}
}

HP_ORDER_BY(by_address, struct hp_window_block, address.value);

static int by_ends(const void *left, const void *right)
{
	const struct hp_window_edge *a = left, *b = right;

	if (a->from.value != b->from.value)
		return a->from.value < b->from.value ? -1 : 1;
	if (a->to.value != b->to.value)
		return a->to.value < b->to.value ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* Overlapping blocks end with the same branch. */
static void merge_edges(struct result *result)
{
	size_t kept = 0;

	for (size_t i = 0; i < result->edges.count; i++) {
		struct hp_window_edge *edge = &result->edges.at[i];

		if (!kept || by_ends(&result->edges.at[kept - 1], edge) != 0) {
			result->edges.at[kept++] = *edge;
			continue;
		}
		for (size_t j = 0; j < result->part_count; j++)
			result->edges.at[kept - 1].counts[j] += edge->counts[j];
	}
	result->edges.count = kept;
}

static bool add_block(struct result *result, const struct code_block *block,
		      const struct parts *parts)
{
	struct hp_window_block counted = {
		.address = { block->address },
		.size_bytes = (uint32_t)(block->next - block->address),
		.instructions = block->instructions,
	};

	memcpy(counted.counts, parts->counts, sizeof(counted.counts));
	return !hp_window_count(parts->counts) || hp_vector_push(&result->blocks, counted);
}

struct hp_error *shadow_counts_between(const struct code_cache *cache,
				       const struct shadow_counts *const *moments, size_t count,
				       struct hp_replay *replay)
{
	struct result result = { .cache = cache, .moments = moments, .part_count = count - 1 };
	bool has_memory = true;

	for (size_t i = 0; has_memory && i < cache->blocks.count; i++) {
		const struct code_block *block = &cache->blocks.at[i];
		struct parts parts = ran_in(&result, i);

		replay->instructions += hp_window_count(parts.counts) * block->instructions;
		has_memory = add_block(&result, block, &parts) && add_edges(&result, block, &parts);
	}
	/* The replay owns them from here on. */
	if (result.blocks.count)
		qsort(result.blocks.at, result.blocks.count, sizeof(*result.blocks.at), by_address);
	if (result.edges.count)
		qsort(result.edges.at, result.edges.count, sizeof(*result.edges.at), by_ends);
	merge_edges(&result);
	replay->part_count = result.part_count;
	replay->blocks = result.blocks.at;
	replay->block_count = result.blocks.count;
	replay->edges = result.edges.at;
	replay->edge_count = result.edges.count;
	return has_memory ? NULL : hp_error_create_no_memory();
}
