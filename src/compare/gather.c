/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the samples of both sides, by image and procedure. */
#include "names.h"
#include "sides.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <errno.h>
#include <string.h>

/* --- loading --------------------------------------------------------------------------------- */

/* Images without a file have different names in each epoch. */
static struct hp_error *find_image(struct side *side, size_t replicate, size_t index,
				   const struct hp_image_id *id, struct side_image **found)
{
	struct hp_error *error;

	for (size_t i = 0; i < side->images.count; i++) {
		*found = side->images.at[i];
		if (hp_image_id_compare(&(*found)->id, id) == 0 &&
		    (id->kind == HP_IMAGE_FILE || (*found)->replicate == replicate))
			return NULL;
	}
	*found = calloc(1, sizeof(**found));
	if (!*found)
		return hp_error_create_no_memory();
	(*found)->replicate = replicate;
	(*found)->epoch_image = index;
	error = hp_image_id_copy(id, &(*found)->id);
	if (!error && !hp_vector_push(&side->images, *found)) {
		hp_image_id_clear(&(*found)->id);
		error = hp_error_create_no_memory();
	}
	if (error)
		free(*found);
	return error;
}

static struct hp_error *add_places(struct side *side, size_t at, struct side_image *image,
				   const struct hp_stratum *stratum)
{
	struct replicate *replicate = &side->replicates.at[at];
	double weight = (double)stratum->period * replicate->scale;

	if (!hp_vector_reserve(&image->places, image->places.count + stratum->count_count))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < stratum->count_count; i++) {
		const struct hp_count *count = &stratum->counts[i];
		const struct place place = {
			.address = count->offset.value,
			.replicate = at,
			.samples = count->samples,
			.cost = (double)count->samples * weight,
		};

		image->places.at[image->places.count++] = place;
		image->cost += place.cost;
		replicate->samples += place.samples;
		replicate->cost += place.cost;
	}
	return NULL;
}

static bool is_kernel(const struct hp_image_id *id)
{
	return id->kind == HP_IMAGE_KERNEL || id->kind == HP_IMAGE_MODULE;
}

static struct hp_error *load_image(const struct sides *sides, struct side *side, size_t at,
				   size_t index)
{
	struct replicate *replicate = &side->replicates.at[at];
	struct side_image *image;
	struct hp_profile profile = { 0 };
	struct hp_error *error;

	if (sides->user_part && is_kernel(hp_epoch_image(replicate->epoch, index)))
		return NULL;
	error = hp_epoch_read_profile(replicate->epoch, index, replicate->event, &profile);
	if (!error && profile.stratum_count)
		error = find_image(side, at, index, hp_epoch_image(replicate->epoch, index),
				   &image);
	for (size_t i = 0; i < profile.stratum_count && !error; i++)
		error = add_places(side, at, image, &profile.strata[i]);
	hp_profile_clear(&profile);
	return error;
}

