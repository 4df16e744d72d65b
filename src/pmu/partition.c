/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "partition.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

#define NO_ITEM UINT32_MAX

struct partition {
	size_t item_count;
	hp_fits *fits;
	void *context;
	uint32_t *group_of;
	uint32_t group_count;
	uint32_t *members; /* buffer: a group to be tried */
	uint32_t *queue;   /* items that look for another group, each at most once */
	/* by queued item: the item that would take its place; NO_ITEM: not queued */
	uint32_t *pusher;
	uint32_t *before; /* copy of group_of, in case a chain fails */
	size_t placed;
	size_t rank; /* size of the largest group */
};

/* Whether the group fits with `added` and without `removed` (NO_ITEM: none). */
static bool fits_with(struct partition *partition, uint32_t group, uint32_t added, uint32_t removed)
{
	size_t count = 0;

	for (uint32_t i = 0; i < partition->item_count; i++)
		if ((partition->group_of[i] == group && i != removed) || i == added)
			partition->members[count++] = i;
	return partition->fits(partition->context, partition->members, count);
}

/* The largest number of items that fit together: in a matroid, each set that cannot be extended is
 * largest. */
static size_t find_rank(struct partition *partition)
{
	size_t count = 0;

	for (uint32_t i = 0; i < partition->item_count; i++) {
		partition->members[count] = i;
		if (partition->fits(partition->context, partition->members, count + 1))
			count++;
	}
	return count;
}

/* `item` has found room in `group`; each item of its chain moves. */
static bool follow(struct partition *partition, uint32_t item, uint32_t group)
{
	size_t bytes = partition->item_count * sizeof(*partition->group_of);

	memcpy(partition->before, partition->group_of, bytes);
	while (true) {
		uint32_t left = partition->group_of[item];

		partition->group_of[item] = group;
		if (left == HP_NO_GROUP)
			break;
		group = left;
		item = partition->pusher[item];
	}
	/* In a matroid, a shortest chain always works. */
	for (uint32_t i = 0; i < partition->group_count; i++) {
		if (!fits_with(partition, i, NO_ITEM, NO_ITEM)) {
			memcpy(partition->group_of, partition->before, bytes);
			return false;
		}
	}
	return true;
}

/* Breadth-first search for the items that must move so that `item` fits. */
static bool place(struct partition *partition, uint32_t item)
{
	size_t head = 0;
	size_t tail = 0;

	for (size_t i = 0; i < partition->item_count; i++)
		partition->pusher[i] = NO_ITEM;
	partition->pusher[item] = item;
	partition->queue[tail++] = item;
	while (head < tail) {
		uint32_t mover = partition->queue[head++];

		for (uint32_t group = 0; group < partition->group_count; group++)
			if (group != partition->group_of[mover] &&
			    fits_with(partition, group, mover, NO_ITEM))
				return follow(partition, mover, group);
		for (uint32_t other = 0; other < partition->item_count; other++) {
			uint32_t group = partition->group_of[other];

			if (group == HP_NO_GROUP || group == partition->group_of[mover] ||
			    partition->pusher[other] != NO_ITEM ||
			    !fits_with(partition, group, mover, other))
				continue;
			partition->pusher[other] = mover;
			partition->queue[tail++] = other;
		}
	}
	return false;
}

/* Full groups need not be tried. */
static bool may_have_room(const struct partition *partition)
{
	return partition->placed < partition->rank * partition->group_count;
}

static void add(struct partition *partition, uint32_t item)
{
	if (!partition->fits(partition->context, &item, 1))
		return;
	if (!may_have_room(partition) || !place(partition, item))
		partition->group_of[item] = partition->group_count++;
	partition->placed++;
}

/* Numbers groups by their first items. */
static void renumber(struct partition *partition)
{
	uint32_t next = 0;
	uint32_t *number = partition->queue;

	for (size_t i = 0; i < partition->item_count; i++)
		number[i] = HP_NO_GROUP;
	for (size_t i = 0; i < partition->item_count; i++) {
		uint32_t group = partition->group_of[i];

		if (group == HP_NO_GROUP)
			continue;
		if (number[group] == HP_NO_GROUP)
			number[group] = next++;
		partition->group_of[i] = number[group];
	}
}

struct hp_error *hp_partition(size_t item_count, bool alike, hp_fits *fits, void *context,
			      uint32_t *group_of, uint32_t *group_count)
{
	_cleanup_free_ uint32_t *scratch = calloc(item_count + 1, 4 * sizeof(*scratch));
	struct partition partition = {
		.item_count = item_count,
		.fits = fits,
		.context = context,
		.group_of = group_of,
	};

	if (!scratch)
		return hp_error_create_no_memory();
	partition.members = scratch;
	partition.queue = scratch + item_count;
	partition.pusher = scratch + 2 * item_count;
	partition.before = scratch + 3 * item_count;
	for (size_t i = 0; i < item_count; i++)
		group_of[i] = HP_NO_GROUP;
	partition.rank = alike ? find_rank(&partition) : item_count;
	for (uint32_t i = 0; i < item_count; i++)
		add(&partition, i);
	renumber(&partition);
	*group_count = partition.group_count;
	return NULL;
}
