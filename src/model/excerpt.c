/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes, sorts and checks excerpts of files. */
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>
#include <hpcprof/model/excerpt.h>

#include <stdlib.h>
#include <string.h>

struct hp_excerpt_known_word {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

struct hp_excerpt_known_place {
	UT_hash_handle hh;
	uint32_t number;
	struct hp_excerpt_place place;
};

/* --- lifetime ------------------------------------------------------------------------------ */

static void forget_known(struct hp_excerpt *excerpt)
{
	struct hp_excerpt_known_word *word, *next_word;
	struct hp_excerpt_known_place *place, *next_place;

	HASH_ITER(hh, excerpt->known_words, word, next_word)
	{
		HASH_DEL(excerpt->known_words, word);
		free(word);
	}
	HASH_ITER(hh, excerpt->known_places, place, next_place)
	{
		HASH_DEL(excerpt->known_places, place);
		free(place);
	}
}

void hp_excerpt_clear_lines(struct hp_excerpt *excerpt)
{
	forget_known(excerpt);
	for (size_t i = 0; i < excerpt->words.count; i++)
		free(excerpt->words.at[i]);
	hp_vector_free(&excerpt->words);
	hp_vector_free(&excerpt->places);
	hp_vector_free(&excerpt->lines);
}

void hp_excerpt_clear_code(struct hp_excerpt *excerpt)
{
	for (size_t i = 0; i < excerpt->ranges.count; i++)
		free(excerpt->ranges.at[i].bytes);
	for (size_t i = 0; i < excerpt->imports.count; i++)
		free(excerpt->imports.at[i].name);
	hp_vector_free(&excerpt->ranges);
	hp_vector_free(&excerpt->landings);
	hp_vector_free(&excerpt->pointers);
	hp_vector_free(&excerpt->imports);
}

void hp_excerpt_clear(struct hp_excerpt *excerpt)
{
	hp_excerpt_clear_lines(excerpt);
	hp_excerpt_clear_code(excerpt);
	for (size_t i = 0; i < excerpt->parts.count; i++)
		free(excerpt->parts.at[i].linkage);
	hp_vector_free(&excerpt->segments);
	hp_vector_free(&excerpt->texts);
	hp_vector_free(&excerpt->parts);
	free(excerpt->origin);
	free(excerpt->compilers);
	*excerpt = (struct hp_excerpt){ 0 };
}

/* --- words and places ---------------------------------------------------------------------- */

uint32_t hp_excerpt_word(struct hp_excerpt *excerpt, const char *text)
{
	size_t length = strnlen(text, HP_EXCERPT_MOST_WORD_BYTES);
	struct hp_excerpt_known_word *known;
	char *copy;

	HASH_FIND(hh, excerpt->known_words, text, length, known);
	if (known)
		return known->number;
	if (excerpt->words.count >= HP_EXCERPT_MOST_WORDS || length >= HP_EXCERPT_MOST_WORD_BYTES)
		return HP_EXCERPT_NONE;
	known = calloc(1, sizeof(*known) + length + 1);
	copy = strndup(text, length);
	if (!known || !copy || !hp_vector_push(&excerpt->words, copy)) {
		free(known);
		free(copy);
		return HP_EXCERPT_NONE;
	}
	memcpy(known->text, text, length);
	known->number = (uint32_t)(excerpt->words.count - 1);
	HASH_ADD(hh, excerpt->known_words, text, length, known);
	/* If it cannot be remembered, the word is only stored twice. */
	if (!known->hh.tbl)
		free(known);
	return (uint32_t)(excerpt->words.count - 1);
}

uint32_t hp_excerpt_place(struct hp_excerpt *excerpt, const struct hp_excerpt_place *place)
{
	struct hp_excerpt_known_place *known;

	HASH_FIND(hh, excerpt->known_places, place, sizeof(*place), known);
	if (known)
		return known->number;
	if (excerpt->places.count >= HP_EXCERPT_MOST_PLACES)
		return HP_EXCERPT_NONE;
	known = calloc(1, sizeof(*known));
	if (!known || !hp_vector_push(&excerpt->places, *place)) {
		free(known);
		return HP_EXCERPT_NONE;
	}
	known->place = *place;
	known->number = (uint32_t)(excerpt->places.count - 1);
	HASH_ADD(hh, excerpt->known_places, place, sizeof(*place), known);
	if (!known->hh.tbl)
		free(known);
	return (uint32_t)(excerpt->places.count - 1);
}

/* --- order --------------------------------------------------------------------------------- */

static int compare_segments(const void *left, const void *right)
{
	const struct hp_excerpt_segment *a = left;
	const struct hp_excerpt_segment *b = right;

	return hp_order(a->address, b->address);
}

static int compare_texts(const void *left, const void *right)
{
	const struct hp_excerpt_text *a = left;
	const struct hp_excerpt_text *b = right;

	return hp_order(a->address, b->address);
}

/* If two excerpts have the same part, the one with more information comes first: one that does not say
 * that a part never returns may not have asked. */
static int compare_parts(const void *left, const void *right)
{
	const struct hp_excerpt_part *a = left;
	const struct hp_excerpt_part *b = right;

	if (a->address != b->address)
		return hp_order(a->address, b->address);
	if (a->size != b->size)
		return hp_order(b->size, a->size);
	if (!a->linkage != !b->linkage)
		return a->linkage ? -1 : 1;
	if (a->linkage && strcmp(a->linkage, b->linkage) != 0)
		return strcmp(a->linkage, b->linkage);
	return a->owner != b->owner ? hp_order(a->owner, b->owner)
				    : b->never_returns - a->never_returns;
}

static int compare_lines(const void *left, const void *right)
{
	const struct hp_excerpt_line *a = left;
	const struct hp_excerpt_line *b = right;

	if (a->address != b->address)
		return hp_order(a->address, b->address);
	return a->bytes != b->bytes ? hp_order(b->bytes, a->bytes) : hp_order(a->place, b->place);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct hp_excerpt_range *a = left;
	const struct hp_excerpt_range *b = right;

	return a->address != b->address ? hp_order(a->address, b->address)
					: hp_order(b->size, a->size);
}

static int compare_landings(const void *left, const void *right)
{
	const struct hp_excerpt_landing *a = left;
	const struct hp_excerpt_landing *b = right;

	if (a->start != b->start)
		return hp_order(a->start, b->start);
	return a->end != b->end ? hp_order(a->end, b->end) : hp_order(a->landing, b->landing);
}

static int compare_pointers(const void *left, const void *right)
{
	const struct hp_excerpt_pointer *a = left;
	const struct hp_excerpt_pointer *b = right;

	return a->target != b->target ? hp_order(a->target, b->target)
				      : hp_order(a->where, b->where);
}

static int compare_imports(const void *left, const void *right)
{
	const struct hp_excerpt_import *a = left;
	const struct hp_excerpt_import *b = right;

	return hp_order(a->where, b->where);
}

#define sort(vector, compare)                                                                      \
	do {                                                                                       \
		if ((vector)->count > 1)                                                           \
			qsort((vector)->at, (vector)->count, sizeof(*(vector)->at), (compare));    \
	} while (0)

/* --- finishing ----------------------------------------------------------------------------- */

static bool overlaps(uint64_t address, uint64_t size, uint64_t next)
{
	return next - address < size;
}

static void finish_parts(struct hp_excerpt *excerpt)
{
	size_t kept = 0;

	sort(&excerpt->parts, compare_parts);
	for (size_t i = 0; i < excerpt->parts.count; i++) {
		struct hp_excerpt_part *part = &excerpt->parts.at[i];
		struct hp_excerpt_part *last = kept ? &excerpt->parts.at[kept - 1] : NULL;

		if (!last || !overlaps(last->address, last->size, part->address)) {
			excerpt->parts.at[kept++] = *part;
			continue;
		}
		free(part->linkage);
	}
	excerpt->parts.count = kept;
}

/* A line that overlaps the one before begins after it. */
static void finish_lines(struct hp_excerpt *excerpt)
{
	size_t kept = 0;

	sort(&excerpt->lines, compare_lines);
	for (size_t i = 0; i < excerpt->lines.count; i++) {
		struct hp_excerpt_line line = excerpt->lines.at[i];
		struct hp_excerpt_line *last = kept ? &excerpt->lines.at[kept - 1] : NULL;

		if (last && overlaps(last->address, last->bytes, line.address)) {
			uint64_t covered = last->bytes - (line.address - last->address);

			if (covered >= line.bytes)
				continue;
			line.address += covered;
			line.bytes -= covered;
		}
		if (last && last->place == line.place &&
		    line.address - last->address == last->bytes)
			last->bytes += line.bytes;
		else
			excerpt->lines.at[kept++] = line;
	}
	excerpt->lines.count = kept;
}

/* Appends what `range` has beyond `last`, which it touches or overlaps. */
static bool join_ranges(struct hp_excerpt_range *last, const struct hp_excerpt_range *range)
{
	uint64_t covered = last->size - (range->address - last->address);
	uint8_t *grown;

	if (covered >= range->size)
		return true;
	grown = realloc(last->bytes, last->size + (range->size - covered));
	if (!grown)
		return false;
	memcpy(grown + last->size, range->bytes + covered, range->size - covered);
	last->bytes = grown;
	last->size += range->size - covered;
	return true;
}

static bool finish_ranges(struct hp_excerpt *excerpt)
{
	size_t kept = 0;
	bool fine = true;

	sort(&excerpt->ranges, compare_ranges);
	for (size_t i = 0; i < excerpt->ranges.count; i++) {
		struct hp_excerpt_range *range = &excerpt->ranges.at[i];
		struct hp_excerpt_range *last = kept ? &excerpt->ranges.at[kept - 1] : NULL;

		if (!last || range->address - last->address > last->size) {
			excerpt->ranges.at[kept++] = *range;
			continue;
		}
		fine = join_ranges(last, range) && fine;
		free(range->bytes);
	}
	excerpt->ranges.count = kept;
	return fine;
}

#define drop_twins(vector, compare)                                                                \
	do {                                                                                       \
		size_t kept_ = 0;                                                                  \
		sort(vector, compare);                                                             \
		for (size_t i_ = 0; i_ < (vector)->count; i_++)                                    \
			if (!kept_ || compare(&(vector)->at[kept_ - 1], &(vector)->at[i_]) != 0)   \
				(vector)->at[kept_++] = (vector)->at[i_];                          \
		(vector)->count = kept_;                                                           \
	} while (0)

static void finish_imports(struct hp_excerpt *excerpt)
{
	size_t kept = 0;

	sort(&excerpt->imports, compare_imports);
	for (size_t i = 0; i < excerpt->imports.count; i++) {
		if (kept && excerpt->imports.at[kept - 1].where == excerpt->imports.at[i].where)
			free(excerpt->imports.at[i].name);
		else
			excerpt->imports.at[kept++] = excerpt->imports.at[i];
	}
	excerpt->imports.count = kept;
}

struct hp_error *hp_excerpt_finish(struct hp_excerpt *excerpt)
{
	sort(&excerpt->segments, compare_segments);
	sort(&excerpt->texts, compare_texts);
	finish_parts(excerpt);
	finish_lines(excerpt);
	drop_twins(&excerpt->landings, compare_landings);
	drop_twins(&excerpt->pointers, compare_pointers);
	finish_imports(excerpt);
	forget_known(excerpt);
	return finish_ranges(excerpt) ? NULL : hp_error_create_no_memory();
}

/* --- checking ------------------------------------------------------------------------------ */

static struct hp_error *broken(const char *what)
{
	return hp_error_create(HP_ERROR_DAMAGED, "an excerpt's %s", what);
}

/* Whether entries with an address and a size are sorted and do not overlap. */
#define are_apart(vector, size_of)                                                                 \
	({                                                                                         \
		bool fine_ = true;                                                                 \
		for (size_t i_ = 0; i_ < (vector)->count && fine_; i_++) {                         \
			uint64_t address_ = (vector)->at[i_].address;                              \
			uint64_t size_ = size_of(&(vector)->at[i_]);                               \
			fine_ = size_ && size_ <= UINT64_MAX - address_ &&                         \
				(!i_ || address_ - (vector)->at[i_ - 1].address >=                 \
						size_of(&(vector)->at[i_ - 1])) &&                 \
				(!i_ || address_ > (vector)->at[i_ - 1].address);                  \
		}                                                                                  \
		fine_;                                                                             \
	})
#define bytes_of(entry) ((uint64_t)(entry)->bytes)
#define size_of(entry)	((uint64_t)(entry)->size)
#define extent_of(entry)                                                                           \
	((entry)->end > (entry)->address ? (entry)->end - (entry)->address : (uint64_t)0)

static const char *check_map(const struct hp_excerpt *excerpt)
{
	if (excerpt->segments.count > HP_EXCERPT_MOST_SEGMENTS ||
	    !are_apart(&excerpt->segments, bytes_of))
		return "segments overlap, or are too many";
	for (size_t i = 0; i < excerpt->segments.count; i++)
		if (excerpt->segments.at[i].bytes > UINT64_MAX - excerpt->segments.at[i].offset)
			return "segments run past 64 bits";
	if (excerpt->texts.count > HP_EXCERPT_MOST_TEXTS || !are_apart(&excerpt->texts, extent_of))
		return "sections overlap, or are too many";
	if (excerpt->parts.count > HP_EXCERPT_MOST_PARTS || !are_apart(&excerpt->parts, size_of))
		return "procedures overlap, or are too many";
	for (size_t i = 0; i < excerpt->parts.count; i++) {
		const struct hp_excerpt_part *part = &excerpt->parts.at[i];

		if (part->source < HP_EXCERPT_SYMBOL || part->source > HP_EXCERPT_EH_FRAME)
			return "procedures have an unknown source";
		if (part->source == HP_EXCERPT_PLT && part->linkage &&
		    strlen(part->linkage) < strlen("@plt"))
			return "entry of a PLT has no name";
	}
	return NULL;
}

/* All frames of a place are returned together, so chains must be short. */
static const char *check_places(const struct hp_excerpt *excerpt)
{
	_cleanup_free_ uint8_t *depths = calloc(excerpt->places.count + 1, 1);

	if (!depths)
		return "places are too many for this memory";
	for (size_t i = 0; i < excerpt->places.count; i++) {
		const struct hp_excerpt_place *place = &excerpt->places.at[i];

		if ((place->function != HP_EXCERPT_NONE &&
		     place->function >= excerpt->words.count) ||
		    (place->file != HP_EXCERPT_NONE && place->file >= excerpt->words.count))
			return "places have words that are not there";
		if (place->outer == HP_EXCERPT_NONE)
			continue;
		if (place->outer >= i || depths[place->outer] + 1 >= HP_EXCERPT_DEEPEST)
			return "places are inlined into nothing, or too deep";
		depths[i] = (uint8_t)(depths[place->outer] + 1);
	}
	return NULL;
}

static const char *check_lines(const struct hp_excerpt *excerpt)
{
	if (excerpt->words.count > HP_EXCERPT_MOST_WORDS ||
	    excerpt->places.count > HP_EXCERPT_MOST_PLACES ||
	    excerpt->lines.count > HP_EXCERPT_MOST_LINES || !are_apart(&excerpt->lines, bytes_of))
		return "lines overlap, or are too many";
	for (size_t i = 0; i < excerpt->lines.count; i++)
		if (excerpt->lines.at[i].place >= excerpt->places.count)
			return "lines have no place";
	return check_places(excerpt);
}

static const char *check_code(const struct hp_excerpt *excerpt)
{
	uint64_t total = 0;

	if (excerpt->ranges.count > HP_EXCERPT_MOST_RANGES || !are_apart(&excerpt->ranges, size_of))
		return "code overlaps, or is in too many pieces";
	for (size_t i = 0; i < excerpt->ranges.count; i++) {
		if (excerpt->ranges.at[i].size > HP_EXCERPT_MOST_CODE_BYTES - total)
			return "code is too much";
		total += excerpt->ranges.at[i].size;
	}
	if (excerpt->landings.count > HP_EXCERPT_MOST_LANDINGS ||
	    excerpt->pointers.count > HP_EXCERPT_MOST_POINTERS ||
	    excerpt->imports.count > HP_EXCERPT_MOST_IMPORTS)
		return "landing pads, pointers or imports are too many";
	for (size_t i = 1; i < excerpt->landings.count; i++)
		if (compare_landings(&excerpt->landings.at[i - 1], &excerpt->landings.at[i]) >= 0)
			return "landing pads are out of order";
	for (size_t i = 1; i < excerpt->pointers.count; i++)
		if (compare_pointers(&excerpt->pointers.at[i - 1], &excerpt->pointers.at[i]) >= 0)
			return "pointers are out of order";
	for (size_t i = 0; i < excerpt->imports.count; i++)
		if (!excerpt->imports.at[i].name ||
		    (i && excerpt->imports.at[i - 1].where >= excerpt->imports.at[i].where))
			return "imports are out of order, or without name";
	return NULL;
}

struct hp_error *hp_excerpt_check(const struct hp_excerpt *excerpt)
{
	const char *what = check_map(excerpt);

	if (!what)
		what = check_lines(excerpt);
	if (!what)
		what = check_code(excerpt);
	return what ? broken(what) : NULL;
}
