/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol_union.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Symbols without a body come last. */
static int compare_bodies(const struct hp_body *a, const struct hp_body *b)
{
	if (!a || !b)
		return !a - !b;
	return memcmp(a, b, sizeof(*a));
}

static int compare(const void *left, const void *right)
{
	const struct hp_symbol *a = left;
	const struct hp_symbol *b = right;
	int order;

	if (a->offset.value != b->offset.value)
		return a->offset.value < b->offset.value ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : compare_bodies(a->body, b->body);
}

static bool overlap(const struct hp_symbol *first, const struct hp_symbol *second)
{
	return second->offset.value - first->offset.value < first->size;
}

struct hp_error *hp_symbols_unite(enum hp_image_kind kind, const struct hp_symbol *a,
				  size_t a_count, const struct hp_symbol *b, size_t b_count,
				  struct hp_symbol **united, size_t *count)
{
	size_t total = a_count + b_count;
	struct hp_symbol *all = calloc(total + 1, sizeof(*all));
	size_t kept = 0;

	if (!all)
		return hp_error_create_no_memory();
	if (a_count)
		memcpy(all, a, a_count * sizeof(*all));
	if (b_count)
		memcpy(all + a_count, b, b_count * sizeof(*all));
	qsort(all, total, sizeof(*all), compare);
	for (size_t i = 0; i < total; i++) {
		struct hp_symbol *last = kept ? &all[kept - 1] : NULL;

		if (!last || !overlap(last, &all[i])) {
			all[kept++] = all[i];
			continue;
		}
		if (!last->body && last->offset.value == all[i].offset.value &&
		    strcmp(last->name, all[i].name) == 0)
			last->body = all[i].body;
		if (kind == HP_IMAGE_JIT && strcmp(last->name, all[i].name) != 0) {
			struct hp_error *error = hp_error_create(
				HP_ERROR_DAMAGED, "names '%s' and '%s' share offset 0x%" PRIx64,
				last->name, all[i].name, all[i].offset.value);

			free(all);
			return error;
		}
	}
	*united = all;
	*count = kept;
	return NULL;
}
