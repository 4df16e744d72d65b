/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/infer/window_parts.h>

#include "tuning.h"

#include <hpcprof/base/search.h>

#include <math.h>
#include <stdlib.h>

/* A block as it was simulated. */
struct timed {
	uint32_t image;
	uint64_t at;
	uint32_t bytes, instructions;
	double runs;
	double windows[HP_EVIDENCE_WINDOWS]; /* of `runs`, those in each window */
	double cycles[HP_LANES];
};

typedef HP_VECTOR(struct timed) timed_blocks;

enum { BLOCK_BYTES = 4096 }; /* no block is longer */

/* Events in the simulated part of a window, and the mean number of events in the same code. */
struct met {
	double own[HP_PENALTIES], mean[HP_PENALTIES];
};

struct part {
	double instructions, known; /* `known`: those of instructions whose time a model knows */
	double cycles[HP_LANES];
	double measured; /* cycles */
};

HP_ORDER_BY_TWO(by_place, struct timed, image, at);

static struct timed timed_of(const struct hp_counted *item)
{
	struct timed one = { .image = item->image,
			     .at = item->at.value,
			     .bytes = item->bytes,
			     .instructions = item->instructions };

	for (size_t j = 0; j < HP_EVIDENCE_GROUPS && item->kind == HP_COUNTED_BLOCK; j++) {
		one.runs += (double)item->counts[j];
		one.windows[j / HP_WINDOW_PARTS] += (double)item->counts[j];
	}
	for (size_t j = 0; j < HP_LANES && item->kind == HP_COUNTED_BLOCK_CYCLES; j++)
		one.cycles[j] = (double)item->counts[j];
	return one;
}

static void add_timed(struct timed *into, const struct timed *more)
{
	into->runs += more->runs;
	into->bytes = more->bytes > into->bytes ? more->bytes : into->bytes;
	into->instructions = more->instructions > into->instructions ? more->instructions
								     : into->instructions;
	for (size_t j = 0; j < HP_EVIDENCE_WINDOWS; j++)
		into->windows[j] += more->windows[j];
	for (size_t j = 0; j < HP_LANES; j++)
		into->cycles[j] += more->cycles[j];
}

/* Merges blocks of one place, sorted by place. */
static struct hp_error *find_timed(const struct hp_window_stratum *stratum, timed_blocks *blocks)
{
	size_t kept = 0;

	for (size_t i = 0; i < stratum->event_count; i++) {
		const struct hp_counted *item = &stratum->events[i];

		if ((item->kind == HP_COUNTED_BLOCK || item->kind == HP_COUNTED_BLOCK_CYCLES) &&
		    !hp_vector_push(blocks, timed_of(item)))
			return hp_error_create_no_memory();
	}
	if (!blocks->count)
		return NULL;
	qsort(blocks->at, blocks->count, sizeof(*blocks->at), by_place);
	for (size_t i = 1; i < blocks->count; i++) {
		if (by_place(&blocks->at[kept], &blocks->at[i]) != 0)
			blocks->at[++kept] = blocks->at[i];
		else
			add_timed(&blocks->at[kept], &blocks->at[i]);
	}
	blocks->count = kept + 1;
	return NULL;
}

/* HP_PENALTIES: the item belongs to no penalty. */
static enum hp_penalty penalty_of(const struct hp_counted *item)
{
	if (item->kind < HP_COUNTED_EVENT || item->kind >= HP_COUNTED_CYCLES)
		return HP_PENALTIES;
	switch (item->kind - HP_COUNTED_EVENT) {
	case HP_EVENT_MISPREDICTED:
	case HP_EVENT_BRANCH_UNKNOWN:
		return HP_PENALTY_MISPREDICT;
	case HP_EVENT_L1_MISS:
		return HP_PENALTY_L2;
	case HP_EVENT_L2_MISS:
	case HP_EVENT_L2_UNKNOWN:
		return HP_PENALTY_FAR;
	case HP_EVENT_TLB2_MISS:
	case HP_EVENT_TLB2_UNKNOWN:
		return HP_PENALTY_DTLB;
	default:
		return HP_PENALTIES;
	}
}

