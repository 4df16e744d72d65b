/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image.h"

#include <hpcprof/base/search.h>

#include <string.h>

static int compare_owners(const void *a, const void *b)
{
	const struct hp_procedure *left = *(const struct hp_procedure *const *)a;
	const struct hp_procedure *right = *(const struct hp_procedure *const *)b;
	uint64_t left_key = left->owner->address.value;
	uint64_t right_key = right->owner->address.value;

	if (left_key != right_key)
		return left_key < right_key ? -1 : 1;
	return (left->address.value > right->address.value) -
	       (left->address.value < right->address.value);
}

struct hp_error *hp_cfg_image_create(struct hp_image *image, struct hp_cfg_image **created)
{
	_cleanup_(hp_cfg_image_destroy_scope) struct hp_cfg_image *shared = NULL;
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(image));

	*created = NULL;
	if (!isa)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "code of machine %u cannot be analysed",
				       hp_image_machine(image));
	shared = calloc(1, sizeof(*shared));
	if (!shared)
		return hp_error_create_no_memory();
	shared->image = image;
	shared->isa = isa;
	hp_image_parts(image, &shared->procedures, &shared->count);
	shared->by_owner = calloc(shared->count + 1, sizeof(struct hp_procedure *));
	shared->returns = calloc(shared->count + 1, sizeof(*shared->returns));
	if (!shared->by_owner || !shared->returns)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < shared->count; i++)
		shared->by_owner[i] = shared->procedures[i];
	if (shared->count > 1)
		qsort(shared->by_owner, shared->count, sizeof(struct hp_procedure *),
		      compare_owners);
	*created = hp_steal(shared);
	return NULL;
}

void hp_cfg_image_destroy(struct hp_cfg_image *image)
{
	if (!image)
		return;
	free(image->by_owner);
	free(image->by_name);
	free(image->returns);
	free(image->jumps);
	free(image);
}

HP_ORDER_BY_TWO(compare_jumps, struct hp_known_jump, from.value, to.value);

struct hp_error *hp_cfg_image_know_jumps(struct hp_cfg_image *image,
					 const struct hp_known_jump *jumps, size_t count)
{
	struct hp_known_jump *copy = calloc(count + 1, sizeof(*copy));

	if (!copy)
		return hp_error_create_no_memory();
	if (count)
		memcpy(copy, jumps, count * sizeof(*copy));
	qsort(copy, count, sizeof(*copy), compare_jumps);
	free(image->jumps);
	image->jumps = copy;
	image->jump_count = count;
	return NULL;
}

void image_jumps_from(const struct hp_cfg_image *image, uint64_t from,
		      const struct hp_known_jump **jumps, size_t *count)
{
	size_t first = hp_bisect(i, image->jump_count, image->jumps[i].from.value < from);
	size_t end;

	for (end = first; end < image->jump_count && image->jumps[end].from.value == from; end++)
		;
	*count = end - first;
	*jumps = *count ? image->jumps + first : NULL;
}

const struct hp_procedure *image_part_at(const struct hp_cfg_image *image, uint64_t address,
					 size_t *index)
{
	size_t after = hp_bisect(i, image->count, image->procedures[i]->address.value <= address);
	const struct hp_procedure *part;

	if (after == 0)
		return NULL;
	part = image->procedures[after - 1];
	*index = after - 1;
	return address - part->address.value < part->size ? part : NULL;
}

void image_parts_of(const struct hp_cfg_image *image, const struct hp_procedure *owner,
		    const struct hp_procedure *const **parts, size_t *count)
{
	uint64_t key = owner->address.value;
	size_t first = hp_bisect(i, image->count, image->by_owner[i]->owner->address.value < key);
	size_t end;

	for (end = first; end < image->count && image->by_owner[end]->owner == owner; end++)
		;
	*parts = image->by_owner + first;
	*count = end - first;
}

static int compare_names(const void *a, const void *b)
{
	const struct hp_procedure *left = *(const struct hp_procedure *const *)a;
	const struct hp_procedure *right = *(const struct hp_procedure *const *)b;
	int order = strcmp(left->linkage, right->linkage);

	if (order)
		return order;
	return (left->address.value > right->address.value) -
	       (left->address.value < right->address.value);
}

static bool sort_names(struct hp_cfg_image *image)
{
	image->by_name = calloc(image->count + 1, sizeof(struct hp_procedure *));
	if (!image->by_name)
		return false;
	image->named_count = 0;
	for (size_t i = 0; i < image->count; i++)
		if (image->procedures[i]->source == HP_PROCEDURE_SYMBOL &&
		    image->procedures[i]->owner == image->procedures[i])
			image->by_name[image->named_count++] = image->procedures[i];
	if (image->named_count > 1)
		qsort(image->by_name, image->named_count, sizeof(struct hp_procedure *),
		      compare_names);
	return true;
}

const struct hp_procedure *image_named(struct hp_cfg_image *image, const char *name, size_t length)
{
	size_t first;

	if (!image->by_name && !sort_names(image))
		return NULL;
	first = hp_bisect(i, image->named_count,
			  strncmp(image->by_name[i]->linkage, name, length) < 0);
	if (first == image->named_count ||
	    strncmp(image->by_name[first]->linkage, name, length) != 0 ||
	    image->by_name[first]->linkage[length] != '\0')
		return NULL;
	return image->by_name[first];
}
