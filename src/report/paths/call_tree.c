/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_tree.h"

#include <hpcprof/base/hash.h>

#include <string.h>

struct call_node_key {
	const struct hp_called *procedure;
	uint64_t parent;
};

struct call_node_entry {
	UT_hash_handle hh;
	struct call_node_key key;
	uint32_t node;
};

/* --- paths ------------------------------------------------------------------------------------ */

struct hp_error *call_paths_each(const struct report *report,
				 struct hp_error *(*each)(const struct call_path *path,
							  void *context),
				 void *context)
{
	const struct hp_call_paths *paths = report->paths;
	HP_VECTOR(const struct hp_called *) path = { 0 };
	const struct hp_called *group;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];
		struct hp_tally own = step->own;

		if (!own.samples ||
		    paths->roots.at[step->root].event != report->profiles->sort_event)
			continue;
		group = paths->groups.count ? paths->groups.at[paths->roots.at[step->root].group]
					    : NULL;
		path.count = 0;
		/* The innermost one comes first; the order is reversed below. */
		for (; step->parent != HP_PATH_NO_NODE && !error;
		     step = &paths->steps.at[step->parent]) {
			const struct hp_path_place *place = &paths->places.at[step->place];

			for (size_t j = 0; j < place->count && !error; j++)
				if (!hp_vector_push(&path, place->at[j].procedure))
					error = hp_error_create_no_memory();
		}
		for (size_t j = 0; j < path.count / 2; j++) {
			const struct hp_called *other = path.at[j];

			path.at[j] = path.at[path.count - 1 - j];
			path.at[path.count - 1 - j] = other;
		}
		if (!error)
			error = each(&(struct call_path){ path.at, path.count, group, own },
				     context);
	}
	hp_vector_free(&path);
	return error;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool add_node(struct call_tree *tree, uint32_t parent, const struct hp_called *procedure)
{
	struct call_node node = { .parent = parent,
				  .first = HP_PATH_NO_NODE,
				  .next = HP_PATH_NO_NODE,
				  .procedure = procedure };

	if (parent != HP_PATH_NO_NODE)
		node.depth = tree->nodes.at[parent].depth + 1;
	return hp_vector_push(&tree->nodes, node);
}

static struct hp_error *child_of(struct call_tree *tree, uint32_t parent,
				 const struct hp_called *procedure, uint32_t *child)
{
	struct call_node_key key;
	struct call_node_entry *entry;

	memset(&key, 0, sizeof(key));
	key.procedure = procedure;
	key.parent = parent;
	HASH_FIND(hh, tree->index, &key, sizeof(key), entry);
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry || !add_node(tree, parent, procedure)) {
			free(entry);
			return hp_error_create_no_memory();
		}
		memcpy(&entry->key, &key, sizeof(key));
		entry->node = (uint32_t)tree->nodes.count - 1;
		HASH_ADD(hh, tree->index, key, sizeof(key), entry);
		if (!entry->hh.tbl) {
			free(entry);
			return hp_error_create_no_memory();
		}
	}
	*child = entry->node;
	return NULL;
}

void call_tree_clear(struct call_tree *tree)
{
	HP_HASH_FREE(tree->index);
	hp_vector_free(&tree->nodes);
	*tree = (struct call_tree){ 0 };
}

/* --- building --------------------------------------------------------------------------------- */

struct building {
	struct call_tree *tree;
	const struct call_shape *shape;
};

/* Starts at the root, or at the node of the path's group. */
static struct hp_error *begin_path(struct call_tree *tree, const struct call_path *path,
				   uint32_t *node)
{
	struct hp_error *error = NULL;

	*node = 0;
	hp_tally_add(&tree->nodes.at[0].total, &path->tally);
	if (path->group)
		error = child_of(tree, 0, path->group, node);
	if (!error && path->group)
		hp_tally_add(&tree->nodes.at[*node].total, &path->tally);
	return error;
}

static struct hp_error *add_path(const struct call_path *path, void *context)
{
	const struct building *building = context;
	const struct call_shape *shape = building->shape;
	struct call_tree *tree = building->tree;
	bool from_root = shape->order == CALLS_FROM_ROOT;
	size_t count = path->count;
	size_t first = 0;
	uint32_t node;
	struct hp_error *error;

	while (shape->of && first < count && path->procedures[first] != shape->of)
		first++;
	if (shape->of && first == count)
		return NULL;
	if (shape->of && !from_root)
		count = first + 1;
	if (!shape->of || !from_root)
		first = 0;
	error = begin_path(tree, path, &node);
	for (size_t i = first; i < count && !error; i++) {
		const struct hp_called *procedure =
			path->procedures[from_root ? i : count - 1 - (i - first)];

		if (shape->joins_recursion && tree->nodes.at[node].procedure == procedure) {
			tree->nodes.at[node].is_recursive = true;
			continue;
		}
		error = child_of(tree, node, procedure, &node);
		if (!error)
			hp_tally_add(&tree->nodes.at[node].total, &path->tally);
	}
	if (!error)
		hp_tally_add(&tree->nodes.at[node].own, &path->tally);
	return error;
}

/* The lightest first: each child is linked in front of its siblings, so the heaviest ends up
 * first. */
static int compare_nodes(const void *left, const void *right, void *context)
{
	const struct call_tree *tree = context;
	const struct call_node *a = &tree->nodes.at[*(const uint32_t *)left];
	const struct call_node *b = &tree->nodes.at[*(const uint32_t *)right];
	int order = (a->total.weight > b->total.weight) - (a->total.weight < b->total.weight);

	if (!order)
		order = strcmp(b->procedure->name, a->procedure->name);
	return order ? order
		     : (a->procedure->index < b->procedure->index) -
			       (a->procedure->index > b->procedure->index);
}

static struct hp_error *link_children(struct call_tree *tree)
{
	size_t count = tree->nodes.count - 1;
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i + 1;
	qsort_r(order, count, sizeof(*order), compare_nodes, tree);
	for (size_t i = 0; i < count; i++) {
		struct call_node *node = &tree->nodes.at[order[i]];

		node->next = tree->nodes.at[node->parent].first;
		tree->nodes.at[node->parent].first = order[i];
	}
	return NULL;
}

struct hp_error *call_tree_make(const struct report *report, const struct call_shape *shape,
				struct call_tree *tree)
{
	struct building building = { tree, shape };
	struct hp_error *error = NULL;

	*tree = (struct call_tree){ 0 };
	if (!add_node(tree, HP_PATH_NO_NODE, NULL))
		return hp_error_create_no_memory();
	error = call_paths_each(report, add_path, &building);
	if (!error)
		error = link_children(tree);
	HP_HASH_FREE(tree->index);
	return error;
}
