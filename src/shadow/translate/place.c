/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place.h"

#include "../tuning.h"
#include <hpcprof/base/number.h>

#include <sys/mman.h>

/* vm.mmap_min_addr is at most this, even where somebody has changed it */
static const uint64_t lowest = 0x10000;
static const uint64_t highest = 0x7ffffffff000;
static const uint64_t reach = 0x7f000000; /* 2 GiB minus a margin for instruction lengths */
/* The largest gap that the kernel leaves between the first library and the stack, unless mmap goes
 * upward. */
static const uint64_t stack_gap_most = (uint64_t)2 << 40; /* randomized by up to 1 TiB */

enum { SCATTER_STEP = 4096 };

/* Code that can be reached from one place. */
struct group {
	uint64_t start, end;
	uint64_t code_bytes;
};

struct view {
	const struct areas *areas;
	uint64_t libraries_end; /* end of the last mapping below the stack */
	uint64_t stack_start;
	uint64_t heap_end; /* 0: there is no heap */
	uint64_t bytes;
	struct hp_random chance;
	bool is_scattered;
};

bool shadow_place_reaches(uint64_t place, uint64_t bytes, uint64_t start, uint64_t end)
{
	uint64_t low = place < start ? place : start;
	uint64_t high = place + bytes > end ? place + bytes : end;

	return high - low <= reach;
}

static bool is_free(const struct view *view, uint64_t start)
{
	uint64_t end = start + view->bytes;

	if (start < lowest || end > highest || end < start)
		return false;
	for (size_t i = 0; i < view->areas->count; i++)
		if (view->areas->at[i].start < end && start < view->areas->at[i].end)
			return false;
	return true;
}

static bool suits(const struct view *view, const struct group *group, uint64_t place)
{
	return is_free(view, place) &&
	       (!group || shadow_place_reaches(place, view->bytes, group->start, group->end));
}

static struct view view_of(const struct areas *areas, uint64_t bytes, uint64_t chance)
{
	struct view view = {
		.areas = areas,
		.bytes = bytes,
		.chance = hp_random_seeded(chance),
		.is_scattered = chance != 0,
	};

	for (size_t i = 0; i < areas->count; i++) {
		if (areas->at[i].kind == AREA_HEAP)
			view.heap_end = areas->at[i].end;
		if (areas->at[i].kind == AREA_STACK) {
			view.stack_start = areas->at[i].start;
			view.libraries_end = i ? areas->at[i - 1].end : 0;
		}
	}
	return view;
}

/* Moves the place up (or down) by chance, within the free range and within reach. */
static uint64_t scatter(struct view *view, const struct group *group, uint64_t place, bool upward)
{
	uint64_t most = PLACE_SCATTER_BYTES;

	while (view->is_scattered && most >= SCATTER_STEP) {
		uint64_t by = hp_random_next(&view->chance) % most / SCATTER_STEP * SCATTER_STEP;
		struct view between = *view;

		between.bytes += by + (upward ? place_stack_room : 0);
		if (suits(&between, NULL, upward ? place : place - by) &&
		    suits(view, group, upward ? place + by : place - by))
			return upward ? place + by : place - by;
		most /= 2;
	}
	return place;
}

/* Where to begin the search for a group, or for none in particular (NULL), and in which direction
 * more room is likely. */
static bool find_start(const struct view *view, const struct group *group, uint64_t *place,
		       bool *upward)
{
	const struct areas *areas = view->areas;
	uint64_t above;

	if (view->stack_start && view->stack_start - view->libraries_end < stack_gap_most &&
	    view->stack_start - view->libraries_end >
		    view->bytes + place_room_to_shift + 4 * place_guard) {
		*place = view->libraries_end + place_room_to_shift;
		*upward = true;
		if (suits(view, group, *place))
			return true;
	}
	if (group) {
		*place = group->start - place_guard - view->bytes;
		*upward = false;
		/* If there are mappings below, that is where mmap places new ones: see the last
		 * try. */
		if (group->start == areas->at[0].start && suits(view, group, *place))
			return true;
		above = view->heap_end > group->start ? view->heap_end : group->end;
		*place = above + place_room_to_grow;
		*upward = true;
		if (group->start == areas->at[0].start && suits(view, group, *place))
			return true;
	}
	*upward = false;
	for (size_t i = areas->count; i-- > 0;) {
		if (group && areas->at[i].start > group->end)
			continue;
		*place = areas->at[i].start - place_room_to_grow - view->bytes;
		if (suits(view, group, *place))
			return true;
	}
	return false;
}

static bool find_place(struct view *view, const struct group *group, uint64_t *place)
{
	bool upward;

	if (!find_start(view, group, place, &upward))
		return false;
	*place = scatter(view, group, *place, upward);
	return true;
}

/* Divides code into groups, by address: code within half the reach of a group's start joins it. */
static size_t find_groups(const struct view *view, struct group *groups, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < view->areas->count; i++) {
		const struct area *area = &view->areas->at[i];

		if (!(area->protection & PROT_EXEC) || area->end > highest ||
		    (view->stack_start && area->start > view->stack_start))
			continue;
		if (!count || area->end - groups[count - 1].start > reach / 2) {
			if (count == most)
				break;
			/* from the start of the image, since its code refers to it */
			groups[count++] = (struct group){ .start = area->start };
			if (i && view->areas->at[i - 1].end == area->start)
				groups[count - 1].start = view->areas->at[i - 1].start;
		}
		groups[count - 1].end = area->end;
		groups[count - 1].code_bytes += area->end - area->start;
	}
	return count;
}

/* by an earlier place */
static bool is_taken(const uint64_t places[SHADOW_PLACES], size_t count, uint64_t bytes)
{
	return count && places[0] < places[count] + bytes && places[count] < places[0] + bytes;
}

size_t shadow_place(const struct areas *areas, uint64_t bytes, uint64_t chance,
		    uint64_t places[SHADOW_PLACES])
{
	struct view view = view_of(areas, bytes, chance);
	struct group groups[PLACE_GROUPS];
	size_t group_count = find_groups(&view, groups, PLACE_GROUPS);
	size_t count = 0;

	while (count < SHADOW_PLACES) {
		struct group *largest = NULL;

		for (size_t i = 0; i < group_count; i++)
			if (groups[i].code_bytes &&
			    (!largest || groups[i].code_bytes > largest->code_bytes))
				largest = &groups[i];
		if (!largest)
			break;
		if (find_place(&view, largest, &places[count]) && !is_taken(places, count, bytes))
			count++;
		largest->code_bytes = 0;
	}
	/* No group has room within reach. A place far away also works, but more slowly. */
	if (!count && find_place(&view, NULL, &places[0]))
		count = 1;
	return count;
}