/* The last block that begins at or before the address and contains it; NULL if none does. */
static const struct timed *block_of(const timed_blocks *blocks, const struct hp_counted *item)
{
	const struct timed wanted = { .image = item->image, .at = item->at.value };
	size_t at = hp_bisect(i, blocks->count, by_place(&blocks->at[i], &wanted) <= 0);

	while (at-- > 0 && blocks->at[at].image == wanted.image &&
	       wanted.at - blocks->at[at].at < BLOCK_BYTES)
		if (wanted.at - blocks->at[at].at < blocks->at[at].bytes)
			return &blocks->at[at];
	return NULL;
}

static void find_met(const struct hp_window_stratum *stratum, const timed_blocks *blocks,
		     struct met met[HP_EVIDENCE_WINDOWS])
{
	for (size_t i = 0; i < stratum->event_count; i++) {
		const struct hp_counted *item = &stratum->events[i];
		enum hp_penalty penalty = penalty_of(item);
		const struct timed *block = penalty < HP_PENALTIES ? block_of(blocks, item) : NULL;
		double all = 0;

		if (!block || !(block->runs > 0))
			continue;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++) {
			all += (double)item->counts[j];
			met[j / HP_WINDOW_PARTS].own[penalty] += (double)item->counts[j];
		}
		for (size_t j = 0; j < HP_EVIDENCE_WINDOWS; j++)
			met[j].mean[penalty] += all * block->windows[j] / block->runs;
	}
}

static double factor_of(const struct met *met, enum hp_penalty penalty)
{
	enum hp_penalty by = penalty == HP_PENALTY_UNPLACED ? HP_PENALTY_FAR : penalty;

	return (met->own[by] + usual_events) / (met->mean[by] + usual_events);
}

static double simulated_in(const timed_blocks *blocks, size_t window)
{
	double sum = 0;

	for (size_t i = 0; i < blocks->count; i++)
		sum += blocks->at[i].windows[window] * blocks->at[i].instructions;
	return sum;
}

static void add_block(struct part parts[HP_EVIDENCE_GROUPS], const struct hp_counted *item,
		      const struct timed *timed)
{
	bool is_known = timed && timed->runs > 0 && timed->cycles[HP_LANE_AS_IS] > 0;

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		double runs = (double)item->counts[i];
		double instructions = runs * item->instructions;

		parts[i].instructions += instructions;
		parts[i].known += is_known ? instructions : 0;
		for (size_t j = 0; j < HP_LANES && is_known; j++)
			parts[i].cycles[j] += runs * timed->cycles[j] / timed->runs;
	}
}

static void find_parts(const struct hp_window_stratum *stratum, const timed_blocks *blocks,
		       struct part parts[HP_EVIDENCE_GROUPS])
{
	for (size_t i = 0; i < stratum->item_count; i++) {
		const struct hp_counted *item = &stratum->items[i];
		struct timed wanted = { .image = item->image, .at = item->at.value };

		if (item->kind == HP_COUNTED_BLOCK && !item->is_relative && blocks->count)
			add_block(parts, item,
				  bsearch(&wanted, blocks->at, blocks->count, sizeof(wanted),
					  by_place));
	}
}

static double all_per_known(const struct part *part)
{
	return part->known > 0 ? part->instructions / part->known : 0;
}

/* Whether more ran than the core's width allows. A program that does the same again and again may
 * have matched a moment of another round, which is not the measured one. */
static bool is_too_fast(const struct part *part)
{
	return all_per_known(part) * part->cycles[HP_LANE_WIDTH] > part->measured;
}

