/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes of trees of call paths by parent and place: a hash table of which at most half is used. */
#include "paths_private.h"

#include <stdlib.h>

enum { TABLE_LEAST = 1024 };

static size_t hash_of(uint32_t parent, const struct hp_path_frame *frame)
{
	uint64_t hash = (frame->offset ^ (uint64_t)frame->image << 40) * 0x9e3779b97f4a7c15u;

	hash ^= ((uint64_t)parent << 8 | frame->flags) * 0xc2b2ae3d27d4eb4fu;
	hash = (hash ^ hash >> 29) * 0x165667b19e3779f9u;
	return hash >> 32;
}

void paths_enter(struct hp_paths *paths, uint32_t number)
{
	const struct hp_path_node *node = &paths->nodes.at[number];
	struct hp_path_frame frame = path_frame_of(node);
	size_t at = hash_of(node->parent, &frame) & (paths->table_size - 1);

	while (paths->table[at])
		at = (at + 1) & (paths->table_size - 1);
	paths->table[at] = number + 1;
}

void paths_enter_all(struct hp_paths *paths)
{
	for (size_t i = 0; i < paths->nodes.count; i++)
		if (!hp_path_is_root(&paths->nodes.at[i]))
			paths_enter(paths, (uint32_t)i);
}

bool paths_table_reserve(struct hp_paths *paths, size_t nodes)
{
	size_t size = paths->table_size ? paths->table_size : TABLE_LEAST;
	uint32_t *table;

	while (size < 2 * nodes)
		size *= 2;
	if (size == paths->table_size)
		return true;
	table = calloc(size, sizeof(*table));
	if (!table)
		return false;
	free(paths->table);
	paths->table = table;
	paths->table_size = size;
	paths_enter_all(paths);
	return true;
}

uint32_t paths_find(const struct hp_paths *paths, uint32_t parent,
		    const struct hp_path_frame *frame)
{
	size_t mask = paths->table_size - 1;

	if (!paths->table_size)
		return HP_PATH_NO_NODE;
	for (size_t at = hash_of(parent, frame) & mask; paths->table[at]; at = (at + 1) & mask) {
		const struct hp_path_node *node = &paths->nodes.at[paths->table[at] - 1];

		if (node->offset == frame->offset && node->parent == parent &&
		    node->image == frame->image && node->flags == frame->flags)
			return paths->table[at] - 1;
	}
	return HP_PATH_NO_NODE;
}
