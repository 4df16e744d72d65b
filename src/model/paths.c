/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/model/paths.h>

#include <hpcprof/base/search.h>

#include <string.h>

enum { TABLE_LEAST = 1024, CHILDREN_MOST = (1 << 24) - 1 };

/* The last path: its frames from the root, and their nodes. */
struct hp_path_cache {
	uint32_t series;
	size_t count;
	struct hp_path_frame frames[HP_PATH_MOST_FRAMES];
	uint32_t nodes[HP_PATH_MOST_FRAMES];
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int hp_path_series_compare(const struct hp_path_series *a, const struct hp_path_series *b)
{
	int order = strcmp(a->event, b->event);

	if (!order)
		order = strcmp(a->command, b->command);
	if (!order)
		order = compare_numbers(a->pid, b->pid);
	if (!order)
		order = compare_numbers(a->tid, b->tid);
	if (!order)
		order = strcmp(a->thread ? a->thread : "", b->thread ? b->thread : "");
	if (!order)
		order = compare_numbers(a->cpu, b->cpu);
	return order ? order : compare_numbers(a->period, b->period);
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

static size_t hash_of(uint32_t parent, const struct hp_path_frame *frame)
{
	uint64_t hash = (frame->offset ^ (uint64_t)frame->image << 40) * 0x9e3779b97f4a7c15u;

	hash ^= ((uint64_t)parent << 8 | frame->flags) * 0xc2b2ae3d27d4eb4fu;
	hash = (hash ^ hash >> 29) * 0x165667b19e3779f9u;
	return hash >> 32;
}

static struct hp_path_frame frame_of(const struct hp_path_node *node)
{
	return (struct hp_path_frame){ node->offset, node->image, node->flags };
}

static void enter(struct hp_paths *paths, uint32_t number)
{
	const struct hp_path_node *node = &paths->nodes.at[number];
	struct hp_path_frame frame = frame_of(node);
	size_t at = hash_of(node->parent, &frame) & (paths->table_size - 1);

	while (paths->table[at])
		at = (at + 1) & (paths->table_size - 1);
	paths->table[at] = number + 1;
}

static void enter_all(struct hp_paths *paths)
{
	for (size_t i = 0; i < paths->nodes.count; i++)
		if (!hp_path_is_root(&paths->nodes.at[i]))
			enter(paths, (uint32_t)i);
}

/* At most half of it is used. */
static bool table_reserve(struct hp_paths *paths, size_t nodes)
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
	enter_all(paths);
	return true;
}

/* HP_PATH_NO_NODE when memory is short. */
static uint32_t new_node(struct hp_paths *paths, uint32_t parent, const struct hp_path_frame *frame)
{
	struct hp_path_node node = { .offset = frame->offset,
				     .parent = parent,
				     .image = frame->image,
				     .used = paths->clock,
				     .flags = (uint8_t)frame->flags };
	size_t number = paths->nodes.count;

	if (number >= HP_PATH_NO_NODE - 1 || !table_reserve(paths, number + 1) ||
	    !hp_vector_push(&paths->nodes, node))
		return HP_PATH_NO_NODE;
	if (parent != HP_PATH_NO_NODE) {
		struct hp_path_node *above = &paths->nodes.at[parent];

		if (above->children < CHILDREN_MOST)
			above->children++;
		enter(paths, (uint32_t)number);
	}
	return (uint32_t)number;
}

static uint32_t child_of(struct hp_paths *paths, uint32_t parent, const struct hp_path_frame *frame)
{
	size_t mask = paths->table_size - 1;

	if (paths->table_size) {
		for (size_t at = hash_of(parent, frame) & mask; paths->table[at];
		     at = (at + 1) & mask) {
			const struct hp_path_node *node = &paths->nodes.at[paths->table[at] - 1];

			if (node->offset == frame->offset && node->parent == parent &&
			    node->image == frame->image && node->flags == frame->flags)
				return paths->table[at] - 1;
		}
	}
	return new_node(paths, parent, frame);
}

static uint32_t root_of(struct hp_paths *paths, uint32_t series)
{
	const struct hp_path_frame frame = { .image = series };

	if (paths->roots.at[series] == HP_PATH_NO_NODE)
		paths->roots.at[series] = new_node(paths, HP_PATH_NO_NODE, &frame);
	return paths->roots.at[series];
}

/* --- folding ---------------------------------------------------------------------------------- */

enum order { BY_USE, BY_SAMPLES };

struct leaf {
	uint64_t key;
	uint32_t node;
};

static int compare_leaves(const void *left, const void *right)
{
	const struct leaf *a = left;
	const struct leaf *b = right;
	int order = compare_numbers(a->key, b->key);

	return order ? order : compare_numbers(a->node, b->node);
}

static size_t find_leaves(const struct hp_paths *paths, enum order order, struct leaf *leaves)
{
	size_t count = 0;

	for (size_t i = 0; i < paths->nodes.count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		if (node->children || hp_path_is_root(node))
			continue;
		/* How long ago, since the clock may wrap. */
		leaves[count++] = (struct leaf){
			order == BY_SAMPLES ? node->samples + node->folded
					    : UINT32_MAX - (paths->clock - node->used),
			(uint32_t)i,
		};
	}
	return count;
}

/* Gives the remaining nodes their new numbers; those in `gone` leave. The order stays. */
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
		    paths->nodes.at[node->parent].children < CHILDREN_MOST)
			paths->nodes.at[node->parent].children++;
	}
	memset(paths->table, 0, paths->table_size * sizeof(*paths->table));
	enter_all(paths);
	if (paths->cache)
		paths->cache->count = 0;
}

