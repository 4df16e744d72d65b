/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listing.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/isa/insn.h>
#include <hpcprof/isa/text.h>

#include <string.h>

/* The largest procedure in bytes. A larger one is an error in a symbol table, or not worth
 * showing. */
enum { LONGEST_BYTES = 1 << 20, TEXT_BYTES = 256 };

/* --- one instruction ------------------------------------------------------------------------- */

static bool ends_block(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address)
{
	const struct hp_isa *isa = hp_isa_of(machine);
	struct hp_flow flow;

	return isa && isa->flow(bytes, size, address, &flow) && flow.kind != HP_INSN_PLAIN;
}

static bool add_part(struct hp_arena *arena, const struct code *code,
		     const struct hp_procedure *part, size_t *room, struct listing *listing)
{
	struct hp_image *file = code->image->file;
	uint16_t machine = hp_image_machine(file);
	const uint8_t *bytes;
	size_t size = part->size > LONGEST_BYTES
			      ? 0
			      : hp_image_text(file, part->address, part->size, &bytes);
	size_t length;

	for (size_t at = 0; at < size; at += length) {
		struct listed listed = { .address = part->address.value + at };
		char text[TEXT_BYTES];
		bool has_target;

		length = hp_isa_text(machine, HP_SYNTAX_INTEL, bytes + at, size - at,
				     listed.address, text, sizeof(text));
		listed.text = hp_arena_strdup(arena, text);
		has_target = hp_isa_target(machine, bytes + at, size - at, listed.address,
					   &listed.target);
		listed.hash = hp_isa_text_hash(text, has_target);
		listed.ends_block = ends_block(machine, bytes + at, size - at, listed.address);
		if (!length)
			length = hp_isa_step(machine);
		if (!length)
			break;
		listed.size = length;
		if (!listed.text ||
		    !hp_grow((void **)&listing->at, room, listing->count + 1, sizeof(listed)))
			return false;
		listing->at[listing->count++] = listed;
	}
	return true;
}

/* --- all of them ----------------------------------------------------------------------------- */

static int compare_parts(const void *left, const void *right)
{
	const struct hp_procedure *a = *(const struct hp_procedure *const *)left;
	const struct hp_procedure *b = *(const struct hp_procedure *const *)right;

	return (a->address.value > b->address.value) - (a->address.value < b->address.value);
}

/* Adds the procedure's main part, and the others that have samples. */
static struct hp_error *add_parts(struct hp_arena *arena, const struct code *code,
				  struct listing *listing)
{
	HP_VECTOR(const struct hp_procedure *) parts = { 0 };
	bool ok = hp_vector_push(&parts, code->procedure);
	size_t room = 0;

	for (size_t i = 0; i < code->place_count && ok; i++) {
		const struct hp_procedure *part = hp_image_procedure_at(
			code->image->file, (hp_link_address){ code->places[i].address });

		if (part != code->procedure && part != parts.at[parts.count - 1])
			ok = hp_vector_push(&parts, part);
	}
	if (ok)
		qsort(parts.at, parts.count, sizeof(*parts.at), compare_parts);
	for (size_t i = 0; i < parts.count && ok; i++)
		if (!i || parts.at[i] != parts.at[i - 1])
			ok = add_part(arena, code, parts.at[i], &room, listing);
	hp_vector_free(&parts);
	return ok ? NULL : hp_error_create_no_memory();
}

static void mark_targets(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		uint64_t target = listing->at[i].target;
		size_t at = hp_bisect(j, listing->count, listing->at[j].address < target);

		if (target && at < listing->count && listing->at[at].address == target)
			listing->at[at].begins_block = true;
	}
}

/* A sample inside an instruction counts for that instruction. */
static void add_samples(const struct code *code, struct listing *listing)
{
	for (size_t i = 0; i < code->place_count; i++) {
		const struct place *place = &code->places[i];
		size_t after =
			hp_bisect(j, listing->count, listing->at[j].address <= place->address);

		if (!after)
			continue;
		listing->at[after - 1].samples += place->samples;
		listing->at[after - 1].cost += place->cost;
	}
}

static struct hp_error *add_lines(const struct code *code, struct listing *listing)
{
	_cleanup_free_ hp_link_address *addresses = calloc(listing->count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(listing->count + 1, sizeof(*frames));
	struct hp_error *error;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing->count; i++)
		addresses[i].value = listing->at[i].address;
	error = hp_image_frames(code->image->file, addresses, listing->count, false, frames);
	for (size_t i = 0; i < listing->count && !error; i++) {
		if (!frames[i].count)
			continue;
		listing->at[i].file = frames[i].frames[0].file;
		listing->at[i].line = frames[i].frames[0].line;
	}
	return error;
}

struct hp_error *listing_create(struct hp_arena *arena, const struct code *code,
				struct listing *listing)
{
	struct listed *listed = NULL;
	struct hp_error *error;