static struct hp_error *load_side(const struct sides *sides, struct side *side)
{
	for (size_t i = 0; i < side->replicates.count; i++) {
		struct replicate *replicate = &side->replicates.at[i];
		const char *stamp = hp_epoch_stamp(replicate->epoch);
		struct hp_error *error = NULL;

		for (size_t j = 0; j < hp_epoch_image_count(replicate->epoch) && !error; j++)
			error = load_image(sides, side, i, j);
		if (error)
			return sides_advise(error);
		if (!replicate->samples)
			return hp_error_advise(
				hp_error_create(
					HP_ERROR_DAMAGED, "epoch %s has no samples of %s", stamp,
					replicate->meta->events[replicate->event].info.name),
				"leave it out, or record it again");
		side->samples += replicate->samples;
		side->cost += replicate->cost;
	}
	return NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Their offsets are run-time addresses of a process, which mean nothing elsewhere. */
static bool has_code(const struct side_image *image)
{
	return image->id.kind != HP_IMAGE_UNKNOWN && image->id.kind != HP_IMAGE_ANON;
}

/* Whether these symbols, which are sorted, cover enough of one replicate's samples. */
static bool are_enough(const struct side_image *image, size_t replicate,
		       const struct hp_symbol *symbols, size_t count)
{
	double whole = 0;
	double named = 0;

	for (size_t i = 0; i < image->places.count; i++) {
		const struct place *place = &image->places.at[i];
		size_t after;

		if (place->replicate != replicate)
			continue;
		whole += place->cost;
		after = hp_bisect(j, count, symbols[j].offset.value <= place->address);
		if (after &&
		    place->address - symbols[after - 1].offset.value < symbols[after - 1].size)
			named += place->cost;
	}
	return named >= least_named * whole;
}

/* Adds the names that an epoch has kept for its samples. `is_named` becomes false if these are too
 * few. */
static struct hp_error *add_kept_names(const struct side *side, size_t replicate,
				       struct side_image *image, bool *is_named)
{
	struct hp_epoch *epoch = side->replicates.at[replicate].epoch;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < hp_epoch_image_count(epoch) && !error; i++) {
		struct hp_symbol *symbols;
		size_t count;

		if (hp_image_id_compare(hp_epoch_image(epoch, i), &image->id) != 0)
			continue;
		error = hp_epoch_read_symbols(epoch, i, &symbols, &count, NULL);
		if (error)
			break;
		if (!hp_grow((void **)&image->symbols, &image->symbol_room,
			     image->symbol_count + count, sizeof(*symbols))) {
			hp_symbols_free(symbols, count);
			return hp_error_create_no_memory();
		}
		*is_named = *is_named && are_enough(image, replicate, symbols, count);
		if (count)
			memcpy(image->symbols + image->symbol_count, symbols,
			       count * sizeof(*symbols));
		image->symbol_count += count;
		free(symbols);
	}
	return error;
}

static bool has_bodies(const struct side_image *image)
{
	for (size_t i = 0; i < image->symbol_count; i++)
		if (image->symbols[i].body)
			return true;
	return false;
}

static bool has_image(const struct side_image *image, size_t replicate)
{
	for (size_t i = 0; i < image->places.count; i++)
		if (image->places.at[i].replicate == replicate)
			return true;
	return false;
}

static struct hp_error *add_excerpt(struct hp_epoch *epoch, struct side_image *image)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < hp_epoch_image_count(epoch) && !error; i++) {
		struct hp_excerpt excerpt;
		struct hp_error *lost = NULL;

		if (hp_image_id_compare(hp_epoch_image(epoch, i), &image->id) != 0)
			continue;
		error = hp_epoch_read_excerpt(epoch, i, &excerpt, &lost);
		if (!error && (lost || !excerpt.ranges.count))
			error = hp_error_create(HP_ERROR_DAMAGED,
						"the epochs do not contain its code");
		if (!error)
			error = hp_excerpt_add(&image->excerpt, &excerpt);
		hp_error_destroy(lost);
		hp_excerpt_clear(&excerpt);
	}
	return error;
}

/* Collects the code that the epochs kept, if each replicate with samples has some. */
static struct hp_error *collect_excerpts(const struct side *side, struct side_image *image,
					 bool *is_whole)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < side->replicates.count && !error; i++)
		if (has_image(image, i))
			error = add_excerpt(side->replicates.at[i].epoch, image);
	*is_whole = !error && image->excerpt.ranges.count;
	if (!*is_whole)
		hp_excerpt_clear(&image->excerpt);
	if (!error || error->class != HP_ERROR_DAMAGED)
		return error;
	hp_error_destroy(error);
	return NULL;
}

/* Opens it like a file, if the epochs kept enough of its code. */
static struct hp_error *open_excerpt(struct sides *sides, const struct side *side,
				     struct side_image *image, const char *problem)
{
	struct hp_image_options options = { .kept_only = true, .excerpt = &image->excerpt };
	bool is_whole;
	struct hp_error *error = collect_excerpts(side, image, &is_whole);

