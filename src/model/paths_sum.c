/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds trees of call paths, and sorts their nodes: equal sums are equal byte for byte, in whatever
 * order they were added. */
#include "paths_private.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <stdlib.h>
#include <string.h>

/* Marks nodes that have samples, themselves or below them. */
static bool *find_lived(const struct hp_paths *paths)
{
	bool *lived = calloc(paths->nodes.count + 1, sizeof(*lived));

	for (size_t i = paths->nodes.count; lived && i-- > 0;) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		lived[i] = lived[i] || node->samples || node->folded;
		if (lived[i] && !hp_path_is_root(node))
			lived[node->parent] = true;
	}
	return lived;
}

/* Copies only what live nodes need. */
static struct hp_error *take_image(struct hp_paths *into, const struct hp_paths *from,
				   uint32_t image, uint32_t *images)
{
	if (image == HP_PATH_NO_IMAGE || images[image] != HP_PATH_NO_IMAGE)
		return NULL;
	return hp_paths_image(into, &from->images.at[image], &images[image]);
}

static struct hp_error *take_node(struct hp_paths *into, const struct hp_paths *from, uint32_t at,
				  uint32_t *images, uint32_t *numbers)
{
	const struct hp_path_node *node = &from->nodes.at[at];
	struct hp_path_frame frame = path_frame_of(node);
	struct hp_error *error;

	if (hp_path_is_root(node)) {
		error = hp_paths_series(into, &from->series.at[node->image], &frame.image);
	} else {
		error = take_image(into, from, node->image, images);
		if (!error && node->image != HP_PATH_NO_IMAGE)
			frame.image = images[node->image];
	}
	if (error)
		return error;
	return hp_paths_node(into, hp_path_is_root(node) ? HP_PATH_NO_NODE : numbers[node->parent],
			     &frame, node->samples, node->folded, &numbers[at]);
}

struct hp_error *hp_paths_merge(struct hp_paths *into, const struct hp_paths *from)
{
	_cleanup_free_ uint32_t *images = calloc(from->images.count + 1, sizeof(*images));
	_cleanup_free_ uint32_t *numbers = calloc(from->nodes.count + 1, sizeof(*numbers));
	_cleanup_free_ bool *lived = find_lived(from);
	struct hp_error *error = NULL;

	if (!images || !numbers || !lived)
		return hp_error_create_no_memory();
	memset(images, 0xff, from->images.count * sizeof(*images));
	into->clock++;
	for (size_t i = 0; i < from->nodes.count && !error; i++)
		if (lived[i])
			error = take_node(into, from, (uint32_t)i, images, numbers);
	return error ? error : hp_paths_bound(into);
}

struct hp_error *hp_paths_bound(struct hp_paths *paths)
{
	if (paths->nodes.count <= paths_limit(paths) ||
	    paths_fold_down(paths, paths_limit(paths), PATHS_FOLD_BY_SAMPLES))
		return NULL;
	return hp_error_create_no_memory();
}

/* --- canonical order -------------------------------------------------------------------------- */

/* Nodes are sorted by parent, then by place. */
struct sorting {
	const struct hp_paths *paths;
	const uint32_t *images; /* ranks */
	const uint32_t *series;
};

static uint32_t rank_of(const struct sorting *sorting, const struct hp_path_node *node)
{
	if (hp_path_is_root(node))
		return sorting->series[node->image];
	return node->image == HP_PATH_NO_IMAGE ? HP_PATH_NO_IMAGE : sorting->images[node->image];
}

static int compare_nodes(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct hp_path_node *a = &sorting->paths->nodes.at[*(const uint32_t *)left];
	const struct hp_path_node *b = &sorting->paths->nodes.at[*(const uint32_t *)right];
	int order = hp_order(a->parent, b->parent);

	if (!order)
		order = hp_order(rank_of(sorting, a), rank_of(sorting, b));
	if (!order)
		order = hp_order(a->offset, b->offset);
	return order ? order : hp_order(a->flags, b->flags);
}

