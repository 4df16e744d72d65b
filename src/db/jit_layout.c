/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit_layout.h"

#include <hpcprof/db/db.h>

#include <stdlib.h>
#include <string.h>

void hp_jit_layout_clear(struct hp_jit_layout *layout)
{
	for (size_t i = 0; i < layout->source_count; i++)
		hp_symbols_free(layout->sources[i].symbols, layout->sources[i].count);
	free(layout->sources);
	hp_symbols_free(layout->merged, layout->merged_count);
	*layout = (struct hp_jit_layout){ 0 };
}

struct hp_error *hp_jit_layout_add(struct hp_jit_layout *layout, size_t epoch,
				   struct hp_symbol *symbols, size_t count)
{
	struct hp_jit_source *grown =
		reallocarray(layout->sources, layout->source_count + 1, sizeof(*grown));

	if (!grown) {
		hp_symbols_free(symbols, count);
		return hp_error_create_no_memory();
	}
	layout->sources = grown;
	grown[layout->source_count++] = (struct hp_jit_source){ epoch, symbols, count };
	return NULL;
}

/* --- the union ---------------------------------------------------------------------------- */

static int compare_offsets(const void *left, const void *right)
{
	const struct hp_symbol *a = left;
	const struct hp_symbol *b = right;

	if (a->offset.value != b->offset.value)
		return a->offset.value < b->offset.value ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(((const struct hp_symbol *)left)->name,
		      ((const struct hp_symbol *)right)->name);
}

/* Shallow copies of all symbols; names stay the sources'. */
static struct hp_error *gather(const struct hp_jit_layout *layout, struct hp_symbol **all,
			       size_t *count)
{
	size_t total = 1; /* and HP_JIT_UNNAMED */

	for (size_t i = 0; i < layout->source_count; i++)
		total += layout->sources[i].count;
	*all = calloc(total, sizeof(**all));
	*count = 0;
	if (!*all)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < layout->source_count; i++) {
		const struct hp_jit_source *source = &layout->sources[i];

		if (source->count)
			memcpy(*all + *count, source->symbols, source->count * sizeof(**all));
		*count += source->count;
	}
	return NULL;
}

/* By place: of two that overlap, the first one stays. */
static size_t unite_by_offset(struct hp_symbol *all, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(all, count, sizeof(*all), compare_offsets);
	for (size_t i = 0; i < count; i++) {
		if (kept && all[i].offset.value - all[kept - 1].offset.value < all[kept - 1].size)
			continue;
		all[kept++] = all[i];
	}
	return kept;
}

/* By name, end to end. Returns SIZE_MAX when they do not fit in 64 bits. */
static size_t unite_by_name(struct hp_symbol *all, size_t count)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (count)
		qsort(all, count, sizeof(*all), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept && strcmp(all[kept - 1].name, all[i].name) == 0) {
			if (all[i].size > all[kept - 1].size)
				all[kept - 1].size = all[i].size;
			continue;
		}
		all[kept++] = all[i];
	}
	for (size_t i = 0; i < kept; i++) {
		all[i].offset.value = end;
		if (__builtin_add_overflow(end, all[i].size, &end))
			return SIZE_MAX;
	}
	return kept;
}

static struct hp_error *own_names(struct hp_jit_layout *layout, struct hp_symbol *all, size_t count)
{
	layout->merged = calloc(count + 1, sizeof(*layout->merged));
	if (!layout->merged)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		layout->merged[i] = all[i];
		layout->merged[i].name = strdup(all[i].name);
		if (!layout->merged[i].name)
			return hp_error_create_no_memory();
		layout->merged_count++;
	}
	return NULL;
}

struct hp_error *hp_jit_layout_finish(struct hp_jit_layout *layout, bool anew)
{
	char unnamed[] = HP_JIT_UNNAMED;
	struct hp_symbol *all;
	size_t count;
	struct hp_error *error = gather(layout, &all, &count);

	if (error)
		return error;
	if (anew) {
		all[count++] = (struct hp_symbol){ .size = 1, .name = unnamed };
		count = unite_by_name(all, count);
	} else {
		count = unite_by_offset(all, count);
	}
	if (count == SIZE_MAX)
		error = hp_error_create(HP_ERROR_DAMAGED, "names run past 64 bits");
	else
		error = own_names(layout, all, count);
	free(all);
	return error;
}

/* --- moving ------------------------------------------------------------------------------- */

static const struct hp_symbol *symbol_at(const struct hp_jit_source *source, uint64_t offset)
{
	size_t low = 0;
	size_t high = source->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->symbols[middle].offset.value <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || offset - source->symbols[low - 1].offset.value >= source->symbols[low - 1].size)
		return NULL;
	return &source->symbols[low - 1];
}

static uint64_t moved(const struct hp_jit_layout *layout, const struct hp_jit_source *source,
		      uint64_t offset)
{
	const struct hp_symbol *from = source ? symbol_at(source, offset) : NULL;
	char unnamed[] = HP_JIT_UNNAMED;
	struct hp_symbol wanted = { .name = from ? from->name : unnamed };
	const struct hp_symbol *to = bsearch(&wanted, layout->merged, layout->merged_count,
					     sizeof(wanted), compare_names);

	if (!to)
		return offset;
	return to->offset.value + (from ? offset - from->offset.value : 0);
}

static int compare_counts(const void *left, const void *right)
{
	const struct hp_count *a = left;
	const struct hp_count *b = right;

	return (a->offset.value > b->offset.value) - (a->offset.value < b->offset.value);
}

struct hp_error *hp_jit_layout_move(const struct hp_jit_layout *layout, size_t epoch,
				    struct hp_profile *profile)
{
	const struct hp_jit_source *source = NULL;

	for (size_t i = 0; i < layout->source_count; i++) {
		if (layout->sources[i].epoch == epoch)
			source = &layout->sources[i];
	}
	for (size_t i = 0; i < profile->stratum_count; i++) {
		struct hp_stratum *stratum = &profile->strata[i];
		size_t kept = 0;

		for (size_t j = 0; j < stratum->count_count; j++)
			stratum->counts[j].offset.value =
				moved(layout, source, stratum->counts[j].offset.value);
		if (stratum->count_count)
			qsort(stratum->counts, stratum->count_count, sizeof(*stratum->counts),
			      compare_counts);
		for (size_t j = 0; j < stratum->count_count; j++) {
			if (kept &&
			    compare_counts(&stratum->counts[kept - 1], &stratum->counts[j]) == 0)
				stratum->counts[kept - 1].samples += stratum->counts[j].samples;
			else
				stratum->counts[kept++] = stratum->counts[j];
		}
		stratum->count_count = kept;
	}
	return NULL;
}
