/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of /proc/PID/maps, and the address space it makes. */
#include "fuzz.h"

#include "../../src/collect/maps/proc_maps.h"
#include "../../src/collect/maps/space.h"

#include <stdlib.h>
#include <string.h>

static void check(bool claim)
{
	if (!claim)
		abort();
}

struct reading {
	struct space *space;
	struct image image;
};

static bool take(const struct hp_record_mmap *mapping, void *context)
{
	struct reading *reading = context;
	struct mapping added = {
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.offset = mapping->file_offset,
	};
	const struct mapping *found;

	check(mapping->size > 0 && added.end > added.start);
	check(mapping->path[0]);
	check(!mapping->build_id.size);
	if (mapping->inode) {
		added.image = &reading->image;
		added.image->references++;
	}
	if (!space_map(&reading->space, &added))
		return false;
	/* It is there now, from its first byte to its last. */
	found = space_find(reading->space, added.start);
	check(found && found->image == added.image);
	check(found->offset + (added.start - found->start) == added.offset);
	check(space_find(reading->space, added.end - 1) == found);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct reading reading = { .space = space_create() };
	char *text = malloc(size + 1);

	if (reading.space && text) {
		if (size)
			memcpy(text, bytes, size);
		text[size] = 0;
		reading.space->processes = 1;
		proc_maps_parse(text, take, &reading);
		for (size_t i = 0; i < reading.space->count; i++) {
			const struct mapping *mapping = &reading.space->mappings[i];

			check(mapping->start < mapping->end);
			check(!i || mapping[-1].end <= mapping->start);
		}
	}
	space_release(reading.space);
	check(reading.image.references == 0);
	free(text);
	return 0;
}
