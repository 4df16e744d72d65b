/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kept.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/hash.h>

#include <stdlib.h>
#include <string.h>

struct place {
	struct image *image;
	uint64_t offset;
};

struct kept_symbol {
	UT_hash_handle hh;
	struct place place;
	uint64_t size;
	char *name;
};

bool kept_add(struct kept *kept, struct image *image, uint64_t offset, uint64_t size,
	      const char *name)
{
	struct place place = { .image = image, .offset = offset };
	struct kept_symbol *symbol;

	HASH_FIND(hh, kept->by_place, &place, sizeof(place), symbol);
	if (symbol) {
		if (strcmp(symbol->name, name) != 0)
			return false;
		if (symbol->size < size) {
			symbol->size = size;
			kept->changed = true;
		}
		return true;
	}
	symbol = calloc(1, sizeof(*symbol));
	if (!symbol)
		return false;
	symbol->place = place;
	symbol->size = size ? size : 1;
	symbol->name = strdup(name);
	if (symbol->name)
		HASH_ADD(hh, kept->by_place, place, sizeof(place), symbol);
	if (!symbol->name || !symbol->hh.tbl) {
		free(symbol->name);
		free(symbol);
		return false;
	}
	image->references++;
	kept->changed = true;
	return true;
}

void kept_clear(struct kept *kept)
{
	struct kept_symbol *symbol, *next;

	HASH_ITER(hh, kept->by_place, symbol, next)
	{
		HASH_DEL(kept->by_place, symbol);
		image_release(symbol->place.image);
		free(symbol->name);
		free(symbol);
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct kept_symbol *a = *(struct kept_symbol *const *)left;
	const struct kept_symbol *b = *(struct kept_symbol *const *)right;

	if (a->place.image != b->place.image)
		return (uintptr_t)a->place.image < (uintptr_t)b->place.image ? -1 : 1;
	return (a->place.offset > b->place.offset) - (a->place.offset < b->place.offset);
}

/* Collects the symbols of one image, from index `from` on, in the form that the database takes. */
static size_t take_run(struct kept_symbol *const *sorted, size_t from, size_t count,
		       struct hp_symbol *symbols)
{
	const struct image *image = sorted[from]->place.image;
	size_t n = 0;

	for (size_t i = from; i < count && sorted[i]->place.image == image; i++) {
		uint64_t size = sorted[i]->size;

		if (i + 1 < count && sorted[i + 1]->place.image == image &&
		    size > sorted[i + 1]->place.offset - sorted[i]->place.offset)
			size = sorted[i + 1]->place.offset - sorted[i]->place.offset;
		symbols[n++] = (struct hp_symbol){
			.offset = { sorted[i]->place.offset },
			.size = size,
			.name = sorted[i]->name,
		};
	}
	return n;
}

struct hp_error *kept_save(struct kept *kept,
			   struct hp_error *(*save)(struct image *image,
						    const struct hp_symbol *symbols, size_t count,
						    void *context),
			   void *context)
{
	size_t count = HASH_COUNT(kept->by_place);
	_cleanup_free_ struct kept_symbol **sorted =
		calloc(count + 1, sizeof(struct kept_symbol *));
	_cleanup_free_ struct hp_symbol *symbols = calloc(count + 1, sizeof(*symbols));
	size_t n = 0;

	if (!sorted || !symbols)
		return hp_error_create_no_memory();
	for (struct kept_symbol *symbol = kept->by_place; symbol; symbol = symbol->hh.next)
		sorted[n++] = symbol;
	qsort(sorted, n, sizeof(struct kept_symbol *), compare_places);
	for (size_t i = 0; i < n;) {
		size_t run = take_run(sorted, i, n, symbols);
		struct hp_error *error = save(sorted[i]->place.image, symbols, run, context);

		if (error)
			return error;
		i += run;
	}
	kept->changed = false;
	return NULL;
}
