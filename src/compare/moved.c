/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	units by name
 * provides	units of procedures that were renamed or inlined
 *
 * Procedures are matched by their code: hashes of sequences of instructions, without what differs
 * from build to build. Inlining is known from debugging information; without it nothing is
 * reported.
 */
#include "moved.h"

#include "listing.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <math.h>
#include <string.h>

/* --- bodies ---------------------------------------------------------------------------------- */

/* The body that an epoch kept at this offset, which is the address if there is no file. */
static const struct hp_body *kept_body(const struct code *code)
{
	const struct side_image *image = code->image;

	for (size_t i = 0; i < image->symbol_count; i++)
		if (image->symbols[i].offset.value == code->procedure->address.value &&
		    image->symbols[i].body)
			return image->symbols[i].body;
	return NULL;
}

void moved_body(const struct code *code, struct hp_body *body)
{
	const struct hp_body *kept;

	*body = (struct hp_body){ 0 };
	if (!code->procedure || !code->image->file)
		return;
	if (!code->image->is_by_names) {
		hp_image_body(code->image->file, code->procedure, body);
		return;
	}
	kept = kept_body(code);
	if (kept)
		*body = *kept;
}

/* --- units ----------------------------------------------------------------------------------- */

/* The unit has code on this side only, and enough of it to matter. */
static bool is_lone(const struct sides *sides, const struct unit *unit, enum hp_side side)
{
	for (size_t i = 0; i < unit->codes.count; i++)
		if (unit->codes.at[i]->side != side || !unit->codes.at[i]->procedure)
			return false;
	return unit->codes.count && unit->cost[side] >= HP_BODY_LEAST_SHARE * sides->at[side].cost;
}

/* Merges `from` into `into`. The base's codes stay before the candidate's. */
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

/* Removes units that were merged into others. */
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

/* A unit that only the candidate has. */
struct newcomer {
	size_t unit;
	struct hp_body body;
};

struct newcomers {
	HP_VECTOR(struct newcomer) all;
};

static bool list_newcomers(const struct sides *sides, struct newcomers *newcomers)
{
	bool ok = true;

	for (size_t i = 0; i < sides->units.count && ok; i++) {
		struct newcomer newcomer = { .unit = i };

		if (!is_lone(sides, &sides->units.at[i], HP_CANDIDATE))
			continue;
		moved_body(sides->units.at[i].codes.at[0], &newcomer.body);
		ok = hp_vector_push(&newcomers->all, newcomer);
	}
	return ok;
}

/* Merges the newcomer of the same image with the most similar code into this unit. */
static bool find_renamed(struct sides *sides, const struct newcomers *newcomers, struct unit *base)
{
	struct unit *best = NULL;
	double most = MOVED_LEAST_SIMILARITY;
	struct hp_body body;

	moved_body(base->codes.at[0], &body);
	for (size_t i = 0; i < newcomers->all.count; i++) {
		struct unit *other = &sides->units.at[newcomers->all.at[i].unit];
		double similarity = hp_body_similarity(&body, &newcomers->all.at[i].body);

		/* A newcomer that was merged already is no longer alone. */
		if (similarity < most || strcmp(other->image_key, base->image_key) != 0 ||
		    !is_lone(sides, other, HP_CANDIDATE))
			continue;
		most = similarity;
		best = other;
	}
	return !best || join(sides, best, base);
}

static struct hp_error *match_renamed(struct sides *sides)
{
	struct newcomers newcomers = { 0 };
	bool ok = list_newcomers(sides, &newcomers);

	for (size_t i = 0; i < sides->units.count && newcomers.all.count && ok; i++)
		if (is_lone(sides, &sides->units.at[i], HP_BASE))
			ok = find_renamed(sides, &newcomers, &sides->units.at[i]);
	hp_vector_free(&newcomers.all);
	return ok ? NULL : hp_error_create_no_memory();
}

/* --- inlining -------------------------------------------------------------------------------- */

/* What one unit spends, on one side, in code inlined from functions of one name. */
struct inlined {
	const char *function; /* owned by the image */
	size_t unit;
	enum hp_side side;
	double cost;
};

struct inlining {
	HP_VECTOR(struct inlined) all; /* sorted by function */
};

static int compare_inlined(const void *left, const void *right)
{
	const struct inlined *a = left;
	const struct inlined *b = right;

	return strcmp(a->function, b->function);
}