/* Groups live nodes by parent, with siblings in order. Roots, whose parent is the largest number,
 * come last. */
static void sort_nodes(const struct hp_paths *paths, const bool *lived,
		       const struct hp_paths_order *order, uint32_t *sorted, size_t *count)
{
	struct sorting sorting = { paths, order->images, order->series };

	*count = 0;
	for (size_t i = 0; i < paths->nodes.count; i++)
		if (lived[i])
			sorted[(*count)++] = (uint32_t)i;
	if (*count)
		qsort_r(sorted, *count, sizeof(*sorted), compare_nodes, &sorting);
}

/* Finds the ranks of images and series that live nodes need. */
static void rank(const struct hp_paths *paths, const bool *lived, struct hp_paths_order *order)
{
	for (size_t i = 0; i < paths->nodes.count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		if (!lived[i] || node->image == HP_PATH_NO_IMAGE)
			continue;
		if (hp_path_is_root(node))
			order->series[node->image] = 0;
		else
			order->images[node->image] = 0;
	}
	for (size_t i = 0; i < paths->images.count; i++)
		if (order->images[paths->image_order.at[i]] == 0)
			order->images[paths->image_order.at[i]] = (uint32_t)order->image_count++;
	for (size_t i = 0; i < paths->series.count; i++)
		if (order->series[paths->series_order.at[i]] == 0)
			order->series[paths->series_order.at[i]] = (uint32_t)order->series_count++;
}

/* Walks down each tree, with a stack of nodes yet to be visited. */
static struct hp_error *descend(const struct hp_paths *paths, const uint32_t *sorted, size_t count,
				struct hp_paths_order *order)
{
	const struct hp_path_node *nodes = paths->nodes.at;
	HP_VECTOR(uint32_t) stack = { 0 };
	bool fine = true;

	for (size_t i = count; fine && i-- > 0 && hp_path_is_root(&nodes[sorted[i]]);)
		fine = hp_vector_push(&stack, sorted[i]);
	while (fine && stack.count) {
		uint32_t node = stack.at[--stack.count];
		size_t first = hp_bisect(i, count, nodes[sorted[i]].parent < node);
		size_t end = hp_bisect(i, count, nodes[sorted[i]].parent <= node);

		order->nodes[order->count++] = node;
		for (size_t i = end; fine && i-- > first;)
			fine = hp_vector_push(&stack, sorted[i]);
	}
	hp_vector_free(&stack);
	return fine ? NULL : hp_error_create_no_memory();
}

struct hp_error *hp_paths_sort(const struct hp_paths *paths, struct hp_paths_order *order)
{
	_cleanup_free_ bool *lived = find_lived(paths);
	_cleanup_free_ uint32_t *sorted = calloc(paths->nodes.count + 1, sizeof(*sorted));
	size_t count;
	struct hp_error *error;

	*order = (struct hp_paths_order){
		.nodes = calloc(paths->nodes.count + 1, sizeof(uint32_t)),
		.images = malloc((paths->images.count + 1) * sizeof(uint32_t)),
		.series = malloc((paths->series.count + 1) * sizeof(uint32_t)),
	};
	if (!lived || !sorted || !order->nodes || !order->images || !order->series) {
		hp_paths_order_clear(order);
		return hp_error_create_no_memory();
	}
	memset(order->images, 0xff, paths->images.count * sizeof(uint32_t));
	memset(order->series, 0xff, paths->series.count * sizeof(uint32_t));
	rank(paths, lived, order);
	sort_nodes(paths, lived, order, sorted, &count);
	error = descend(paths, sorted, count, order);
	if (error)
		hp_paths_order_clear(order);
	return error;
}

void hp_paths_order_clear(struct hp_paths_order *order)
{
	free(order->nodes);
	free(order->images);
	free(order->series);
	*order = (struct hp_paths_order){ 0 };
}
