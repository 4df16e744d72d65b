/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that work on trees of call paths share. */
#ifndef HPCPROF_MODEL_PATHS_PRIVATE_H
#define HPCPROF_MODEL_PATHS_PRIVATE_H

#include <hpcprof/model/paths.h>

/* Number of series whose last paths are kept: programs alternate, and each continues where it
 * was. */
enum { PATHS_CACHED = 8 };

/* The last path of a series: its frames from the root, and their nodes. */
struct hp_path_cache {
	uint32_t series;
	size_t count;
	struct hp_path_frame frames[HP_PATH_MOST_FRAMES];
	uint32_t nodes[HP_PATH_MOST_FRAMES];
};

enum { PATH_CHILDREN_MOST = (1 << 24) - 1 };

static inline struct hp_path_frame path_frame_of(const struct hp_path_node *node)
{
	return (struct hp_path_frame){ node->offset, node->image, node->flags };
}

static inline size_t paths_limit(const struct hp_paths *paths)
{
	return paths->node_limit ? paths->node_limit : HP_PATHS_DEFAULT_NODES;
}

/* The hash table of nodes by parent and place. In order: reserve room (false: out of memory), add a
 * node, add all nodes to an empty table, find the child at a place (HP_PATH_NO_NODE: none). */
bool paths_table_reserve(struct hp_paths *paths, size_t nodes);
void paths_enter(struct hp_paths *paths, uint32_t number);
void paths_enter_all(struct hp_paths *paths);
uint32_t paths_find(const struct hp_paths *paths, uint32_t parent,
		    const struct hp_path_frame *frame);

/* Which leaves are folded first: the least recently used, or those with the fewest samples. */
enum paths_fold_order { PATHS_FOLD_BY_USE, PATHS_FOLD_BY_SAMPLES };

/* Folds leaves into their parents until at most `wanted` nodes remain; roots always remain. False:
 * out of memory. */
bool paths_fold_down(struct hp_paths *paths, size_t wanted, enum paths_fold_order order);

#endif
