/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paths_private.h"

#include <hpcprof/base/search.h>
#include <hpcprof/model/profile.h>

#include <string.h>

static struct hp_stratum stratum_of(const struct hp_path_series *series)
{
	return (struct hp_stratum){
		.command = series->command,
		.thread = series->thread,
		.pid = series->pid,
		.tid = series->tid,
		.cpu = series->cpu,
		.period = series->period,
	};
}

int hp_path_series_compare(const struct hp_path_series *a, const struct hp_path_series *b)
{
	const struct hp_stratum x = stratum_of(a);
	const struct hp_stratum y = stratum_of(b);
	int order = strcmp(a->event, b->event);

	return order ? order : hp_stratum_compare(&x, &y);
}

static void clear_series(struct hp_path_series *series)
{
	free(series->event);
	free(series->command);
	free(series->thread);
}

void hp_paths_clear(struct hp_paths *paths)
{
	for (size_t i = 0; i < paths->images.count; i++)
		hp_image_id_clear(&paths->images.at[i]);
	for (size_t i = 0; i < paths->series.count; i++)
		clear_series(&paths->series.at[i]);
	hp_vector_free(&paths->images);
	hp_vector_free(&paths->series);
	hp_vector_free(&paths->nodes);
	hp_vector_free(&paths->image_order);
	hp_vector_free(&paths->series_order);
	hp_vector_free(&paths->roots);
	free(paths->table);
	free(paths->cache);
	*paths = (struct hp_paths){ .node_limit = paths->node_limit };
}

void hp_paths_restart(struct hp_paths *paths)
{
	for (size_t i = 0; i < paths->nodes.count; i++)
		paths->nodes.at[i].samples = paths->nodes.at[i].folded = 0;
}

/* --- images and series ------------------------------------------------------------------------ */

struct hp_error *hp_paths_image(struct hp_paths *paths, const struct hp_image_id *id,
				uint32_t *image)
{
	size_t count = paths->images.count;
	size_t at = hp_bisect(
		i, count, hp_image_id_compare(&paths->images.at[paths->image_order.at[i]], id) < 0);
	struct hp_image_id copy;
	struct hp_error *error;

	if (at < count &&
	    hp_image_id_compare(&paths->images.at[paths->image_order.at[at]], id) == 0) {
		*image = paths->image_order.at[at];
		return NULL;
	}
	if (!hp_vector_reserve(&paths->images, count + 1) ||
	    !hp_vector_reserve(&paths->image_order, count + 1))
		return hp_error_create_no_memory();
	error = hp_image_id_copy(id, &copy);
	if (error)
		return error;
	memmove(paths->image_order.at + at + 1, paths->image_order.at + at,
		(count - at) * sizeof(*paths->image_order.at));
	paths->image_order.at[at] = (uint32_t)count;
	paths->image_order.count++;
	paths->images.at[paths->images.count++] = copy;
	*image = (uint32_t)count;
	return NULL;
}

static bool copy_series(const struct hp_path_series *from, struct hp_path_series *to)
{
	*to = *from;
	to->event = strdup(from->event);
	to->command = strdup(from->command);
	to->thread = from->thread ? strdup(from->thread) : NULL;
	if (to->event && to->command && (to->thread || !from->thread))
		return true;
	clear_series(to);
	return false;
}

