/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "excerpted.h"

#include <hpcprof/base/search.h>

/* Finds the last entry, in order of addresses, that begins at `wanted` or before, or NULL. */
#define last_before(vector, wanted)                                                                \
	({                                                                                         \
		size_t after_ =                                                                    \
			hp_bisect(k_, (vector)->count, (vector)->at[k_].address <= (wanted));      \
		after_ ? &(vector)->at[after_ - 1] : NULL;                                         \
	})

bool excerpted_link_address(const struct hp_excerpt *excerpt, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < excerpt->segments.count; i++) {
		const struct hp_excerpt_segment *segment = &excerpt->segments.at[i];

		if (segment->is_executable && offset >= segment->offset &&
		    offset - segment->offset < segment->bytes) {
			*address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

size_t excerpted_text(const struct hp_excerpt *excerpt, uint64_t address, size_t size,
		      const uint8_t **bytes)
{
	const struct hp_excerpt_range *range = last_before(&excerpt->ranges, address);
	size_t left;

	*bytes = NULL;
	if (!range || address - range->address >= range->size)
		return 0;
	left = range->size - (size_t)(address - range->address);
	*bytes = range->bytes + (address - range->address);
	return size < left ? size : left;
}

bool excerpted_is_code(const struct hp_excerpt *excerpt, uint64_t address)
{
	const struct hp_excerpt_text *text = last_before(&excerpt->texts, address);

	return text && address < text->end;
}

bool excerpted_is_writable_code(const struct hp_excerpt *excerpt, uint64_t address)
{
	const struct hp_excerpt_segment *segment = last_before(&excerpt->segments, address);

	return segment && address - segment->address < segment->bytes && segment->is_executable &&
	       segment->is_writable;
}

void excerpted_landings(const struct hp_excerpt *excerpt, uint64_t address, uint64_t size,
			struct hp_arena *arena, const struct hp_landing **landings, size_t *count)
{
	size_t total = excerpt->landings.count;
	size_t first = hp_bisect(i, total, excerpt->landings.at[i].start < address);
	size_t end = hp_bisect(i, total,
			       excerpt->landings.at[i].start - address < size ||
				       excerpt->landings.at[i].start < address);
	struct hp_landing *copy;

	*landings = NULL;
	*count = 0;
	/* If a symbol splits a function, the first call of the second part may begin before it. */
	if (first > 0 && excerpt->landings.at[first - 1].end > address)
		first--;
	copy = end > first ? hp_arena_array(arena, end - first, sizeof(*copy)) : NULL;
	if (!copy)
		return;
	for (size_t i = first; i < end; i++)
		copy[i - first] = (struct hp_landing){ excerpt->landings.at[i].start,
						       excerpt->landings.at[i].end,
						       excerpt->landings.at[i].landing };
	*landings = copy;
	*count = end - first;
}

void excerpted_pointers(const struct hp_excerpt *excerpt, uint64_t low, uint64_t high,
			struct hp_arena *arena, const struct hp_code_pointer **pointers,
			size_t *count)
{
	size_t total = excerpt->pointers.count;
	size_t first = hp_bisect(i, total, excerpt->pointers.at[i].target < low);
	size_t end = hp_bisect(i, total, excerpt->pointers.at[i].target < high);
	struct hp_code_pointer *copy;

	*pointers = NULL;
	*count = 0;
	copy = end > first ? hp_arena_array(arena, end - first, sizeof(*copy)) : NULL;
	if (!copy)
		return;
	for (size_t i = first; i < end; i++)
		copy[i - first] = (struct hp_code_pointer){ excerpt->pointers.at[i].where,
							    excerpt->pointers.at[i].target };
	*pointers = copy;
	*count = end - first;
}

const char *excerpted_import(const struct hp_excerpt *excerpt, uint64_t where)
{
	size_t at = hp_bisect(i, excerpt->imports.count, excerpt->imports.at[i].where < where);

	return at < excerpt->imports.count && excerpt->imports.at[at].where == where
		       ? excerpt->imports.at[at].name
		       : NULL;
}

/* --- lines --------------------------------------------------------------------------------- */

static const char *word_of(const struct hp_excerpt *excerpt, uint32_t number)
{
	return number == HP_EXCERPT_NONE ? NULL : excerpt->words.at[number];
}

static bool make_frames(const struct hp_excerpt *excerpt, uint32_t number, bool inlines,
			struct hp_arena *arena, struct hp_frames *frames)
{
	struct hp_frame *made;
	size_t count = 0;

	for (uint32_t at = number; at != HP_EXCERPT_NONE; at = excerpt->places.at[at].outer)
		count++;
	count = inlines ? count : 1;
	made = hp_arena_array(arena, count, sizeof(*made));
	if (!made)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct hp_excerpt_place *place = &excerpt->places.at[number];

		made[i] = (struct hp_frame){
			.function = inlines ? word_of(excerpt, place->function) : NULL,
			.file = word_of(excerpt, place->file),
			.line = place->line,
		};
		number = place->outer;
	}
	*frames = (struct hp_frames){ made, count };
	return true;
}

bool excerpted_frames(const struct hp_excerpt *excerpt, const hp_link_address *addresses,
		      size_t count, bool inlines, struct hp_arena *arena, struct hp_frames *frames)
{
	uint32_t before = HP_EXCERPT_NONE;

	for (size_t i = 0; i < count; i++) {
		const struct hp_excerpt_line *line =
			last_before(&excerpt->lines, addresses[i].value);

		if (!line || addresses[i].value - line->address >= line->bytes) {
			before = HP_EXCERPT_NONE;
			continue;
		}
		if (line->place == before)
			frames[i] = frames[i - 1];
		else if (!make_frames(excerpt, line->place, inlines, arena, &frames[i]))
			return false;
		before = line->place;
	}
	return true;
}