static void fold(struct hp_paths *paths, uint32_t number)
{
	const struct hp_path_node *node = &paths->nodes.at[number];
	struct hp_path_node *parent = &paths->nodes.at[node->parent];

	parent->folded += node->samples + node->folded;
	if (paths->clock - node->used < paths->clock - parent->used)
		parent->used = node->used;
}

/* Folds leaves, in rounds (a parent may become a leaf), until at most `wanted` nodes remain. */
static bool fold_down(struct hp_paths *paths, size_t wanted, enum order order)
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

static size_t limit_of(const struct hp_paths *paths)
{
	return paths->node_limit ? paths->node_limit : HP_PATHS_DEFAULT_NODES;
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
	struct hp_path_cache *cache = paths->cache;
	bool is_cut = count > HP_PATH_MOST_FRAMES;
	size_t length = is_cut ? HP_PATH_MOST_FRAMES : count;
	size_t same = 0;
	bool is_alike;
	uint32_t node;

	if (!cache && !(cache = paths->cache = calloc(1, sizeof(*cache))))
		return hp_error_create_no_memory();
	if (paths->nodes.count + length + 1 > limit_of(paths) &&
	    !fold_down(paths, limit_of(paths) - limit_of(paths) / 4, BY_USE))
		return hp_error_create_no_memory();
	node = root_of(paths, series);
	if (node == HP_PATH_NO_NODE)
		return hp_error_create_no_memory();
	paths->clock++;
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

/* Which nodes have samples, at or below them. */
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

/* Only what live nodes need is taken over. */
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
	struct hp_path_frame frame = frame_of(node);
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
	if (!error && into->nodes.count > limit_of(into) &&
	    !fold_down(into, limit_of(into), BY_SAMPLES))
		error = hp_error_create_no_memory();
	return error;
}

/* --- canonical order -------------------------------------------------------------------------- */

/* A node and the sort key of its place. */
struct place {
	uint32_t parent;
	uint32_t image; /* its place in the order of images, or that of the series */
	uint64_t offset;
	uint32_t flags;
	uint32_t node;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;
	int order = compare_numbers(a->parent, b->parent);

	if (!order)
		order = compare_numbers(a->image, b->image);
	if (!order)
		order = compare_numbers(a->offset, b->offset);
	return order ? order : compare_numbers(a->flags, b->flags);
}

static void invert(const uint32_t *order, size_t count, uint32_t *ranks)
{
	for (size_t i = 0; i < count; i++)
		ranks[order[i]] = (uint32_t)i;
}

/* All live nodes, grouped by parent, siblings in order; roots last. */
static struct place *sort_places(const struct hp_paths *paths, const bool *lived, size_t *count)
{
	struct place *places = calloc(paths->nodes.count + 1, sizeof(*places));
	_cleanup_free_ uint32_t *images = calloc(paths->images.count + 1, sizeof(*images));
	_cleanup_free_ uint32_t *series = calloc(paths->series.count + 1, sizeof(*series));