/* Adds each function once per place, even if it is inlined in itself. */
static bool add_frames(struct inlining *inlining, const struct hp_frames *frames, size_t first,
		       const struct inlined *cost)
{
	for (size_t i = 0; i + 1 < frames->count; i++) {
		const char *function = frames->frames[i].function;
		struct inlined added = *cost;
		bool known = !function;

		for (size_t j = 0; j < i && !known; j++)
			known = frames->frames[j].function &&
				strcmp(frames->frames[j].function, function) == 0;
		for (size_t j = first; j < inlining->all.count && !known; j++)
			if (strcmp(inlining->all.at[j].function, function) == 0) {
				inlining->all.at[j].cost += cost->cost;
				known = true;
			}
		added.function = function;
		if (!known && !hp_vector_push(&inlining->all, added))
			return false;
	}
	return true;
}

static struct hp_error *add_inlined(struct inlining *inlining, const struct code *code, size_t unit)
{
	_cleanup_free_ hp_link_address *addresses =
		calloc(code->place_count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(code->place_count + 1, sizeof(*frames));
	size_t first = inlining->all.count;
	struct hp_error *error;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < code->place_count; i++)
		addresses[i].value = code->places[i].address;
	error = hp_image_frames(code->image->file, addresses, code->place_count, true, frames);
	for (size_t i = 0; i < code->place_count && !error; i++) {
		const struct inlined cost = { NULL, unit, code->side, code->places[i].cost };

		if (!add_frames(inlining, &frames[i], first, &cost))
			error = hp_error_create_no_memory();
	}
	return error;
}

/* Lists it for all units that matter. */
static struct hp_error *list_inlined(const struct sides *sides, struct inlining *inlining)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < sides->units.count; i++) {
		const struct unit *unit = &sides->units.at[i];

		for (size_t j = 0; j < unit->codes.count && !error; j++) {
			const struct code *code = unit->codes.at[j];

			if (code->procedure &&
			    unit->cost[code->side] >=
				    HP_BODY_LEAST_SHARE * sides->at[code->side].cost)
				error = add_inlined(inlining, code, i);
		}
	}
	if (!error && inlining->all.count)
		qsort(inlining->all.at, inlining->all.count, sizeof(*inlining->all.at),
		      compare_inlined);
	return error;
}

/* The unit of the same image that contains most of the function on that side; NULL: none. */
static struct unit *costliest_host(const struct sides *sides, const struct inlining *inlining,
				   const struct unit *lone, enum hp_side side, const char *function)
{
	size_t first = hp_bisect(i, inlining->all.count,
				 strcmp(inlining->all.at[i].function, function) < 0);
	struct unit *host = NULL;
	double most = 0;

	for (size_t i = first; i < inlining->all.count; i++) {
		const struct inlined *inlined = &inlining->all.at[i];
		struct unit *unit = &sides->units.at[inlined->unit];

		if (strcmp(inlined->function, function) != 0)
			break;
		if (inlined->side != side || unit == lone || !unit->codes.count ||
		    strcmp(unit->image_key, lone->image_key) != 0 || inlined->cost <= most)
			continue;
		most = inlined->cost;
		host = unit;
	}
	return host;
}

/* Merges the unit into the procedure of the other side that contains most of it inlined. */
static struct hp_error *find_host(struct sides *sides, const struct inlining *inlining,
				  struct unit *lone, enum hp_side side)
{
	const struct code *callee = lone->codes.at[0];
	enum hp_side other = side == HP_BASE ? HP_CANDIDATE : HP_BASE;
	struct unit *host = costliest_host(sides, inlining, lone, other, callee->function);

	if (!host)
		host = costliest_host(sides, inlining, lone, other, callee->linkage);
	if (!host)
		return NULL;
	if (!hp_vector_push(&host->absorbed,
			    (struct absorbed){ callee, side == HP_BASE ? "inlined"
								       : "no longer inlined" }) ||
	    !join(sides, host, lone))
		return hp_error_create_no_memory();
	return NULL;
}

/* --- inlined in part ------------------------------------------------------------------------- */

/* A unit's cost on a side, for one run, or as a share of the program. */
static double per_run(const struct sides *sides, enum hp_side side, double cost)
{
	const struct side *at = &sides->at[side];
	double exposure = 0;

	if (sides->options->is_relative)
		return cost / at->cost;
	for (size_t i = 0; i < at->replicates.count; i++)
		exposure += at->replicates.at[i].exposure;
	return cost / exposure;
}

