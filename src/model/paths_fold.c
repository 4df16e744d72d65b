/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of call paths in bounded memory: leaves become part of their parents. */
#include "paths_private.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <stdlib.h>
#include <string.h>

struct leaf {
	uint64_t key;
	uint32_t node;
};

static int compare_leaves(const void *left, const void *right)
{
	const struct leaf *a = left;
	const struct leaf *b = right;
	int order = hp_order(a->key, b->key);

	return order ? order : hp_order(a->node, b->node);
}

static size_t find_leaves(const struct hp_paths *paths, enum paths_fold_order order,
			  struct leaf *leaves)
{
	size_t count = 0;

	for (size_t i = 0; i < paths->nodes.count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		if (node->children || hp_path_is_root(node))
			continue;
		/* the age, since the clock may wrap around */
		leaves[count++] = (struct leaf){
			order == PATHS_FOLD_BY_SAMPLES ? node->samples + node->folded
						       : UINT32_MAX - (paths->clock - node->used),
			(uint32_t)i,
		};
	}
	return count;
}

/* Renumbers the remaining nodes in their order; those in `gone` are removed. */
static void close_ranks(struct hp_paths *paths, const bool *gone, uint32_t *numbers)
{
	size_t count = 0;

	for (size_t i = 0; i < paths->nodes.count; i++) {
		struct hp_path_node node = paths->nodes.at[i];

		if (gone[i])
			continue;
		if (hp_path_is_root(&node))
			paths->roots.at[node.image] = (uint32_t)count;
		else
			node.parent = numbers[node.parent];
		node.children = 0;
		numbers[i] = (uint32_t)count;
		paths->nodes.at[count++] = node;
	}
	paths->nodes.count = count;
	for (size_t i = 0; i < count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		if (!hp_path_is_root(node) &&
		    paths->nodes.at[node->parent].children < PATH_CHILDREN_MOST)
			paths->nodes.at[node->parent].children++;
	}
	memset(paths->table, 0, paths->table_size * sizeof(*paths->table));
	paths_enter_all(paths);
	for (size_t i = 0; paths->cache && i < PATHS_CACHED; i++)
		paths->cache[i].count = 0;
}

static void fold(struct hp_paths *paths, uint32_t number)
{
	const struct hp_path_node *node = &paths->nodes.at[number];
	struct hp_path_node *parent = &paths->nodes.at[node->parent];

	parent->folded += node->samples + node->folded;
	if (paths->clock - node->used < paths->clock - parent->used)
		parent->used = node->used;
}

/* In rounds, since a parent may become a leaf. */
bool paths_fold_down(struct hp_paths *paths, size_t wanted, enum paths_fold_order order)
{
	_cleanup_free_ struct leaf *leaves = calloc(paths->nodes.count + 1, sizeof(*leaves));
	_cleanup_free_ uint32_t *numbers = calloc(paths->nodes.count + 1, sizeof(*numbers));
	_cleanup_free_ bool *gone = calloc(paths->nodes.count + 1, sizeof(*gone));

	if (!leaves || !numbers || !gone)
		return false;
	while (paths->nodes.count > wanted) {
		size_t excess = paths->nodes.count - wanted;
		size_t count = find_leaves(paths, order, leaves);

		if (!count) /* only roots are left */
			return true;
		qsort(leaves, count, sizeof(*leaves), compare_leaves);
		memset(gone, 0, paths->nodes.count * sizeof(*gone));
		for (size_t i = 0; i < count && i < excess; i++) {
			fold(paths, leaves[i].node);
			gone[leaves[i].node] = true;
		}
		close_ranks(paths, gone, numbers);
	}
	return true;
}
