/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inside.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <math.h>
#include <string.h>

struct hp_error *partition_create(const struct inside *inside, struct partition *partition)
{
	*partition = (struct partition){ 0 };
	for (size_t side = 0; side < HP_SIDES; side++) {
		size_t count = inside->listings[side]->count;

		partition->of[side] = malloc((count + 1) * sizeof(size_t));
		if (!partition->of[side]) {
			partition_clear(partition);
			return hp_error_create_no_memory();
		}
		for (size_t i = 0; i < count; i++)
			partition->of[side][i] = SIZE_MAX;
	}
	return NULL;
}

void partition_clear(struct partition *partition)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		free(partition->of[side]);
	*partition = (struct partition){ 0 };
}

/* --- which block is which -------------------------------------------------------------------- */

struct block {
	size_t first; /* index of its first instruction */
	size_t count;
	size_t partner; /* the block on the other side with which it shares most instructions */
	size_t shared;	/* number of these; 0: none */
};

struct blocks {
	HP_VECTOR(struct block) all;
	size_t *of; /* by instruction: its block; owned */
};

static struct hp_error *list_blocks(const struct listing *listing, struct blocks *blocks)
{
	blocks->of = malloc((listing->count + 1) * sizeof(size_t));
	if (!blocks->of)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing->count; i++) {
		if ((!i || listing->at[i].begins_block || listing->at[i - 1].ends_block) &&
		    !hp_vector_push(&blocks->all, (struct block){ .first = i }))
			return hp_error_create_no_memory();
		blocks->of[i] = blocks->all.count - 1;
		blocks->all.at[blocks->of[i]].count++;
	}
	return NULL;
}

/* Counts instructions that two blocks share. Shared instructions are in the same order on both
 * sides, so those of one pair of blocks follow each other. */
static void note_shared(struct blocks blocks[HP_SIDES], size_t base, size_t candidate,
			size_t shared)
{
	struct block *one = &blocks[HP_BASE].all.at[base];
	struct block *other = &blocks[HP_CANDIDATE].all.at[candidate];

	if (shared > one->shared) {
		one->shared = shared;
		one->partner = candidate;
	}
	if (shared > other->shared) {
		other->shared = shared;
		other->partner = base;
	}
}

static void find_partners(struct blocks blocks[HP_SIDES], const size_t *partners, size_t count)
{
	size_t base = SIZE_MAX;
	size_t candidate = SIZE_MAX;
	size_t shared = 0;

	for (size_t i = 0; i < count; i++) {
		if (partners[i] == SIZE_MAX)
			continue;
		if (blocks[HP_BASE].of[partners[i]] != base ||
		    blocks[HP_CANDIDATE].of[i] != candidate)
			shared = 0;
		base = blocks[HP_BASE].of[partners[i]];
		candidate = blocks[HP_CANDIDATE].of[i];
		note_shared(blocks, base, candidate, ++shared);
	}
}

/* Two blocks are a pair if each shares most with the other, and at least half of the smaller
 * one. */
static bool is_pair(const struct blocks blocks[HP_SIDES], size_t candidate)
{
	const struct block *other = &blocks[HP_CANDIDATE].all.at[candidate];
	const struct block *one;

	if (!other->shared)
		return false;
	one = &blocks[HP_BASE].all.at[other->partner];
	return one->partner == candidate &&
	       2 * other->shared >= (one->count < other->count ? one->count : other->count);
}

static void assign(const struct blocks *blocks, size_t first, size_t after, size_t part,
		   size_t *of_instruction)
{
	for (size_t i = first; i < after; i++)
		for (size_t j = 0; j < blocks->all.at[i].count; j++)
			of_instruction[blocks->all.at[i].first + j] = part;
}

/* Pairs are in the same order on both sides; what lies between two pairs is one part. */
static void join_blocks(const struct blocks blocks[HP_SIDES], struct partition *partition)
{
	const size_t counts[HP_SIDES] = { blocks[HP_BASE].all.count,
					  blocks[HP_CANDIDATE].all.count };
	size_t next[HP_SIDES] = { 0 };

	for (size_t i = 0; i <= counts[HP_CANDIDATE]; i++) {
		bool at_end = i == counts[HP_CANDIDATE];
		size_t end[HP_SIDES] = { counts[HP_BASE], i };

		if (!at_end && !is_pair(blocks, i))
			continue;
		if (!at_end)
			end[HP_BASE] = blocks[HP_CANDIDATE].all.at[i].partner;
		if (next[HP_BASE] < end[HP_BASE] || next[HP_CANDIDATE] < end[HP_CANDIDATE]) {
			for (size_t side = 0; side < HP_SIDES; side++)
				assign(&blocks[side], next[side], end[side], partition->count,
				       partition->of[side]);
			partition->count++;
		}
		for (size_t side = 0; side < HP_SIDES && !at_end; side++) {
			assign(&blocks[side], end[side], end[side] + 1, partition->count,
			       partition->of[side]);
			next[side] = end[side] + 1;
		}
		if (!at_end)
			partition->count++;
	}
}