	if (!places || !images || !series) {
		free(places);
		return NULL;
	}
	invert(paths->image_order.at, paths->images.count, images);
	invert(paths->series_order.at, paths->series.count, series);
	*count = 0;
	for (size_t i = 0; i < paths->nodes.count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];
		uint32_t image = node->image;

		if (!lived[i])
			continue;
		if (hp_path_is_root(node))
			image = series[image];
		else if (image != HP_PATH_NO_IMAGE)
			image = images[image];
		places[(*count)++] = (struct place){ node->parent, image, node->offset, node->flags,
						     (uint32_t)i };
	}
	qsort(places, *count, sizeof(*places), compare_places);
	return places;
}

/* Images in their order, so that their numbers are canonical; only those that live nodes need. */
static struct hp_error *take_images(const struct hp_paths *paths, const bool *lived,
				    struct hp_paths *tidy, uint32_t *images)
{
	_cleanup_free_ bool *needed = calloc(paths->images.count + 1, sizeof(*needed));
	struct hp_error *error = NULL;

	if (!needed)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < paths->nodes.count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];

		if (lived[i] && !hp_path_is_root(node) && node->image != HP_PATH_NO_IMAGE)
			needed[node->image] = true;
	}
	for (size_t i = 0; i < paths->images.count && !error; i++) {
		uint32_t image = paths->image_order.at[i];

		if (needed[image])
			error = hp_paths_image(tidy, &paths->images.at[image], &images[image]);
	}
	return error;
}

struct hp_error *hp_paths_tidy(const struct hp_paths *paths, struct hp_paths *tidy)
{
	size_t count = 0;
	_cleanup_free_ bool *lived = find_lived(paths);
	_cleanup_free_ struct place *places = lived ? sort_places(paths, lived, &count) : NULL;
	_cleanup_free_ uint32_t *images = calloc(paths->images.count + 1, sizeof(*images));
	_cleanup_free_ uint32_t *numbers = calloc(paths->nodes.count + 1, sizeof(*numbers));
	/* Places yet to be taken over, the next one on top. */
	HP_VECTOR(uint32_t) stack = { 0 };
	struct hp_error *error = NULL;

	if (!lived || !places || !images || !numbers)
		return hp_error_create_no_memory();
	memset(images, 0xff, paths->images.count * sizeof(*images));
	error = take_images(paths, lived, tidy, images);
	/* Roots have the largest parent. */
	for (size_t i = count; i-- > 0 && places[i].parent == HP_PATH_NO_NODE && !error;)
		if (!hp_vector_push(&stack, (uint32_t)i))
			error = hp_error_create_no_memory();
	while (stack.count && !error) {
		uint32_t node = places[stack.at[--stack.count]].node;
		size_t first = hp_bisect(i, count, places[i].parent < node);
		size_t end = hp_bisect(i, count, places[i].parent <= node);

		error = take_node(tidy, paths, node, images, numbers);
		for (size_t i = end; i-- > first && !error;)
			if (!hp_vector_push(&stack, (uint32_t)i))
				error = hp_error_create_no_memory();
	}
	hp_vector_free(&stack);
	return error;
}

/* --- questions -------------------------------------------------------------------------------- */

static uint64_t sum(const struct hp_paths *paths, const char *event, bool only_folded)
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
			samples += node->folded + (only_folded ? 0 : node->samples);
	}
	return samples;
}

uint64_t hp_paths_samples(const struct hp_paths *paths, const char *event)
{
	return sum(paths, event, false);
}

uint64_t hp_paths_folded(const struct hp_paths *paths, const char *event)
{
	return sum(paths, event, true);
}

static const char *node_fault(const struct hp_paths *paths, size_t at)
{
	const struct hp_path_node *node = &paths->nodes.at[at];
	bool is_placeless = node->flags & (HP_PATH_TRUNCATED | HP_PATH_UNKNOWN);

	if (hp_path_is_root(node))
		return node->image < paths->series.count && !node->offset && !node->flags
			       ? NULL
			       : "a root of no series";
	if (node->parent >= at)
		return "a node before its parent";
	if (node->flags & ~(unsigned)HP_PATH_ALL_FLAGS)
		return "a node with unknown flags";
	if ((node->flags & HP_PATH_TRUNCATED) && !hp_path_is_root(&paths->nodes.at[node->parent]))
		return "unknown callers that are called";
	if (is_placeless ? node->image != HP_PATH_NO_IMAGE || node->offset
			 : node->image >= paths->images.count)
		return "a node in no image";
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
