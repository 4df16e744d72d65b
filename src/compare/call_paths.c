/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_paths.h"

#include "names.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>
#include <hpcprof/model/paths.h>

#include <errno.h>
#include <string.h>

/* A caller, found by its image and name. It lives in the arena. */
struct caller_entry {
	UT_hash_handle hh;
	struct caller caller;
	char key[];
};

/* The procedures at a node, the innermost first: callers[first, first + count). */
struct named {
	size_t first;
	size_t count;
	bool is_wanted;
};

/* State of reading one epoch's tree. */
struct reading {
	struct sides *sides;
	struct unit_paths *units;
	size_t unit_count;
	struct caller_entry **index;
	enum hp_side side;
	size_t replicate;
	const struct hp_paths *tree;
	struct side_image **images; /* by image of the tree; NULL: only its identity is known */
	/* by series: what one sample counts; 0: it is of another event */
	double *counts;
	struct named *named; /* by node */
	HP_VECTOR(const struct caller *) callers;
};

/* --- callers ---------------------------------------------------------------------------------- */

/* A program may have different names on the two sides; a library has not. */
static const char *image_part(const struct side_image *image)
{
	return strstr(image->key, ".so") ? image->key : "";
}

static struct hp_error *add_caller(struct reading *reading, const char *name, const char *image,
				   const char *key, bool is_known)
{
	struct hp_arena *arena = reading->sides->arena;
	size_t name_length = strlen(name);
	size_t length = name_length + 1 + strlen(key);
	struct caller_entry *entry = hp_arena_alloc(arena, sizeof(*entry) + length + 1);
	struct caller_entry *found;

	if (!entry)
		return hp_error_create_no_memory();
	memcpy(entry->key, name, name_length);
	entry->key[name_length] = '\n';
	memcpy(entry->key + name_length + 1, key, strlen(key) + 1);
	HASH_FIND(hh, *reading->index, entry->key, length, found);
	if (!found) {
		entry->caller = (struct caller){ hp_arena_strdup(arena, name),
						 hp_arena_strdup(arena, image), is_known };
		HASH_ADD(hh, *reading->index, key, length, entry);
		found = entry;
	}
	if (!found->hh.tbl || !found->caller.name || !found->caller.image ||
	    !hp_vector_push(&reading->callers, &found->caller))
		return hp_error_create_no_memory();
	return NULL;
}

static struct hp_error *name_alone(struct reading *reading, const struct hp_path_node *node)
{
	const struct hp_image_id *id =
		node->image == HP_PATH_NO_IMAGE ? NULL : &reading->tree->images.at[node->image];

	if (node->flags & (HP_PATH_TRUNCATED | HP_PATH_UNKNOWN) || !id)
		return add_caller(reading, "[unknown]", "", "", false);
	return add_caller(reading, names_base(id->path), names_base(id->path), "",
			  id->kind == HP_IMAGE_FILE);
}

/* Names functions inlined at this place, then the procedure itself. */
static struct hp_error *name_frames(struct reading *reading, const struct side_image *image,
				    const struct hp_procedure *procedure,
				    const struct hp_frames *frames)
{
	struct hp_arena *arena = reading->sides->arena;
	const char *base = names_base(image->id.path);
	struct hp_error *error = NULL;

	for (size_t i = 0; i < frames->count + !frames->count && !error; i++) {
		bool is_last = i + 1 >= frames->count;
		const char *name = is_last ? procedure->name : frames->frames[i].function;
		const char *shown = name ? names_shown(arena, name) : NULL;

		if (name && !shown)
			return hp_error_create_no_memory();
		if (shown)
			error = add_caller(reading, shown, base, image_part(image), true);
	}
	return error;
}

/* --- naming ----------------------------------------------------------------------------------- */

struct wanted {
	uint64_t address;
	uint32_t node;
	const struct hp_procedure *procedure;
};

HP_ORDER_BY_TWO(compare_wanted, struct wanted, address, node);

static struct hp_error *name_wanted(struct reading *reading, const struct side_image *image,
				    struct wanted *wanted, size_t count)
{
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	struct hp_error *error;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	qsort(wanted, count, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; i < count; i++)
		addresses[i].value = wanted[i].address;
	error = hp_image_frames(image->file, addresses, count, true, frames);
	if (error && error->errno_value != ENOMEM) {
		/* Names of procedures suffice. */
		hp_error_destroy(error);
		error = NULL;
		memset(frames, 0, count * sizeof(*frames));
	}
	for (size_t i = 0; i < count && !error; i++) {
		struct named *named = &reading->named[wanted[i].node];

		named->first = reading->callers.count;
		error = name_frames(reading, image, wanted[i].procedure, &frames[i]);
		named->count = reading->callers.count - named->first;
	}
	return error;
}

