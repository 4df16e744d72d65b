/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	units by name
 * provides	units of procedures that have got another name, or were inlined
 *
 * By what the code is: hashes of basic blocks, of instructions without what a build changes
 * (listing.h). Compilers tell of inlining in the debugging information; of code without it nothing
 * is said.
 */
#include "moved.h"

#include "listing.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

/* What costs less than this share of its side is not looked at. */
static const double least_share = 0.003;
/* Code that has so much in common is the same procedure. */
static const double least_similarity = 0.6;
/* Fewer instructions are the same by chance. */
enum { FEWEST_INSTRUCTIONS = 8 };

/* --- bodies ---------------------------------------------------------------------------------- */

struct body_block {
	uint64_t hash;
	size_t instructions;
};

struct body {
	struct body_block *blocks; /* by hash; owned */
	size_t count;
	size_t instructions;
};

static int compare_blocks(const void *left, const void *right)
{
	const struct body_block *a = left;
	const struct body_block *b = right;

	return (a->hash > b->hash) - (a->hash < b->hash);
}

static uint64_t mix(uint64_t hash, uint64_t next)
{
	return (hash ^ next) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static struct hp_error *body_create(const struct code *code, struct body *body)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct listing listing;
	struct body_block block = { 0 };
	struct hp_error *error;

	*body = (struct body){ 0 };
	if (!arena)
		return hp_error_create_no_memory();
	error = listing_create(arena, code, &listing);
	if (error)
		return error;
	body->blocks = calloc(listing.count + 1, sizeof(*body->blocks));
	if (!body->blocks)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing.count; i++) {
		block.hash = mix(block.hash, listing.at[i].hash);
		block.instructions++;
		if (!listing.at[i].ends_block && i + 1 < listing.count)
			continue;
		body->blocks[body->count++] = block;
		block = (struct body_block){ 0 };
	}
	body->instructions = listing.count;
	qsort(body->blocks, body->count, sizeof(*body->blocks), compare_blocks);
	return NULL;
}

static double overlap(const struct body *a, const struct body *b)
{
	size_t most = a->instructions > b->instructions ? a->instructions : b->instructions;
	size_t shared = 0;

	if (a->instructions < FEWEST_INSTRUCTIONS || b->instructions < FEWEST_INSTRUCTIONS)
		return 0;
	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		int order = compare_blocks(&a->blocks[i], &b->blocks[j]);

		if (!order)
			shared += a->blocks[i].instructions;
		i += order <= 0;
		j += order >= 0;
	}
	return (double)shared / (double)most;
}

struct hp_error *moved_similarity(const struct code *a, const struct code *b, double *similarity)
{
	struct body a_body = { 0 };
	struct body b_body = { 0 };
	struct hp_error *error = body_create(a, &a_body);

	if (!error)
		error = body_create(b, &b_body);
	if (!error)
		*similarity = overlap(&a_body, &b_body);
	free(a_body.blocks);
	free(b_body.blocks);
	return error;
}

/* --- units ----------------------------------------------------------------------------------- */

/* Has the side's code alone, and enough of it to matter. */
static bool is_lone(const struct sides *sides, const struct unit *unit, enum hp_side side)
{
	for (size_t i = 0; i < unit->codes.count; i++)
		if (unit->codes.at[i]->side != side || !unit->codes.at[i]->procedure)
			return false;
	return unit->codes.count && unit->cost[side] >= least_share * sides->at[side].cost;
}

/* `from` becomes part of `into`; base's codes stay before the candidate's. */
static bool join(const struct sides *sides, struct unit *into, struct unit *from)
{
	size_t replicates =
		sides->at[HP_BASE].replicates.count + sides->at[HP_CANDIDATE].replicates.count;
	struct unit *first = from->codes.at[0]->side == HP_BASE ? from : into;
	struct unit *second = first == from ? into : from;
	HP_VECTOR(struct code *) codes = { 0 };

	if (!hp_vector_reserve(&codes, first->codes.count + second->codes.count))
		return false;
	for (size_t i = 0; i < first->codes.count; i++)
		codes.at[codes.count++] = first->codes.at[i];
	for (size_t i = 0; i < second->codes.count; i++)
		codes.at[codes.count++] = second->codes.at[i];
	free(into->codes.at);
	into->codes.at = codes.at;
	into->codes.count = codes.count;
	into->codes.capacity = codes.capacity;
	hp_vector_free(&from->codes);
	for (size_t i = 0; i < replicates; i++)
		into->counts[i] += from->counts[i];
	for (size_t side = 0; side < HP_SIDES; side++) {
		into->cost[side] += from->cost[side];
		into->samples[side] += from->samples[side];
	}
	return true;
}

