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
	uint32_t parent;		   /* a smaller number; of the root HP_PATH_NO_NODE */
	uint32_t first;			   /* the heaviest child; HP_PATH_NO_NODE: none */
	uint32_t next;			   /* the next sibling */
	uint32_t depth;			   /* of the root 0 */
	const struct hp_called *procedure; /* of the root NULL */
	struct hp_tally own;		   /* of paths that end here */
	struct hp_tally total;		   /* of all paths over here */
	bool is_recursive;		   /* calls of itself, directly, are in it */
};

struct call_node_entry;

/* Node 0 is the root; with --by its children are the groups, and paths are below these. */
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
	/* Only paths over this procedure (the call nearest to the root), and of these only what is
	 * below it in the tree: NULL: all paths, whole. */
	const struct hp_called *of;
	bool joins_recursion; /* a procedure that calls itself, directly, is one node */
};

struct hp_error *call_tree_make(const struct report *report, const struct call_shape *shape,
				struct call_tree *tree);
void call_tree_clear(struct call_tree *tree);

struct call_path {
	const struct hp_called *const *procedures; /* from the root */
	size_t count;
	const struct hp_called *group; /* what stands for it; NULL: they are not told apart */
	struct hp_tally tally;
};

/* Calls `each` with each path that has samples of the event that the report sorts by. */
struct hp_error *call_paths_each(const struct report *report,
				 struct hp_error *(*each)(const struct call_path *path,
							  void *context),
				 void *context);

#endif
