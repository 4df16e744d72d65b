/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "space.h"

#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

struct space *space_create(void)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space)
		space->references = 1;
	return space;
}

struct space *space_hold(struct space *space)
{
	space->references++;
	return space;
}

void space_release(struct space *space)
{
	if (!space || --space->references)
		return;
	for (size_t i = 0; i < space->count; i++)
		image_release(space->mappings[i].image);
	free(space->mappings);
	free(space);
}

/* Index of the first mapping that ends after the address. */
static size_t first_ending_after(const struct space *space, uint64_t address)
{
	return hp_bisect(i, space->count, space->mappings[i].end <= address);
}

const struct mapping *space_find(const struct space *space, uint64_t address)
{
	size_t at = first_ending_after(space, address);

	if (at == space->count || space->mappings[at].start > address)
		return NULL;
	return &space->mappings[at];
}

static bool append(struct space *space, struct mapping mapping)
{
	if (!hp_grow((void **)&space->mappings, &space->capacity, space->count + 1,
		     sizeof(mapping)))
		return false;
	space->mappings[space->count++] = mapping;
	if (mapping.image)
		mapping.image->references++;
	return true;
}

/* Returns the part [start, end) of a mapping. */
static struct mapping part(const struct mapping *whole, uint64_t start, uint64_t end)
{
	return (struct mapping){ .start = start,
				 .end = end,
				 .offset = whole->offset + (start - whole->start),
				 .image = whole->image };
}

/* Copies `from`, with `added` in place of whatever it overlaps. */
static struct space *copy_with(const struct space *from, const struct mapping *added)
{
	struct space *copy = space_create();
	bool placed = false;

	if (!copy ||
	    !hp_grow((void **)&copy->mappings, &copy->capacity, from->count + 4, sizeof(*added)))
		goto failed;
	for (size_t i = 0; i < from->count; i++) {
		const struct mapping *old = &from->mappings[i];

		if (old->start < added->start &&
		    !append(copy, part(old, old->start,
				       old->end < added->start ? old->end : added->start)))
			goto failed;
		if (!placed && old->end > added->start) {
			placed = true;
			if (!append(copy, *added))
				goto failed;
		}
		if (old->end > added->end &&
		    !append(copy,
			    part(old, old->start > added->end ? old->start : added->end, old->end)))
			goto failed;
	}
	if (!placed && !append(copy, *added))
		goto failed;
	return copy;
failed:
	space_release(copy);
	return NULL;
}

static bool insert_at(struct space *space, size_t at, const struct mapping *added)
{
	if (!hp_grow((void **)&space->mappings, &space->capacity, space->count + 1, sizeof(*added)))
		return false;
	memmove(space->mappings + at + 1, space->mappings + at,
		(space->count - at) * sizeof(*added));
	space->mappings[at] = *added;
	space->count++;
	return true;
}

static bool same_place(const struct mapping *known, const struct mapping *added)
{
	return known->image == added->image && known->start <= added->start &&
	       known->end >= added->end &&
	       known->offset + (added->start - known->start) == added->offset;
}

bool space_map(struct space **space, const struct mapping *added)
{
	struct space *old = *space;
	size_t at = first_ending_after(old, added->start);
	bool overlaps = at < old->count && old->mappings[at].start < added->end;
	struct space *new;

	/* mprotect announces an existing mapping again. */
	if (overlaps && same_place(&old->mappings[at], added)) {
		image_release(added->image);
		return true;
	}
	if (!overlaps && old->processes <= 1) {
		if (insert_at(old, at, added))
			return true;
		image_release(added->image);
		return false;
	}
	new = copy_with(old, added);
	image_release(added->image);
	if (!new)
		return false;
	old->processes--;
	new->processes = 1;
	space_release(old);
	*space = new;
	return true;
}
