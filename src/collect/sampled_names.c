/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampled_names.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/image/image.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct offsets {
	HP_VECTOR(uint64_t) all;
};

/* More of one image are a file's that was made to be a burden: then none is kept of it, as some
 * without the others would tell a wrong story. */
enum { MOST_NAME_BYTES = 16 << 20 };

struct names {
	HP_VECTOR(struct hp_symbol) all; /* owned, with their names */
	size_t bytes;
};

static int compare_offsets(const void *left, const void *right)
{
	const uint64_t *a = left;
	const uint64_t *b = right;

	return (*a > *b) - (*a < *b);
}

static bool add_profile(struct offsets *offsets, const struct hp_profile *profile)
{
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];

		if (!hp_vector_reserve(&offsets->all, offsets->all.count + stratum->count_count))
			return false;
		for (size_t j = 0; j < stratum->count_count; j++)
			offsets->all.at[offsets->all.count++] = stratum->counts[j].offset.value;
	}
	return true;
}

static struct hp_error *list_offsets(struct hp_epoch_writer *writer, size_t index,
				     char *const *events, size_t event_count,
				     struct offsets *offsets)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < event_count && !error; i++) {
		struct hp_profile profile;

		error = hp_epoch_writer_read(writer, index, events[i], &profile);
		if (!error && !add_profile(offsets, &profile))
			error = hp_error_create_no_memory();
		hp_profile_clear(&profile);
	}
	if (!error && offsets->all.count)
		qsort(offsets->all.at, offsets->all.count, sizeof(uint64_t), compare_offsets);
	return error;
}

/* Where in the file the part begins that begins `into` before `offset`. One that begins in another
 * segment is not of one piece there. */
static bool find_start(const struct hp_image *image, const struct hp_procedure *part,
		       uint64_t offset, uint64_t into, hp_image_offset *start)
{
	hp_link_address address;

	*start = (hp_image_offset){ offset - into };
	return into <= offset && hp_image_link_address(image, *start, &address) &&
	       address.value == part->address.value && part->size <= UINT64_MAX - start->value;
}

static bool add_name(struct names *names, const struct hp_procedure *part, hp_image_offset start)
{
	const char *name = part->owner->linkage ? part->owner->linkage : part->owner->name;
	size_t length = strnlen(name, MOST_NAME_BYTES);
	struct hp_symbol symbol = { .offset = start, .size = part->size };

	names->bytes += length;
	if (names->bytes >= MOST_NAME_BYTES)
		return true;
	symbol.name = strdup(name);
	if (symbol.name && hp_vector_push(&names->all, symbol))
		return true;
	free(symbol.name);
	return false;
}

/* What only unwind data describes is named by where it is: that says nothing of another build. */
static bool has_name(const struct hp_procedure *part)
{
	return part->owner->source == HP_PROCEDURE_SYMBOL ||
	       part->owner->source == HP_PROCEDURE_PLT;
}

static bool list_names(struct hp_image *image, const struct offsets *offsets, struct names *names)
{
	uint64_t end = 0; /* of what is known already */

	for (size_t i = 0; i < offsets->all.count && names->bytes < MOST_NAME_BYTES; i++) {
		uint64_t offset = offsets->all.at[i];
		const struct hp_procedure *part;
		hp_link_address address;
		hp_image_offset start;

		if (offset < end ||
		    !hp_image_link_address(image, (hp_image_offset){ offset }, &address))
			continue;
		part = hp_image_procedure_at(image, address);
		if (!has_name(part) ||
		    !find_start(image, part, offset, address.value - part->address.value, &start) ||
		    start.value < end)
			continue;
		if (!add_name(names, part, start))
			return false;
		end = start.value + part->size;
	}
	return true;
}

static struct hp_error *keep_names(struct hp_epoch_writer *writer, size_t index,
				   const struct offsets *offsets)
{
	_cleanup_(hp_image_close_scope) struct hp_image *image = NULL;
	struct names names = { 0 };
	struct hp_error *error =
		hp_image_open(hp_epoch_writer_image_id(writer, index), NULL, &image);

	if (error && error->errno_value == ENOMEM)
		return error;
	if (error) {
		hp_error_destroy(error);
		return NULL;
	}
	if (!list_names(image, offsets, &names))
		error = hp_error_create_no_memory();
	else if (names.all.count && names.bytes < MOST_NAME_BYTES)
		error = hp_epoch_writer_symbols(writer, index, names.all.at, names.all.count);
	hp_symbols_free(names.all.at, names.all.count);
	return error;
}

struct hp_error *sampled_names_keep(struct hp_epoch_writer *writer, char *const *events,
				    size_t event_count)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < hp_epoch_writer_image_count(writer) && !error; i++) {
		struct offsets offsets = { 0 };

		/* What was never identified could be any file by now. */
		if (hp_epoch_writer_image_id(writer, i)->kind != HP_IMAGE_FILE ||
		    hp_epoch_writer_image_id(writer, i)->identity.kind == HP_IDENTITY_NONE)
			continue;
		error = list_offsets(writer, i, events, event_count, &offsets);
		if (!error && offsets.all.count)
			error = keep_names(writer, i, &offsets);
		hp_vector_free(&offsets.all);
	}
	return hp_error_wrap(error, "keeping names");
}
