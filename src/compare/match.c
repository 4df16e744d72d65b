/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	codes of both sides
 * provides	units: codes of both sides that are taken for the same procedure
 *
 * This pass matches by image and name. See also namesakes.c and moved.c.
 */
#include "names.h"
#include "namesakes.h"
#include "sides.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

/* --- images ---------------------------------------------------------------------------------- */

const struct side_image *side_image_of(const struct side *side, const char *key)
{
	for (size_t i = 0; i < side->images.count; i++)
		if (strcmp(side->images.at[i]->key, key) == 0)
			return side->images.at[i];
	return NULL;
}

/* The most expensive program whose name the other side does not have; NULL: none. */
static struct side_image *lone_program(const struct side *side, const struct side *other)
{
	struct side_image *best = NULL;

	for (size_t i = 0; i < side->images.count; i++) {
		struct side_image *image = side->images.at[i];

		if (image->id.kind == HP_IMAGE_FILE && !strstr(image->key, ".so") &&
		    !side_image_of(other, image->key) && (!best || image->cost > best->cost))
			best = image;
	}
	return best;
}

/* Two builds of a program often have different names, such as "old" and "new". If each side has one
 * program that the other has not, the two are treated as the same. */
static bool pair_programs(struct sides *sides)
{
	struct side_image *base = lone_program(&sides->at[HP_BASE], &sides->at[HP_CANDIDATE]);
	struct side_image *candidate = lone_program(&sides->at[HP_CANDIDATE], &sides->at[HP_BASE]);
	const char *key;

	if (!base || !candidate)
		return true;
	key = candidate->key;
	/* Several files with one name are treated as one image. */
	for (size_t i = 0; i < sides->at[HP_BASE].images.count; i++) {
		struct side_image *image = sides->at[HP_BASE].images.at[i];

		if (image != base && strcmp(image->key, base->key) == 0)
			image->key = key;
	}
	base->key = key;
	return sides_note(sides, "%s and %s are treated as two builds of one program",
			  base->id.path, candidate->id.path);
}

static struct hp_error *match_images(struct sides *sides)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].images.count; i++) {
			struct side_image *image = sides->at[side].images.at[i];

			image->key = names_image_key(sides->arena, image->id.path);
			if (!image->key)
				return hp_error_create_no_memory();
		}
	return pair_programs(sides) ? NULL : hp_error_create_no_memory();
}

/* If an image's file is missing on one side, its procedures whose names were kept are compared; the
 * rest is one item on both sides. */
static void merge_unreadable(struct sides *sides, const struct side_image *unreadable)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].codes.count; i++) {
			struct code *code = sides->at[side].codes.at[i];

			if (strcmp(code->image->key, unreadable->key) != 0 ||
			    (unreadable->is_by_names && code_has_name(code)))
				continue;
			code->key = "";
			code->name = unreadable->key;
		}
}

static bool is_of_several_builds(const struct sides *sides, const struct side_image *image)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].images.count; i++) {
			const struct side_image *other = sides->at[side].images.at[i];

			if (strcmp(other->key, image->key) == 0 &&
			    !hp_identity_equal(&other->id.identity, &image->id.identity))
				return true;
		}
	return false;
}

/* Code without a name is named after its address, which means other code in another build. Each is
 * an item of its own until its code identifies it. */
static bool part_nameless(struct sides *sides)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].codes.count; i++) {
			struct code *code = sides->at[side].codes.at[i];

			if (code->image->id.kind != HP_IMAGE_FILE || !code->procedure ||
			    !*code->key || code_has_name(code) ||
			    !is_of_several_builds(sides, code->image))
				continue;
			code->key = sides_format(sides->arena, "%s\n%s %zu", code->linkage,
						 hp_side_name(code->side), i);
			if (!code->key)
				return false;
		}
	return true;
}

/* --- procedures ------------------------------------------------------------------------------ */

static int compare_codes(const void *left, const void *right)
{
	const struct code *a = *(const struct code *const *)left;
	const struct code *b = *(const struct code *const *)right;
	int order = code_compare_keys(a, b);

	if (!order)
		order = (a->cost < b->cost) - (a->cost > b->cost);
	return order;
}

static bool same_unit(const struct code *a, const struct code *b)
{
	return strcmp(a->image->key, b->image->key) == 0 && strcmp(a->key, b->key) == 0;
}

static size_t replicate_count(const struct sides *sides)
{
	return sides->at[HP_BASE].replicates.count + sides->at[HP_CANDIDATE].replicates.count;
}

/* Sets the samples of each replicate: the cost divided by the mean weight of a sample. */
static void count_code(const struct sides *sides, struct unit *unit, const struct code *code)
{
	size_t first = code->side == HP_BASE ? 0 : sides->at[HP_BASE].replicates.count;

	for (size_t i = 0; i < code->place_count; i++) {
		const struct place *place = &code->places[i];

		unit->counts[first + place->replicate] +=
			place->cost /
			replicate_weight(&sides->at[code->side].replicates.at[place->replicate]);
	}
	unit->cost[code->side] += code->cost;
	unit->samples[code->side] += code->samples;
}

static struct hp_error *add_to_unit(struct sides *sides, struct code *code)
{
	struct unit *last = sides->units.count ? &sides->units.at[sides->units.count - 1] : NULL;

	if (!last || !same_unit(last->codes.at[0], code)) {
		const struct unit added = {
			.image_key = code->image->key,
			.counts = hp_arena_array(sides->arena, replicate_count(sides),
						 sizeof(double)),
		};

		if (!added.counts || !hp_vector_push(&sides->units, added))
			return hp_error_create_no_memory();
		last = &sides->units.at[sides->units.count - 1];
	}
	if (!hp_vector_push(&last->codes, code))
		return hp_error_create_no_memory();
	count_code(sides, last, code);
	return NULL;
}

struct hp_error *sides_match(struct sides *sides)
{
	size_t base = sides->at[HP_BASE].codes.count;
	size_t count = base + sides->at[HP_CANDIDATE].codes.count;
	_cleanup_free_ struct code **codes = calloc(count + 1, sizeof(struct code *));
	struct hp_error *error;

	if (!codes)
		return hp_error_create_no_memory();
	error = match_images(sides);
	if (error)
		return error;
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].images.count; i++) {
			const struct side_image *image = sides->at[side].images.at[i];

			if (!image->file || image->is_by_names)
				merge_unreadable(sides, image);
		}
	if (!part_nameless(sides))
		return hp_error_create_no_memory();
	error = namesakes_tell_apart(sides);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		codes[i] = i < base ? sides->at[HP_BASE].codes.at[i]
				    : sides->at[HP_CANDIDATE].codes.at[i - base];
	qsort(codes, count, sizeof(struct code *), compare_codes);
	for (size_t i = 0; i < count && !error; i++)
		error = add_to_unit(sides, codes[i]);
	return error;
}