/* Names all nodes of one image together; nodes without an image, and images without a file,
 * separately. */
static struct hp_error *name_image(struct reading *reading, uint32_t number)
{
	const struct side_image *image = number == HP_PATH_NO_IMAGE ? NULL
								    : reading->images[number];
	HP_VECTOR(struct wanted) wanted = { 0 };
	struct hp_error *error = NULL;

	for (uint32_t i = 0; i < reading->tree->nodes.count && !error; i++) {
		const struct hp_path_node *node = &reading->tree->nodes.at[i];
		struct wanted one = { .node = i };
		hp_link_address address;

		if (!reading->named[i].is_wanted || hp_path_is_root(node) || node->image != number)
			continue;
		if (image)
			one.procedure = side_image_procedure(
				image,
				node->offset - (!(node->flags & HP_PATH_EXACT) && node->offset),
				&address);
		if (one.procedure) {
			one.address = address.value;
			if (!hp_vector_push(&wanted, one))
				error = hp_error_create_no_memory();
			continue;
		}
		reading->named[i].first = reading->callers.count;
		error = name_alone(reading, node);
		reading->named[i].count = 1;
	}
	if (!error && wanted.count)
		error = name_wanted(reading, image, wanted.at, wanted.count);
	hp_vector_free(&wanted);
	return error;
}

static struct hp_error *name_all(struct reading *reading)
{
	struct hp_error *error = name_image(reading, HP_PATH_NO_IMAGE);

	for (uint32_t i = 0; i < reading->tree->images.count && !error; i++)
		error = name_image(reading, i);
	return error;
}

/* --- paths ------------------------------------------------------------------------------------ */

static struct unit_paths *unit_of(const struct reading *reading, const struct side_image *image,
				  const struct hp_procedure *procedure)
{
	for (size_t i = 0; i < reading->unit_count; i++) {
		const struct unit *unit = reading->units[i].unit;

		for (size_t j = 0; j < unit->codes.count; j++) {
			const struct code *code = unit->codes.at[j];

			if (code->side == reading->side && code->image == image &&
			    code->procedure == procedure)
				return &reading->units[i];
		}
	}
	return NULL;
}

/* Adds the node's path if its samples are in one of the units. */
static struct hp_error *take_node(struct reading *reading, uint32_t at, double one)
{
	const struct hp_path_node *node = &reading->tree->nodes.at[at];
	const struct side_image *image =
		node->image == HP_PATH_NO_IMAGE ? NULL : reading->images[node->image];
	const struct caller_path path = { .side = reading->side,
					  .replicate = reading->replicate,
					  .samples = node->samples,
					  .count = (double)node->samples * one,
					  .node = at };
	hp_link_address address;
	struct unit_paths *unit =
		image ? unit_of(reading, image, side_image_procedure(image, node->offset, &address))
		      : NULL;
	size_t depth = 0;

	if (!unit)
		return NULL;
	if (!hp_vector_push(&unit->paths, path))
		return hp_error_create_no_memory();
	for (at = node->parent; at != HP_PATH_NO_NODE && depth < MOST_CALLERS_DEEP; depth++) {
		reading->named[at].is_wanted = true;
		at = reading->tree->nodes.at[at].parent;
	}
	return NULL;
}

static struct hp_error *take_nodes(struct reading *reading)
{
	size_t count = reading->tree->nodes.count;
	_cleanup_free_ uint32_t *series = calloc(count + 1, sizeof(*series));
	struct hp_error *error = NULL;

	if (!series)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count && !error; i++) {
		const struct hp_path_node *node = &reading->tree->nodes.at[i];

		series[i] = hp_path_is_root(node) ? node->image : series[node->parent];
		if (!hp_path_is_root(node) && node->samples && reading->counts[series[i]] > 0)
			error = take_node(reading, i, reading->counts[series[i]]);
	}
	return error;
}

static struct hp_error *give_callers(struct reading *reading, struct caller_path *path)
{
	const struct hp_path_node *nodes = reading->tree->nodes.at;
	const struct caller **callers = NULL;

