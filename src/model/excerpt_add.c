/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The excerpts of two recordings of one image, added up. */
#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/excerpt.h>

#include <stdlib.h>
#include <string.h>

static bool has_same_map(const struct hp_excerpt *a, const struct hp_excerpt *b)
{
	if (a->machine != b->machine || a->segments.count != b->segments.count)
		return false;
	for (size_t i = 0; i < a->segments.count; i++)
		if (a->segments.at[i].address != b->segments.at[i].address ||
		    a->segments.at[i].offset != b->segments.at[i].offset ||
		    a->segments.at[i].bytes != b->segments.at[i].bytes)
			return false;
	return true;
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

#define append(into, from)                                                                         \
	({                                                                                         \
		bool fine_ = hp_vector_reserve(into, (into)->count + (from)->count + 1);           \
		if (fine_ && (from)->count)                                                        \
			memcpy((into)->at + (into)->count, (from)->at,                             \
			       (from)->count * sizeof(*(from)->at));                               \
		if (fine_)                                                                         \
			(into)->count += (from)->count;                                            \
		fine_;                                                                             \
	})

static bool add_map(struct hp_excerpt *into, const struct hp_excerpt *from)
{
	if (hp_excerpt_is_empty(into)) {
		into->machine = from->machine;
		if (!copy_text(from->origin, &into->origin) ||
		    !append(&into->segments, &from->segments) ||
		    !append(&into->texts, &from->texts))
			return false;
		into->compilers = malloc(from->compilers_size + 1);
		if (!into->compilers)
			return false;
		if (from->compilers_size)
			memcpy(into->compilers, from->compilers, from->compilers_size);
		into->compilers_size = from->compilers_size;
	}
	for (size_t i = 0; i < from->parts.count; i++) {
		struct hp_excerpt_part part = from->parts.at[i];

		if (!copy_text(from->parts.at[i].linkage, &part.linkage) ||
		    !hp_vector_push(&into->parts, part)) {
			free(part.linkage);
			return false;
		}
	}
	return true;
}

static uint32_t same_word(struct hp_excerpt *into, const struct hp_excerpt *from, uint32_t number,
			  bool *fine)
{
	uint32_t found;

	if (number == HP_EXCERPT_NONE)
		return number;
	found = hp_excerpt_word(into, from->words.at[number]);
	*fine = *fine && found != HP_EXCERPT_NONE;
	return found;
}

static bool add_lines(struct hp_excerpt *into, const struct hp_excerpt *from)
{
	_cleanup_free_ uint32_t *numbers = calloc(from->places.count + 1, sizeof(*numbers));
	bool fine = numbers != NULL;

	for (size_t i = 0; i < from->places.count && fine; i++) {
		struct hp_excerpt_place place = from->places.at[i];

		place.function = same_word(into, from, place.function, &fine);
		place.file = same_word(into, from, place.file, &fine);
		if (place.outer != HP_EXCERPT_NONE)
			place.outer = numbers[place.outer];
		numbers[i] = fine ? hp_excerpt_place(into, &place) : HP_EXCERPT_NONE;
		fine = numbers[i] != HP_EXCERPT_NONE;
	}
	for (size_t i = 0; i < from->lines.count && fine; i++) {
		struct hp_excerpt_line line = from->lines.at[i];

		line.place = numbers[line.place];
		fine = hp_vector_push(&into->lines, line);
	}
	return fine;
}

static bool add_code(struct hp_excerpt *into, const struct hp_excerpt *from)
{
	for (size_t i = 0; i < from->ranges.count; i++) {
		struct hp_excerpt_range range = from->ranges.at[i];

		range.bytes = malloc(range.size);
		if (range.bytes)
			memcpy(range.bytes, from->ranges.at[i].bytes, range.size);
		if (!range.bytes || !hp_vector_push(&into->ranges, range)) {
			free(range.bytes);
			return false;
		}
	}
	for (size_t i = 0; i < from->imports.count; i++) {
		struct hp_excerpt_import import = from->imports.at[i];

		if (!copy_text(from->imports.at[i].name, &import.name) ||
		    !hp_vector_push(&into->imports, import)) {
			free(import.name);
			return false;
		}
	}
	return append(&into->landings, &from->landings) && append(&into->pointers, &from->pointers);
}

struct hp_error *hp_excerpt_add(struct hp_excerpt *into, const struct hp_excerpt *from)
{
	struct hp_excerpt sum = { 0 };
	struct hp_error *error;

	if (hp_excerpt_is_empty(from))
		return NULL;
	if (!hp_excerpt_is_empty(into) && !has_same_map(into, from))
		return hp_error_create(HP_ERROR_DAMAGED,
				       "two excerpts of one image are of different files");
	if (!add_map(&sum, hp_excerpt_is_empty(into) ? from : into) || !add_lines(&sum, into) ||
	    !add_code(&sum, into) || (!hp_excerpt_is_empty(into) && !add_map(&sum, from)) ||
	    !add_lines(&sum, from) || !add_code(&sum, from))
		error = hp_error_create_no_memory();
	else
		error = hp_excerpt_finish(&sum);
	if (!error)
		error = hp_excerpt_check(&sum);
	if (error) {
		hp_excerpt_clear(&sum);
		return error;
	}
	hp_excerpt_clear(into);
	*into = sum;
	return NULL;
}