/* If both sides are one build, they have the same copies. */
static bool is_of_one_build(const struct unit *unit)
{
	return unit->codes.count &&
	       hp_identity_equal(&unit->codes.at[0]->image->id.identity,
				 &unit->codes.at[unit->codes.count - 1]->image->id.identity);
}

/* By how much more the unit costs in the candidate; 0 if that is too little to matter. */
static double growth(const struct sides *sides, const struct unit *unit)
{
	double base = per_run(sides, HP_BASE, unit->cost[HP_BASE]);
	double more = per_run(sides, HP_CANDIDATE, unit->cost[HP_CANDIDATE]) - base;
	double least = least_of_program * per_run(sides, HP_BASE, sides->at[HP_BASE].cost);

	return !is_of_one_build(unit) && fabs(more) >= fmax(least, least_change * base) ? more : 0;
}

/* The most expensive code of a side that has a name and known inlining; NULL: none. */
static const struct code *known_code(const struct unit *unit, enum hp_side side)
{
	for (size_t i = 0; i < unit->codes.count; i++) {
		const struct code *code = unit->codes.at[i];

		if (code->side == side && code_has_name(code) && code->image->file &&
		    !code->image->is_by_names && hp_image_has_lines(code->image->file))
			return code;
	}
	return NULL;
}

/* Counts instructions that are inlined from the function. */
static struct hp_error *count_copies(const struct code *code, const char *function, size_t *count)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	_cleanup_free_ hp_link_address *addresses = NULL;
	_cleanup_free_ struct hp_frames *frames = NULL;
	struct listing listing = { 0 };
	struct hp_error *error = arena ? listing_create(arena, code, &listing)
				       : hp_error_create_no_memory();

	*count = 0;
	if (error)
		return error;
	addresses = calloc(listing.count + 1, sizeof(*addresses));
	frames = calloc(listing.count + 1, sizeof(*frames));
	if (!addresses || !frames)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing.count; i++)
		addresses[i].value = listing.at[i].address;
	error = hp_image_frames(code->image->file, addresses, listing.count, true, frames);
	for (size_t i = 0; i < listing.count && !error; i++)
		for (size_t j = 0; j + 1 < frames[i].count; j++)
			if (frames[i].frames[j].function &&
			    strcmp(frames[i].frames[j].function, function) == 0) {
				(*count)++;
				break;
			}
	return error;
}

/* Whether this side's host contains more inlined code of the function than the other side's. */
static struct hp_error *has_more_copies(const struct unit *host, enum hp_side side,
					const char *function, bool *has_more)
{
	size_t counts[HP_SIDES] = { 0 };
	struct hp_error *error = NULL;

	*has_more = false;
	for (size_t i = 0; i < HP_SIDES && !error; i++) {
		const struct code *code = known_code(host, (enum hp_side)i);

		if (!code)
			return NULL;
		error = count_copies(code, function, &counts[i]);
	}
	*has_more = !error && counts[side] > counts[!side];
	return error;
}

/* By how much more a host spends in its copies of the function on that side than on the other. */
static double more_inlined(const struct sides *sides, const struct inlining *inlining,
			   const struct unit *host, enum hp_side side, const char *function)
{
	size_t first = hp_bisect(i, inlining->all.count,
				 strcmp(inlining->all.at[i].function, function) < 0);
	double more = 0;

	for (size_t i = first; i < inlining->all.count; i++) {
		const struct inlined *inlined = &inlining->all.at[i];
		double cost = per_run(sides, inlined->side, inlined->cost);

		if (strcmp(inlined->function, function) != 0)
			break;
		if (&sides->units.at[inlined->unit] == host)
			more += inlined->side == side ? cost : -cost;
	}
	return more;
}

static bool absorb(const struct sides *sides, struct unit *host, struct unit *callee,
		   const char *how)
{
	for (size_t i = 0; i < callee->codes.count; i++)
		if (!hp_vector_push(&host->absorbed, (struct absorbed){ callee->codes.at[i], how }))
			return false;
	return join(sides, host, callee);
}

/* Merges a procedure that costs less with a caller that has gained copies which cost about as much;
 * or one that costs more with a caller that has lost them. */