	*listing = (struct listing){ 0 };
	if (!code || !code->procedure || !code->image->file)
		return NULL;
	error = add_parts(arena, code, listing);
	listed = listing->at;
	if (!error) {
		listing->at = hp_arena_array(arena, listing->count, sizeof(*listed));
		if (listing->count && !listing->at)
			error = hp_error_create_no_memory();
		else if (listing->count)
			memcpy(listing->at, listed, listing->count * sizeof(*listed));
	}
	free(listed);
	if (error)
		return error;
	mark_targets(listing);
	add_samples(code, listing);
	return add_lines(code, listing);
}

/* --- alignment ------------------------------------------------------------------------------- */

struct aligning {
	const struct listed *base;
	const struct listed *candidate;
	long base_count;
	long candidate_count;
	size_t *partners; /* of the candidate's instructions in the middle part */
	size_t first;	  /* index of the base's first instruction in it */
	/* round d begins at d * d: furthest position in the base on diagonals -d ... d */
	long *reached;
};

static long furthest(const struct aligning *aligning, long round, long diagonal)
{
	return aligning->reached[round * round + diagonal + round];
}

/* The diagonal of the previous round from which one comes: the one that leads further. */
static long came_from(const struct aligning *aligning, long round, long diagonal)
{
	if (diagonal == -round ||
	    (diagonal != round && furthest(aligning, round - 1, diagonal - 1) <
					  furthest(aligning, round - 1, diagonal + 1)))
		return diagonal + 1;
	return diagonal - 1;
}

/* The position at which a round begins on a diagonal, before equal instructions are followed. */
static long begin_at(const struct aligning *aligning, long round, long diagonal)
{
	long from;

	if (!round)
		return 0;
	from = came_from(aligning, round, diagonal);
	return furthest(aligning, round - 1, from) + (from < diagonal);
}

static bool is_same(const struct aligning *aligning, long base, long candidate)
{
	return base < aligning->base_count && candidate < aligning->candidate_count &&
	       candidate >= 0 && aligning->base[base].hash == aligning->candidate[candidate].hash;
}

/* Returns the number of differences; -1: too many. A diagonal is the base's index minus the
 * candidate's. A round with an odd number of differences reaches odd diagonals. */
static long search(struct aligning *aligning)
{
	long goal = aligning->base_count - aligning->candidate_count;

	for (long round = 0; round < MOST_DIFFERENCES; round++)
		for (long diagonal = -round; diagonal <= round; diagonal += 2) {
			long at = begin_at(aligning, round, diagonal);

			while (is_same(aligning, at, at - diagonal))
				at++;
			aligning->reached[round * round + diagonal + round] = at;
			if (diagonal == goal && at >= aligning->base_count)
				return round;
		}
	return -1;
}

/* Follows the way backwards, noting equal instructions. */
static void trace(const struct aligning *aligning, long rounds)
{
	long diagonal = aligning->base_count - aligning->candidate_count;

	for (long round = rounds; round >= 0; round--) {
		long begin = begin_at(aligning, round, diagonal);

		for (long at = furthest(aligning, round, diagonal); at-- > begin;)
			aligning->partners[at - diagonal] = aligning->first + (size_t)at;
		if (round)
			diagonal = came_from(aligning, round, diagonal);
	}
}

struct hp_error *listing_align(const struct listing *base, const struct listing *candidate,
			       size_t **partners)
{
	size_t least = base->count < candidate->count ? base->count : candidate->count;
	struct aligning aligning;
	size_t head = 0;
	size_t tail = 0;
	long rounds;

	*partners = malloc((candidate->count + 1) * sizeof(**partners));
	if (!*partners)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < candidate->count; i++)
		(*partners)[i] = SIZE_MAX;
	for (; head < least && base->at[head].hash == candidate->at[head].hash; head++)
		(*partners)[head] = head;
	for (; head + tail < least && base->at[base->count - 1 - tail].hash ==
					      candidate->at[candidate->count - 1 - tail].hash;
	     tail++)
		(*partners)[candidate->count - 1 - tail] = base->count - 1 - tail;
	aligning = (struct aligning){
		.base = base->at + head,
		.candidate = candidate->at + head,
		.base_count = (long)(base->count - head - tail),
		.candidate_count = (long)(candidate->count - head - tail),
		.partners = *partners + head,
		.first = head,
	};
	if (!aligning.base_count || !aligning.candidate_count)
		return NULL;
	aligning.reached =
		malloc((size_t)MOST_DIFFERENCES * MOST_DIFFERENCES * sizeof(*aligning.reached));
	if (!aligning.reached) {
		free(*partners);
		*partners = NULL;
		return hp_error_create_no_memory();
	}
	rounds = search(&aligning);
	if (rounds >= 0)
		trace(&aligning, rounds);
	free(aligning.reached);
	return NULL;
}