static void add_to_first(struct part *first, struct part *part)
{
	first->instructions += part->instructions;
	first->known += part->known;
	first->measured += part->measured;
	for (size_t i = 0; i < HP_LANES; i++)
		first->cycles[i] += part->cycles[i];
	*part = (struct part){ 0 };
}

/* Where a part of a window is too fast, the moments between its parts are wrong: only all of them
 * together have a known time, and not even they if that is too short, too. */
static void join_wrong(struct part window[HP_WINDOW_PARTS])
{
	bool is_wrong = false;

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		is_wrong |= is_too_fast(&window[i]);
	for (size_t i = 1; i < HP_WINDOW_PARTS && is_wrong; i++)
		add_to_first(&window[0], &window[i]);
	if (is_too_fast(&window[0]))
		window[0] = (struct part){ 0 };
}

static struct hp_error *push_part(const struct part *part, const struct met *met,
				  struct hp_timed_part one, hp_timed_parts *parts)
{
	double scale = all_per_known(part);

	one.width = scale * part->cycles[HP_LANE_WIDTH];
	hp_penalties_split(part->cycles, one.of);
	for (unsigned i = 0; i < HP_PENALTIES; i++)
		one.of[i] *= scale * factor_of(met, (enum hp_penalty)i);
	return hp_vector_push(parts, one) ? NULL : hp_error_create_no_memory();
}

struct hp_error *hp_window_parts(const struct hp_window_stratum *stratum, double cycles_per_ns,
				 size_t first, hp_timed_parts *parts)
{
	_cleanup_free_ struct part *all = calloc(HP_EVIDENCE_GROUPS, sizeof(*all));
	struct met met[HP_EVIDENCE_WINDOWS] = { 0 };
	timed_blocks blocks = { 0 };
	struct hp_error *error = all ? find_timed(stratum, &blocks) : hp_error_create_no_memory();

	if (!error) {
		find_met(stratum, &blocks, met);
		find_parts(stratum, &blocks, all);
		for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
			all[i].measured = (double)stratum->groups[i].time_ns * cycles_per_ns;
		for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i += HP_WINDOW_PARTS)
			join_wrong(&all[i]);
	}
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS && !error; i++) {
		size_t window = i / HP_WINDOW_PARTS;

		if (all[i].measured < least_part_cycles ||
		    !(all[i].known > least_part_known * all[i].instructions))
			continue;
		error = push_part(
			&all[i], &met[window],
			(struct hp_timed_part){
				.window = first + window,
				.is_simulated = simulated_in(&blocks, window) >= least_simulated,
				.measured = all[i].measured,
			},
			parts);
	}
	hp_vector_free(&blocks);
	return error;
}

/* Clock rate of the recording that the command belongs to; 0: it was not measured. */
static double cycles_per_ns(const struct hp_profiles *profiles,
			    const struct hp_window_stratum *stratum)
{
	double found = 0;

	/* An epoch begins with the recording or after it. */
	for (size_t i = 0; i < profiles->epochs.count; i++) {
		const struct hp_epoch_meta *meta = profiles->epochs.at[i].meta;

		if (!(found > 0) || meta->start_ns <= stratum->recording)
			found = hp_epoch_cycles_per_unit(meta, HP_UNIT_NS);
	}
	return found;
}

struct hp_error *hp_inference_penalties(const struct hp_inference *inference,
					struct hp_penalties *penalties)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_error *error = NULL;
	hp_timed_parts parts = { 0 };

	for (size_t i = 0; i < sum->stratum_count && !error; i++)
		if (hp_profiles_matches(inference->profiles->options->comm, sum->strata[i].command))
			error = hp_window_parts(&sum->strata[i],
						cycles_per_ns(inference->profiles, &sum->strata[i]),
						i * HP_EVIDENCE_WINDOWS, &parts);
	if (!error)
		error = hp_penalties_fit(parts.at, parts.count, penalties);
	hp_vector_free(&parts);
	return error;
}
