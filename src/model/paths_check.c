/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a tree of call paths holds, and whether it keeps the rules. */
#include "paths_private.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>
#include <string.h>

uint64_t hp_paths_samples(const struct hp_paths *paths, const char *event)
{
	_cleanup_free_ bool *counts = calloc(paths->nodes.count + 1, sizeof(*counts));
	uint64_t samples = 0;

	for (size_t i = 0; i < paths->nodes.count && counts; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		counts[i] =
			hp_path_is_root(node)
				? !event || strcmp(paths->series.at[node->image].event, event) == 0
				: counts[node->parent];
		if (counts[i])
			samples += node->folded + node->samples;
	}
	return samples;
}

static const char *node_fault(const struct hp_paths *paths, size_t at)
{
	const struct hp_path_node *node = &paths->nodes.at[at];
	bool is_placeless = node->flags & (HP_PATH_TRUNCATED | HP_PATH_UNKNOWN);

	if (hp_path_is_root(node))
		return node->image < paths->series.count && !node->offset && !node->flags
			       ? NULL
			       : "a root without a series";
	if (node->parent >= at)
		return "a node before its parent";
	if (node->flags & ~(unsigned)HP_PATH_ALL_FLAGS)
		return "a node with unknown flags";
	if ((node->flags & HP_PATH_TRUNCATED) && !hp_path_is_root(&paths->nodes.at[node->parent]))
		return "unknown callers with a caller";
	if (is_placeless ? node->image != HP_PATH_NO_IMAGE || node->offset
			 : node->image >= paths->images.count)
		return "a node without an image";
	return NULL;
}

struct hp_error *hp_paths_check(const struct hp_paths *paths)
{
	uint64_t total = 0;

	for (size_t i = 0; i < paths->series.count; i++) {
		const struct hp_path_series *series = &paths->series.at[i];

		if (!series->event || !series->command || !series->period ||
		    (series->thread && !series->thread[0]))
			return hp_error_create(
				HP_ERROR_DAMAGED,
				"call paths: a series without event, command or period");
	}
	for (size_t i = 0; i < paths->nodes.count; i++) {
		const char *fault = node_fault(paths, i);

		if (fault)
			return hp_error_create(HP_ERROR_DAMAGED, "call paths: %s", fault);
		if (__builtin_add_overflow(total, paths->nodes.at[i].samples, &total) ||
		    __builtin_add_overflow(total, paths->nodes.at[i].folded, &total))
			return hp_error_create(HP_ERROR_DAMAGED,
					       "samples of call paths run past 64 bits");
	}
	return NULL;
}