	if (error || !is_whole)
		return error;
	if (!sides_note(sides, "%s; the names and code that the epochs contain are used", problem))
		return hp_error_create_no_memory();
	return hp_image_open(&image->id, &options, &image->file);
}

/* Opens it without the file, by what the epochs kept. `problem`: why the file cannot be read. */
static struct hp_error *open_by_names(struct sides *sides, struct side *side,
				      struct side_image *image, const char *problem)
{
	struct hp_image_options options = { .kept_only = true };
	struct hp_error *error = NULL;
	const char *how = "as a whole";
	bool is_named = true;

	for (size_t i = 0; i < side->replicates.count && !error; i++)
		error = add_kept_names(side, i, image, &is_named);
	if (error)
		return error;
	if (is_named)
		how = has_bodies(image)
			      ? "by the names and code of procedures that the epochs contain"
			      : "by the names that the epochs contain";
	if (!sides_note(sides, "%s; it is compared %s", problem, how))
		return hp_error_create_no_memory();
	if (!is_named)
		return NULL;
	image->is_by_names = true;
	options.symbols = image->symbols;
	options.symbol_count = image->symbol_count;
	return hp_image_open(&image->id, &options, &image->file);
}

static struct hp_error *open_image(struct sides *sides, struct side *side, struct side_image *image)
{
	struct hp_epoch *epoch = side->replicates.at[image->replicate].epoch;
	struct hp_image_options options = {
		.symfs = sides->options->symfs,
		.no_debuginfo = sides->options->no_debuginfo,
	};
	struct hp_error *unread;
	struct hp_error *error = NULL;

	if (sides->by_names && image->id.kind == HP_IMAGE_FILE)
		return open_by_names(sides, side, image, image->id.path);
	if (image->id.kind != HP_IMAGE_FILE)
		error = hp_epoch_read_symbols(epoch, image->epoch_image, &image->symbols,
					      &image->symbol_count, NULL);
	if (error)
		return error;
	options.symbols = image->symbols;
	options.symbol_count = image->symbol_count;
	if (image->id.kind != HP_IMAGE_FILE)
		options.bytes_path = hp_epoch_bytes_path(epoch, image->epoch_image);
	error = hp_image_open(&image->id, &options, &image->file);
	if (!error)
		return NULL;
	image->file = NULL;
	if (error->errno_value == ENOMEM)
		return error;
	unread = error;
	error = NULL;
	if (image->id.kind == HP_IMAGE_FILE)
		error = open_excerpt(sides, side, image, unread->message);
	if (!error && !image->file)
		error = open_by_names(sides, side, image, unread->message);
	hp_error_destroy(unread);
	return error;
}

/* The image's index in the epoch; the number of images if it has no samples there. */
static size_t index_in(struct hp_epoch *epoch, const struct hp_image_id *id)
{
	size_t count = hp_epoch_image_count(epoch);
	size_t i = 0;

	while (i < count && hp_image_id_compare(hp_epoch_image(epoch, i), id) != 0)
		i++;
	return i;
}

struct hp_error *sides_image(struct sides *sides, enum hp_side at, size_t replicate,
			     const struct hp_image_id *id, struct side_image **image)
{
	struct side *side = &sides->at[at];
	struct hp_epoch *epoch = side->replicates.at[replicate].epoch;
	size_t index = index_in(epoch, id);
	size_t images = side->images.count;
	size_t notes = sides->notes.count;
	struct hp_error *error;

	*image = NULL;
	if (index == hp_epoch_image_count(epoch) && id->kind != HP_IMAGE_FILE)
		return NULL;
	error = find_image(side, replicate, index, id, image);
	if (error || side->images.count == images)
		return error;
	(*image)->key = names_image_key(sides->arena, (*image)->id.path);
	if (!(*image)->key)
		return hp_error_create_no_memory();
	error = open_image(sides, side, *image);
	/* Nothing of it is compared, so its notes are removed. */
	sides->notes.count = notes;
	return error;
}

