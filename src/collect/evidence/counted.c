/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted.h"

#include <hpcprof/base/cleanup.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool counted_image(struct counted *counted, struct image *image, uint32_t *number)
{
	for (size_t i = counted->images.count; i-- > 0;) {
		if (counted->images.at[i] == image) {
			image_release(image);
			*number = (uint32_t)i;
			return true;
		}
	}
	if (image->id.kind == HP_IMAGE_UNKNOWN || !hp_vector_push(&counted->images, image)) {
		image_release(image);
		return false;
	}
	*number = (uint32_t)counted->images.count - 1;
	return true;
}

static int compare_images(const void *left, const void *right, void *context)
{
	struct image *const *images = context;

	return hp_image_id_compare(&images[*(const uint32_t *)left]->id,
				   &images[*(const uint32_t *)right]->id);
}

static int compare_places(const void *left, const void *right)
{
	return hp_counted_compare(left, right);
}

static void renumber(struct hp_counted_place *place, const uint32_t *numbers)
{
	place->image = numbers[place->image];
	if (place->kind != HP_COUNTED_BLOCK)
		place->to_image = numbers[place->to_image];
}

static struct hp_error *number_images(struct counted *counted, struct hp_window_evidence *evidence)
{
	size_t count = counted->images.count;
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));
	_cleanup_free_ uint32_t *numbers = calloc(count + 1, sizeof(*numbers));

	evidence->images = calloc(count + 1, sizeof(*evidence->images));
	if (!order || !numbers || !evidence->images)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_images, counted->images.at);
	for (size_t i = 0; i < count; i++) {
		const struct hp_image_id *id = &counted->images.at[order[i]]->id;
		size_t last = evidence->image_count;
		struct hp_error *error;

		if (!last || hp_image_id_compare(&evidence->images[last - 1], id) != 0) {
			error = hp_image_id_copy(id, &evidence->images[last]);
			if (error)
				return error;
			evidence->images[last].deleted = false;
			evidence->image_count++;
		}
		numbers[order[i]] = (uint32_t)evidence->image_count - 1;
	}
	for (size_t i = 0; i < counted->items.count; i++)
		renumber(&counted->items.at[i].place, numbers);
	for (size_t i = 0; i < counted->window.count; i++)
		renumber(&counted->window.at[i].place, numbers);
	return NULL;
}

/* Each item is a place, followed by so many counts. */
_Static_assert(offsetof(struct hp_counted, place) == 0 &&
		       offsetof(struct hp_counted, counts) == sizeof(struct hp_counted_place) &&
		       offsetof(struct hp_window_item, place) == 0 &&
		       offsetof(struct hp_window_item, counts) == sizeof(struct hp_counted_place),
	       "both kinds of items begin with their place");

/* Sorts the items, adds up those of the same place, and returns how many are left. */
static size_t unite(void *items, size_t count, size_t groups)
{
	const size_t size = sizeof(struct hp_counted_place) + groups * sizeof(uint64_t);
	char *all = items, *last = NULL;
	size_t n = 0;

	if (count)
		qsort(all, count, size, compare_places);
	for (size_t i = 0; i < count; i++) {
		char *one = all + i * size;
		const uint64_t *counts = (void *)(one + sizeof(struct hp_counted_place));
		uint64_t *sums = last ? (void *)(last + sizeof(struct hp_counted_place)) : NULL;

		if (last && compare_places(last, one) == 0) {
			for (size_t j = 0; j < groups; j++)
				sums[j] += counts[j];
			continue;
		}
		last = all + n++ * size;
		memmove(last, one, size);
	}
	return n;
}

struct hp_error *counted_add(struct counted *counted, struct hp_window_stratum *stratum,
			     struct hp_counted **list, size_t *count,
			     struct hp_window_evidence *sum)
{
	return counted_add_window(counted, stratum, list, count, HP_WINDOW_LIST_ITEMS, 0, sum);
}

struct hp_error *counted_add_window(struct counted *counted, struct hp_window_stratum *stratum,
				    struct hp_counted **list, size_t *count,
				    enum hp_window_list which, unsigned first,
				    struct hp_window_evidence *sum)
{
	struct hp_window_evidence one = {
		.strata = stratum,
		.stratum_count = 1,
		.dropped = counted->dropped,
	};
	struct hp_error *error = number_images(counted, &one);

	if (!error) {
		counted->items.count =
			unite(counted->items.at, counted->items.count, HP_EVIDENCE_GROUPS);
		counted->window.count =
			unite(counted->window.at, counted->window.count, HP_WINDOW_PARTS);
		*list = counted->items.at;
		*count = counted->items.count;
		error = hp_window_evidence_check(&one);
	}
	if (!error)
		error = hp_window_items_check(&one, counted->window.at, counted->window.count);
	if (!error)
		error = hp_window_evidence_add_window(sum, &one, which, counted->window.at,
						      counted->window.count, first);
	for (size_t i = 0; i < one.image_count; i++)
		hp_image_id_clear(&one.images[i]);
	free(one.images);
	return error;
}

void counted_clear(struct counted *counted)
{
	for (size_t i = 0; i < counted->images.count; i++)
		image_release(counted->images.at[i]);
	hp_vector_free(&counted->images);
	hp_vector_free(&counted->items);
	hp_vector_free(&counted->window);
	counted->dropped = 0;
}
