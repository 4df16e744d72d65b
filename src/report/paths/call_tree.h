/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call paths of one event as a tree of procedures. An inlined function is a procedure of its
 * own; places in the same procedure are one node.
 */
#ifndef REPORT_PATHS_CALL_TREE_H
#define REPORT_PATHS_CALL_TREE_H

#include "../common/state.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/profile/paths.h>

struct call_node {
	uint32_t parent;		   /* always smaller; HP_PATH_NO_NODE for the root */
	uint32_t first;			   /* the heaviest child; HP_PATH_NO_NODE: none */
	uint32_t next;			   /* the next sibling; HP_PATH_NO_NODE: none */
	uint32_t depth;			   /* 0 for the root */
	const struct hp_called *procedure; /* NULL for the root */
	struct hp_tally own;		   /* of paths that end here */
	struct hp_tally total;		   /* of all paths through here */
	bool is_recursive;		   /* direct recursive calls are included */
};

struct call_node_entry;

/* Node 0 is the root. With --by, its children are the groups, and the paths are below these. */
struct call_tree {
	HP_VECTOR(struct call_node) nodes;
	struct call_node_entry *index;
};

enum call_order {
	CALLS_FROM_ROOT,   /* children are called by their parent */
	CALLS_FROM_SAMPLE, /* children call their parent */
};

struct call_shape {
	enum call_order order;
	/* Only paths through this procedure (its call nearest to the root), and only their part
	 * below it in the tree. NULL: all paths completely. */
	const struct hp_called *of;
	bool joins_recursion; /* direct recursion is one node */
};

struct hp_error *call_tree_make(const struct report *report, const struct call_shape *shape,
				struct call_tree *tree);
void call_tree_clear(struct call_tree *tree);

struct call_path {
	const struct hp_called *const *procedures; /* from the root on */
	size_t count;
	const struct hp_called *group; /* the path's group; NULL: there are no groups */
	struct hp_tally tally;
};

/* Calls `each` for each path with samples of the event that the report sorts by. */
struct hp_error *call_paths_each(const struct report *report,
				 struct hp_error *(*each)(const struct call_path *path,
							  void *context),
				 void *context);

#endif