const struct hp_procedure *side_image_procedure(const struct side_image *image, uint64_t offset,
						hp_link_address *address)
{
	if (!image->file || !has_code(image) ||
	    !hp_image_link_address(image->file, (hp_image_offset){ offset }, address))
		return NULL;
	return hp_image_procedure_at(image->file, *address)->owner;
}

/* --- procedures ------------------------------------------------------------------------------ */

struct located {
	struct place place;
	const struct hp_procedure *procedure;
};

HP_ORDER_BY_TWO(compare_places, struct place, address, replicate);

static uint64_t address_of(const struct hp_procedure *procedure)
{
	return procedure ? procedure->address.value : UINT64_MAX;
}

static int compare_located(const void *left, const void *right)
{
	const struct located *a = left;
	const struct located *b = right;
	uint64_t a_at = address_of(a->procedure);
	uint64_t b_at = address_of(b->procedure);

	if (a_at != b_at)
		return a_at < b_at ? -1 : 1;
	return compare_places(&a->place, &b->place);
}

/* Places are in order of address, so most belong to the same procedure as the one before. */
static void locate(struct side_image *image, struct located *located)
{
	const struct hp_procedure *part = NULL;

	qsort(image->places.at, image->places.count, sizeof(*image->places.at), compare_places);
	for (size_t i = 0; i < image->places.count; i++) {
		hp_image_offset offset = { image->places.at[i].address };
		hp_link_address address;

		located[i].place = image->places.at[i];
		if (!image->file || !has_code(image) ||
		    !hp_image_link_address(image->file, offset, &address))
			continue;
		located[i].place.address = address.value;
		if (!part || address.value < part->address.value ||
		    address.value - part->address.value >= part->size)
			part = hp_image_procedure_at(image->file, address);
		located[i].procedure = part->owner;
	}
}

static struct code *add_code(struct sides *sides, enum hp_side side, struct side_image *image,
			     const struct hp_procedure *procedure)
{
	struct code *code = hp_arena_alloc(sides->arena, sizeof(*code));

	if (!code || !hp_vector_push(&sides->at[side].codes, code))
		return NULL;
	*code = (struct code){ .side = side, .image = image, .procedure = procedure };
	code->name = procedure ? names_shown(sides->arena, procedure->name)
			       : names_base(image->id.path);
	code->function = code->name;
	code->linkage = procedure ? names_key(sides->arena, procedure->linkage ? procedure->linkage
									       : procedure->name)
				  : "";
	code->key = code->linkage;
	return code->name && code->key ? code : NULL;
}

static struct hp_error *split(struct sides *sides, enum hp_side side, struct side_image *image)
{
	_cleanup_free_ struct located *located = calloc(image->places.count + 1, sizeof(*located));
	struct code *code = NULL;

	if (!located)
		return hp_error_create_no_memory();
	locate(image, located);
	qsort(located, image->places.count, sizeof(*located), compare_located);
	for (size_t i = 0; i < image->places.count; i++) {
		struct place *place = &image->places.at[i];

		*place = located[i].place;
		if (!code || located[i].procedure != code->procedure) {
			code = add_code(sides, side, image, located[i].procedure);
			if (!code)
				return hp_error_create_no_memory();
			code->places = place;
		}
		code->place_count++;
		code->samples += place->samples;
		code->cost += place->cost;
	}
	return NULL;
}

struct hp_error *sides_gather(struct sides *sides)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < HP_SIDES && !error; i++) {
		struct side *side = &sides->at[i];

		error = load_side(sides, side);
		for (size_t j = 0; j < side->images.count && !error; j++) {
			error = open_image(sides, side, side->images.at[j]);
			if (!error)
				error = split(sides, (enum hp_side)i, side->images.at[j]);
		}
	}
	return error;
}