/* Those that have become part of others have no code any more. */
static void drop_empty(struct sides *sides)
{
	size_t kept = 0;

	for (size_t i = 0; i < sides->units.count; i++) {
		struct unit *unit = &sides->units.at[i];

		if (unit->codes.count)
			sides->units.at[kept++] = *unit;
		else
			hp_vector_free(&unit->absorbed);
	}
	sides->units.count = kept;
}

/* --- other names ----------------------------------------------------------------------------- */

static struct hp_error *find_renamed(struct sides *sides, struct unit *base)
{
	struct unit *best = NULL;
	double most = least_similarity;

	for (size_t i = 0; i < sides->units.count; i++) {
		struct unit *other = &sides->units.at[i];
		double similarity;
		struct hp_error *error;

		if (strcmp(other->image_key, base->image_key) != 0 ||
		    !is_lone(sides, other, HP_CANDIDATE))
			continue;
		error = moved_similarity(base->codes.at[0], other->codes.at[0], &similarity);
		if (error)
			return error;
		if (similarity < most)
			continue;
		most = similarity;
		best = other;
	}
	return !best || join(sides, best, base) ? NULL : hp_error_create_no_memory();
}

/* --- inlining -------------------------------------------------------------------------------- */

/* What the procedure spends in code that was inlined from one of that name. */
static struct hp_error *cost_inlined(const struct code *host, const struct code *callee,
				     double *cost)
{
	_cleanup_free_ hp_link_address *addresses =
		calloc(host->place_count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(host->place_count + 1, sizeof(*frames));
	struct hp_error *error;

	*cost = 0;
	if (!addresses || !frames)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < host->place_count; i++)
		addresses[i].value = host->places[i].address;
	error = hp_image_frames(host->image->file, addresses, host->place_count, true, frames);
	for (size_t i = 0; i < host->place_count && !error; i++)
		for (size_t j = 0; j + 1 < frames[i].count; j++) {
			const char *function = frames[i].frames[j].function;

			if (!function || (strcmp(function, callee->name) != 0 &&
					  strcmp(function, callee->key) != 0))
				continue;
			*cost += host->places[i].cost;
			break;
		}
	return error;
}

static struct hp_error *cost_in_unit(const struct unit *unit, enum hp_side side,
				     const struct code *callee, double *cost)
{
	*cost = 0;
	for (size_t i = 0; i < unit->codes.count; i++) {
		const struct code *code = unit->codes.at[i];
		struct hp_error *error;
		double more;

		if (code->side != side || !code->procedure)
			continue;
		error = cost_inlined(code, callee, &more);
		if (error)
			return error;
		*cost += more;
	}
	return NULL;
}

/* The procedure of the other side that most of it was inlined into. */
static struct hp_error *find_host(struct sides *sides, struct unit *lone, enum hp_side side)
{
	const struct code *callee = lone->codes.at[0];
	enum hp_side other = side == HP_BASE ? HP_CANDIDATE : HP_BASE;
	struct unit *host = NULL;
	double most = 0;

	for (size_t i = 0; i < sides->units.count; i++) {
		struct unit *unit = &sides->units.at[i];
		struct hp_error *error;
		double cost;

		if (unit == lone || strcmp(unit->image_key, lone->image_key) != 0 ||
		    unit->cost[other] < least_share * sides->at[other].cost)
			continue;
		error = cost_in_unit(unit, other, callee, &cost);
		if (error)
			return error;
		if (cost > most) {
			most = cost;
			host = unit;
		}
	}
	if (!host)
		return NULL;
	if (!hp_vector_push(&host->absorbed,
			    (struct absorbed){ callee, side == HP_BASE ? "inlined"
								       : "no longer inlined" }) ||
	    !join(sides, host, lone))
		return hp_error_create_no_memory();
	return NULL;
}

struct hp_error *sides_match_moved(struct sides *sides)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < sides->units.count && !error; i++)
		if (is_lone(sides, &sides->units.at[i], HP_BASE))
			error = find_renamed(sides, &sides->units.at[i]);
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->units.count && !error; i++)
			if (is_lone(sides, &sides->units.at[i], (enum hp_side)side))
				error = find_host(sides, &sides->units.at[i], (enum hp_side)side);
	drop_empty(sides);
	return error;
}