static struct hp_error *find_partial_host(struct sides *sides, const struct inlining *inlining,
					  struct unit *callee)
{
	double more = growth(sides, callee);
	enum hp_side side = more < 0 ? HP_CANDIDATE : HP_BASE;
	const struct code *code = known_code(callee, side);
	struct unit *host = NULL;
	double most = least_of_change * fabs(more);
	bool has_more = false;
	struct hp_error *error;

	if (!(fabs(more) > 0) || !code || !known_code(callee, !side))
		return NULL;
	for (size_t i = 0; i < sides->units.count; i++) {
		struct unit *unit = &sides->units.at[i];
		double found;

		if (unit == callee || strcmp(unit->image_key, callee->image_key) != 0)
			continue;
		found = more_inlined(sides, inlining, unit, side, code->function);
		if (!(found > most))
			continue;
		most = found;
		host = unit;
	}
	if (!host)
		return NULL;
	error = has_more_copies(host, side, code->function, &has_more);
	if (!error && has_more &&
	    !absorb(sides, host, callee, side == HP_CANDIDATE ? "inlined in part" : "inlined less"))
		error = hp_error_create_no_memory();
	return error;
}

static struct hp_error *match_partly_inlined(struct sides *sides, const struct inlining *inlining)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < sides->units.count && !error; i++)
		if (sides->units.at[i].codes.count && !sides->units.at[i].absorbed.count)
			error = find_partial_host(sides, inlining, &sides->units.at[i]);
	return error;
}

/* Whether something in one image costs more and something else less, as it does if code was
 * moved. */
static bool has_shift(const struct sides *sides)
{
	const char *image_key = NULL;
	bool grew = false;
	bool shrank = false;

	for (size_t i = 0; i < sides->units.count; i++) {
		const struct unit *unit = &sides->units.at[i];
		double more = growth(sides, unit);

		if (!image_key || strcmp(image_key, unit->image_key) != 0)
			grew = shrank = false;
		image_key = unit->image_key;
		grew = grew || more > 0;
		shrank = shrank || more < 0;
		if (grew && shrank)
			return true;
	}
	return false;
}

static struct hp_error *match_inlined(struct sides *sides)
{
	struct inlining inlining = { 0 };
	struct hp_error *error = list_inlined(sides, &inlining);

	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->units.count && !error; i++)
			if (is_lone(sides, &sides->units.at[i], (enum hp_side)side))
				error = find_host(sides, &inlining, &sides->units.at[i],
						  (enum hp_side)side);
	if (!error)
		error = match_partly_inlined(sides, &inlining);
	hp_vector_free(&inlining.all);
	return error;
}

static bool has_lone(const struct sides *sides)
{
	for (size_t i = 0; i < sides->units.count; i++)
		for (size_t side = 0; side < HP_SIDES; side++)
			if (is_lone(sides, &sides->units.at[i], (enum hp_side)side))
				return true;
	return false;
}

/* --- the rest -------------------------------------------------------------------------------- */

/* The unit exists on one side only, is named after an address (match.c), and was not identified by
 * its code. */
static bool is_unknown(const struct unit *unit)
{
	for (size_t i = 0; i < unit->codes.count; i++) {
		const struct code *code = unit->codes.at[i];

		if (code_has_name(code) || code->key == code->linkage ||
		    code->side != unit->codes.at[0]->side)
			return false;
	}
	return unit->codes.count;
}

/* Merges code without a name that nothing identifies into one unit per image. Otherwise it would be
 * new on one side and gone from the other. */
static bool merge_unknown(struct sides *sides)
{
	struct unit *rest = NULL;

	for (size_t i = 0; i < sides->units.count; i++) {
		struct unit *unit = &sides->units.at[i];

		if (!is_unknown(unit))
			continue;
		for (size_t j = 0; j < unit->codes.count; j++) {
			struct code *code = unit->codes.at[j];

			code->key = "";
			code->name = sides_format(sides->arena, "%s, code without names",
						  unit->image_key);
			if (!code->name)
				return false;
		}
		if (!rest || strcmp(rest->image_key, unit->image_key) != 0)
			rest = unit;
		else if (!join(sides, rest, unit))
			return false;
	}
	return true;
}

struct hp_error *sides_match_moved(struct sides *sides)
{
	struct hp_error *error = match_renamed(sides);

	/* Examining inlined code takes a while, so it is done only then. */
	if (!error && (has_lone(sides) || has_shift(sides)))
		error = match_inlined(sides);
	if (!error && !merge_unknown(sides))
		error = hp_error_create_no_memory();
	drop_empty(sides);
	return error;
}