struct hp_error *partition_blocks(const struct inside *inside, const size_t *partners,
				  struct partition *partition)
{
	struct blocks blocks[HP_SIDES] = { 0 };
	struct hp_error *error = partition_create(inside, partition);

	for (size_t side = 0; side < HP_SIDES && !error; side++)
		error = list_blocks(inside->listings[side], &blocks[side]);
	if (!error) {
		find_partners(blocks, partners, inside->listings[HP_CANDIDATE]->count);
		join_blocks(blocks, partition);
	}
	for (size_t side = 0; side < HP_SIDES; side++) {
		hp_vector_free(&blocks[side].all);
		free(blocks[side].of);
	}
	return error;
}

/* --- what they cost -------------------------------------------------------------------------- */

/* The samples by part and replicate, as in a unit: [part][replicate]. */
static void count_side(const struct inside *inside, size_t side, const struct partition *partition,
		       struct hp_compared *const *parts, double *counts, size_t replicate_count)
{
	const struct sides *sides = inside->judging->sides;
	const struct code *code = inside->codes[side];
	const struct listing *listing = inside->listings[side];
	size_t first = side == HP_BASE ? 0 : sides->at[HP_BASE].replicates.count;

	for (size_t i = 0; code && i < code->place_count; i++) {
		const struct place *place = &code->places[i];
		struct hp_compared_cost *cost;
		size_t part;
		size_t after =
			hp_bisect(j, listing->count, listing->at[j].address <= place->address);

		part = after ? partition->of[side][after - 1] : SIZE_MAX;
		if (part == SIZE_MAX)
			continue;
		cost = &parts[part]->side[side];
		cost->samples += place->samples;
		cost->cost.value += place->cost / inside->judging->divisor[side];
		counts[part * replicate_count + first + place->replicate] +=
			place->cost /
			replicate_weight(&sides->at[side].replicates.at[place->replicate]);
	}
}

/* The share of findings among the procedures that were tested, including these. */
static double chosen_share(const struct judging *judging)
{
	size_t tested = 0;
	size_t found = 0;

	for (size_t i = 0; i < judging->sides->units.count; i++) {
		const struct hp_compared *item = judging->sides->units.at[i].shown;

		if (!isnan(item->p))
			tested++;
		if (item->is_finding)
			found++;
	}
	return tested ? (double)found / (double)tested : 0;
}

static struct hp_error *find_parts(const struct inside *inside, struct hp_compared *const *parts,
				   size_t count)
{
	double chosen = chosen_share(inside->judging);
	_cleanup_free_ double *p = calloc(count + 1, sizeof(*p));
	_cleanup_free_ double *q = calloc(count + 1, sizeof(*q));
	struct hp_error *error;

	if (!p || !q)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		p[i] = parts[i]->p;
	error = discovery_rates(p, count, q);
	for (size_t i = 0; i < count && !error; i++) {
		parts[i]->q = isnan(q[i]) ? NAN : chosen > 0 ? fmin(1, q[i] / chosen) : 1;
		parts[i]->is_finding = parts[i]->q <= COMPARE_FALSE_ALARMS / 2 &&
				       judge_is_large(inside->judging, parts[i]);
	}
	return error;
}

struct hp_error *inside_judge(const struct inside *inside, const struct partition *partition,
			      struct hp_compared *const *parts)
{
	const struct sides *sides = inside->judging->sides;
	size_t replicate_count =
		sides->at[HP_BASE].replicates.count + sides->at[HP_CANDIDATE].replicates.count;
	_cleanup_free_ double *counts =
		calloc(partition->count * replicate_count + 1, sizeof(*counts));

	if (!counts)
		return hp_error_create_no_memory();
	for (size_t side = 0; side < HP_SIDES; side++)
		count_side(inside, side, partition, parts, counts, replicate_count);
	for (size_t i = 0; i < partition->count; i++) {
		const uint64_t samples[HP_SIDES] = { parts[i]->side[HP_BASE].samples,
						     parts[i]->side[HP_CANDIDATE].samples };
		const struct log_ratio ratio =
			judge_counts(inside->judging, counts + i * replicate_count, samples);

		judge_show(inside->judging, &ratio, parts[i]);
		if (!inside->is_chosen)
			parts[i]->p = NAN;
	}
	return inside->is_chosen ? find_parts(inside, parts, partition->count) : NULL;
}