	/* The first pass counts, the second writes. */
	for (int pass = 0; pass < 2; pass++) {
		size_t count = 0;
		size_t depth = 0;

		for (uint32_t at = nodes[path->node].parent;
		     !hp_path_is_root(&nodes[at]) && depth < MOST_CALLERS_DEEP; depth++) {
			const struct named *named = &reading->named[at];

			for (size_t i = 0; callers && i < named->count; i++)
				callers[count + i] = reading->callers.at[named->first + i];
			count += named->count;
			at = nodes[at].parent;
		}
		path->caller_count = count;
		if (!pass)
			callers = hp_arena_array(reading->sides->arena, count + 1,
						 sizeof(struct caller *));
		if (!callers)
			return hp_error_create_no_memory();
	}
	path->callers = callers;
	return NULL;
}

/* Adds the paths from index `before[unit]` on to each unit. */
static struct hp_error *give_all(struct reading *reading, const size_t *before)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < reading->unit_count; i++)
		for (size_t j = before[i]; j < reading->units[i].paths.count && !error; j++)
			error = give_callers(reading, &reading->units[i].paths.at[j]);
	return error;
}

/* --- epochs ----------------------------------------------------------------------------------- */

static struct hp_error *find_images(struct reading *reading)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < reading->tree->images.count && !error; i++)
		error = sides_image(reading->sides, reading->side, reading->replicate,
				    &reading->tree->images.at[i], &reading->images[i]);
	return error;
}

static void weigh_series(struct reading *reading)
{
	const struct replicate *replicate =
		&reading->sides->at[reading->side].replicates.at[reading->replicate];
	const char *event = replicate->meta->events[replicate->event].info.name;

	for (size_t i = 0; i < reading->tree->series.count; i++) {
		const struct hp_path_series *series = &reading->tree->series.at[i];

		if (strcmp(series->event, event) == 0)
			reading->counts[i] = (double)series->period * replicate->scale /
					     replicate_weight(replicate);
	}
}

static struct hp_error *read_tree(struct reading *reading)
{
	const struct hp_paths *tree = reading->tree;
	_cleanup_free_ struct side_image **images =
		calloc(tree->images.count + 1, sizeof(struct side_image *));
	_cleanup_free_ double *counts = calloc(tree->series.count + 1, sizeof(*counts));
	_cleanup_free_ struct named *named = calloc(tree->nodes.count + 1, sizeof(*named));
	_cleanup_free_ size_t *before = calloc(reading->unit_count + 1, sizeof(*before));
	struct hp_error *error;

	if (!images || !counts || !named || !before)
		return hp_error_create_no_memory();
	reading->images = images;
	reading->counts = counts;
	reading->named = named;
	for (size_t i = 0; i < reading->unit_count; i++)
		before[i] = reading->units[i].paths.count;
	error = find_images(reading);
	if (error)
		return error;
	weigh_series(reading);
	error = take_nodes(reading);
	if (!error)
		error = name_all(reading);
	return error ? error : give_all(reading, before);
}

static struct hp_error *read_epoch(struct reading *reading)
{
	struct hp_epoch *epoch =
		reading->sides->at[reading->side].replicates.at[reading->replicate].epoch;
	struct hp_paths tree = { 0 };
	struct hp_error *error = hp_epoch_read_paths(epoch, &tree);

	if (error && error->class == HP_ERROR_DAMAGED) {
		bool is_noted = sides_note(reading->sides, "%s: its call paths are left out",
					   error->message);

		hp_error_destroy(error);
		error = is_noted ? NULL : hp_error_create_no_memory();
	} else if (!error && tree.nodes.count) {
		reading->tree = &tree;
		error = read_tree(reading);
	}
	hp_paths_clear(&tree);
	hp_vector_free(&reading->callers);
	return error;
}

struct hp_error *call_paths_read(struct sides *sides, struct unit_paths *units, size_t count)
{
	struct caller_entry *index = NULL;
	struct hp_error *error = NULL;

	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count && !error; i++) {
			struct reading reading = { .sides = sides,
						   .units = units,
						   .unit_count = count,
						   .index = &index,
						   .side = (enum hp_side)side,
						   .replicate = i };

			error = read_epoch(&reading);
		}
	/* Its entries live in the arena. */
	HASH_CLEAR(hh, index);
	return error;
}

void unit_paths_clear(struct unit_paths *units, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hp_vector_free(&units[i].paths);
}