struct hp_error *hp_paths_series(struct hp_paths *paths, const struct hp_path_series *series,
				 uint32_t *number)
{
	size_t count = paths->series.count;
	size_t at = hp_bisect(
		i, count,
		hp_path_series_compare(&paths->series.at[paths->series_order.at[i]], series) < 0);
	struct hp_path_series copy;

	if (at < count &&
	    hp_path_series_compare(&paths->series.at[paths->series_order.at[at]], series) == 0) {
		*number = paths->series_order.at[at];
		return NULL;
	}
	if (!hp_vector_reserve(&paths->series, count + 1) ||
	    !hp_vector_reserve(&paths->series_order, count + 1) ||
	    !hp_vector_reserve(&paths->roots, count + 1) || !copy_series(series, &copy))
		return hp_error_create_no_memory();
	memmove(paths->series_order.at + at + 1, paths->series_order.at + at,
		(count - at) * sizeof(*paths->series_order.at));
	paths->series_order.at[at] = (uint32_t)count;
	paths->series_order.count++;
	paths->series.at[paths->series.count++] = copy;
	paths->roots.at[paths->roots.count++] = HP_PATH_NO_NODE;
	*number = (uint32_t)count;
	return NULL;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* HP_PATH_NO_NODE: out of memory. */
static uint32_t new_node(struct hp_paths *paths, uint32_t parent, const struct hp_path_frame *frame)
{
	struct hp_path_node node = { .offset = frame->offset,
				     .parent = parent,
				     .image = frame->image,
				     .used = paths->clock,
				     .flags = (uint8_t)frame->flags };
	size_t number = paths->nodes.count;

	if (number >= HP_PATH_NO_NODE - 1 || !paths_table_reserve(paths, number + 1) ||
	    !hp_vector_push(&paths->nodes, node))
		return HP_PATH_NO_NODE;
	if (parent != HP_PATH_NO_NODE) {
		struct hp_path_node *above = &paths->nodes.at[parent];

		if (above->children < PATH_CHILDREN_MOST)
			above->children++;
		paths_enter(paths, (uint32_t)number);
	}
	return (uint32_t)number;
}

static uint32_t child_of(struct hp_paths *paths, uint32_t parent, const struct hp_path_frame *frame)
{
	uint32_t known = paths_find(paths, parent, frame);

	return known == HP_PATH_NO_NODE ? new_node(paths, parent, frame) : known;
}

static uint32_t root_of(struct hp_paths *paths, uint32_t series)
{
	const struct hp_path_frame frame = { .image = series };

	if (paths->roots.at[series] == HP_PATH_NO_NODE)
		paths->roots.at[series] = new_node(paths, HP_PATH_NO_NODE, &frame);
	return paths->roots.at[series];
}

/* --- adding ----------------------------------------------------------------------------------- */

static bool is_same_frame(const struct hp_path_frame *a, const struct hp_path_frame *b)
{
	return a->offset == b->offset && a->image == b->image && a->flags == b->flags;
}

struct hp_error *hp_paths_add(struct hp_paths *paths, uint32_t series,
			      const struct hp_path_frame *frames, size_t count, uint64_t samples)
{
	static const struct hp_path_frame truncated = { .image = HP_PATH_NO_IMAGE,
							.flags = HP_PATH_TRUNCATED };
	struct hp_path_cache *cache;
	bool is_cut = count > HP_PATH_MOST_FRAMES;
	size_t length = is_cut ? HP_PATH_MOST_FRAMES : count;
	size_t same = 0;
	bool is_alike;
	uint32_t node;

	if (!paths->cache && !(paths->cache = calloc(PATHS_CACHED, sizeof(*cache))))
		return hp_error_create_no_memory();
	if (paths->nodes.count + length + 1 > paths_limit(paths) &&
	    !paths_fold_down(paths, paths_limit(paths) - paths_limit(paths) / 4, PATHS_FOLD_BY_USE))
		return hp_error_create_no_memory();
	node = root_of(paths, series);
	if (node == HP_PATH_NO_NODE)
		return hp_error_create_no_memory();
	paths->clock++;
	cache = &paths->cache[series % PATHS_CACHED];
	is_alike = cache->series == series;
	cache->series = series;
	for (size_t depth = 0; depth < length; depth++) {
		struct hp_path_frame frame = frames[length - 1 - depth];

		if (is_cut && depth == 0)
			frame = truncated;
		if (depth + 1 == length)
			frame.flags |= HP_PATH_EXACT;
		is_alike = is_alike && depth < cache->count &&
			   is_same_frame(&cache->frames[depth], &frame);
		if (is_alike) {
			node = cache->nodes[depth];
			same = depth + 1;
			continue;
		}
		node = child_of(paths, node, &frame);
		if (node == HP_PATH_NO_NODE) {
			cache->count = same;
			return hp_error_create_no_memory();
		}
		cache->frames[depth] = frame;
		cache->nodes[depth] = node;
		same = depth + 1;
	}
	cache->count = length;
	paths->nodes.at[node].used = paths->clock;
	paths->nodes.at[node].samples += samples;
	return NULL;
}

struct hp_error *hp_paths_node(struct hp_paths *paths, uint32_t parent,
			       const struct hp_path_frame *frame, uint64_t samples, uint64_t folded,
			       uint32_t *node)
{
	struct hp_path_node *found;
	uint64_t both;

	*node = parent == HP_PATH_NO_NODE ? root_of(paths, frame->image)
					  : child_of(paths, parent, frame);
	if (*node == HP_PATH_NO_NODE)
		return hp_error_create_no_memory();
	found = &paths->nodes.at[*node];
	found->used = paths->clock;
	if (__builtin_add_overflow(found->samples, samples, &found->samples) ||
	    __builtin_add_overflow(found->folded, folded, &found->folded) ||
	    __builtin_add_overflow(found->samples, found->folded, &both))
		return hp_error_create(HP_ERROR_DAMAGED, "samples of call paths run past 64 bits");
	return NULL;
}
