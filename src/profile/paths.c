/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the call paths of all epochs, as trees of named places. */
#include "breakdown.h"
#include "load.h"
#include "paths_places.h"

#include <string.h>

struct hp_error *hp_paths_create(struct hp_profiles *profiles, struct hp_call_paths **paths)
{
	struct hp_call_paths *created = calloc(1, sizeof(*created));
	struct hp_tally **tallies[] = { &created->all,	   &created->truncated, &created->guessed,
					&created->unknown, &created->grafted,	&created->folded };

	if (!created)
		return hp_error_create_no_memory();
	created->profiles = profiles;
	for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++) {
		*tallies[i] = hp_profiles_tallies(profiles);
		if (!*tallies[i]) {
			hp_paths_destroy(created);
			return hp_error_create_no_memory();
		}
	}
	*paths = created;
	return NULL;
}

void hp_paths_destroy(struct hp_call_paths *paths)
{
	HASH_CLEAR(hh, paths->place_index);
	HASH_CLEAR(hh, paths->called_index);
	hp_vector_free(&paths->roots);
	hp_vector_free(&paths->places);
	hp_vector_free(&paths->steps);
	hp_vector_free(&paths->procedures);
	hp_vector_free(&paths->groups);
	free(paths);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* State of loading one epoch's trees. */
struct taking {
	struct hp_call_paths *paths;
	const struct hp_paths *from;
	size_t epoch;
	struct hp_loaded_part **parts; /* by image */
	uint32_t *steps;	       /* by node; HP_PATH_NO_NODE: left out */
	double *units;		       /* by series: units per sample; 0: left out */
	struct load_scale *scales;
	uint32_t *roots; /* by series */
};

/* The image's index in the epoch, by which kept names are found. */
static size_t index_in_epoch(struct hp_epoch *epoch, const struct hp_image_id *id)
{
	size_t at = 0;

	while (at < hp_epoch_image_count(epoch) &&
	       hp_image_id_compare(hp_epoch_image(epoch, at), id) != 0)
		at++;
	return at;
}

static struct hp_error *take_images(struct taking *in)
{
	struct hp_profiles *profiles = in->paths->profiles;
	struct hp_epoch *epoch = profiles->epochs.at[in->epoch].epoch;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < in->from->images.count && !error; i++) {
		const struct hp_image_id *id = &in->from->images.at[i];
		size_t index = index_in_epoch(epoch, id);

		/* Without the epoch's own data, nothing is known of generated code and the like. */
		if (index == hp_epoch_image_count(epoch) && id->kind != HP_IMAGE_FILE)
			continue;
		error = load_part(profiles, in->epoch, index, id, &in->parts[i]);
	}
	return error;
}

/* The group of the stratum with the same samples. */
static struct hp_error *find_group(struct hp_profiles *profiles,
				   const struct hp_path_series *series, uint32_t *group)
{
	const struct hp_stratum stratum = { .command = series->command,
					    .thread = series->thread,
					    .pid = series->pid,
					    .tid = series->tid,
					    .cpu = series->cpu };

	return breakdown_group(profiles, &stratum, group);
}

static struct hp_error *take_series(struct taking *in)
{
	struct hp_profiles *profiles = in->paths->profiles;
	const struct hp_epoch_meta *meta = profiles->epochs.at[in->epoch].meta;
	struct hp_error *error;

	for (size_t i = 0; i < in->from->series.count; i++) {
		const struct hp_path_series *series = &in->from->series.at[i];
		struct hp_path_root root = { .event = load_find_event(profiles, series->event),
					     .pid = series->pid,
					     .tid = series->tid,
					     .cpu = series->cpu };

		if (root.event == profiles->events.count ||
		    !load_passes(profiles->options, series->command, series->pid))
			continue;
		error = find_group(profiles, series, &root.group);
		if (error)
			return error;
		root.command = hp_profiles_intern(profiles, series->command);
		root.thread = series->thread ? hp_profiles_intern(profiles, series->thread) : NULL;
		if (!root.command || (series->thread && !root.thread) ||
		    !hp_vector_push(&in->paths->roots, root))
			return hp_error_create_no_memory();
		in->roots[i] = (uint32_t)in->paths->roots.count - 1;
		in->scales[i] = load_scale_of(meta, profiles->events.at[root.event].info);
		in->units[i] = (double)series->period * in->scales[i].units;
	}
	return NULL;
}

static struct hp_tally tally_of(const struct taking *in, uint32_t series, uint64_t samples)
{
	double weight = (double)samples * in->units[series];

	return (struct hp_tally){ samples, weight, weight * in->scales[series].cycles };
}

static struct hp_error *place_of_node(struct taking *in, const struct hp_path_node *node,
				      uint32_t *place)
{
	const struct hp_image_id *id =
		node->image == HP_PATH_NO_IMAGE ? NULL : &in->from->images.at[node->image];
	struct place_key key;

	if (node->flags & HP_PATH_TRUNCATED)
		return paths_made_up_place(in->paths, "[truncated]", place);
	if (!id)
		return paths_made_up_place(in->paths, "[unknown]", place);
	if (!in->parts[node->image])
		return paths_made_up_place(in->paths, id->path, place);
	memset(&key, 0, sizeof(key));
	key.part = in->parts[node->image];
	key.offset = node->offset;
	key.is_exact = (node->flags & HP_PATH_EXACT) != 0;
	return paths_place_at(in->paths, &key, in->parts[node->image], place);
}

static void count(struct hp_call_paths *paths, const struct hp_path_step *step)
{
	size_t event = paths->roots.at[step->root].event;

	hp_tally_add(&paths->all[event], &step->own);
	if (step->flags & HP_PATH_TRUNCATED)
		hp_tally_add(&paths->truncated[event], &step->own);
	if (step->flags & HP_PATH_GUESS)
		hp_tally_add(&paths->guessed[event], &step->own);
	if (step->flags & HP_PATH_UNKNOWN)
		hp_tally_add(&paths->unknown[event], &step->own);
	if (step->flags & HP_PATH_GRAFTED)
		hp_tally_add(&paths->grafted[event], &step->own);
}

/* Adds where the path continued, into nodes that were folded. */
static struct hp_error *take_folded(struct taking *in, const struct hp_path_step *step,
				    uint32_t parent, struct hp_tally tally)
{
	struct hp_path_step folded = {
		.parent = parent, .root = step->root, .flags = step->flags, .own = tally
	};
	struct hp_error *error = paths_made_up_place(in->paths, "[folded]", &folded.place);

	if (error)
		return error;
	hp_tally_add(&in->paths->folded[in->paths->roots.at[step->root].event], &tally);
	count(in->paths, &folded);
	return hp_vector_push(&in->paths->steps, folded) ? NULL : hp_error_create_no_memory();
}

static struct hp_error *take_node(struct taking *in, uint32_t at, uint32_t *series)
{
	const struct hp_path_node *node = &in->from->nodes.at[at];
	struct hp_path_step step = { .parent = HP_PATH_NO_NODE };
	struct hp_error *error = NULL;

	in->steps[at] = HP_PATH_NO_NODE;
	series[at] = hp_path_is_root(node) ? node->image : series[node->parent];
	if (!(in->units[series[at]] > 0))
		return NULL;
	step.root = in->roots[series[at]];
	step.own = tally_of(in, series[at], node->samples);
	if (hp_path_is_root(node)) {
		step.place = step.root;
	} else {
		step.parent = in->steps[node->parent];
		step.flags = (uint32_t)node->flags | in->paths->steps.at[step.parent].flags;
		error = place_of_node(in, node, &step.place);
	}
	if (error)
		return error;
	if (!hp_vector_push(&in->paths->steps, step))
		return hp_error_create_no_memory();
	in->steps[at] = (uint32_t)in->paths->steps.count - 1;
	count(in->paths, &step);
	if (!node->folded)
		return NULL;
	return take_folded(in, &step, in->steps[at], tally_of(in, series[at], node->folded));
}

static struct hp_error *take(struct hp_call_paths *paths, size_t epoch, const struct hp_paths *from)
{
	_cleanup_free_ struct hp_loaded_part **parts =
		calloc(from->images.count + 1, sizeof(*parts));
	_cleanup_free_ uint32_t *steps = calloc(from->nodes.count + 1, sizeof(*steps));
	_cleanup_free_ uint32_t *series = calloc(from->nodes.count + 1, sizeof(*series));
	_cleanup_free_ double *units = calloc(from->series.count + 1, sizeof(*units));
	_cleanup_free_ struct load_scale *scales = calloc(from->series.count + 1, sizeof(*scales));
	_cleanup_free_ uint32_t *roots = calloc(from->series.count + 1, sizeof(*roots));
	struct taking in = { paths, from, epoch, parts, steps, units, scales, roots };
	struct hp_error *error;

	if (!parts || !steps || !series || !units || !scales || !roots)
		return hp_error_create_no_memory();
	error = take_images(&in);
	if (!error)
		error = take_series(&in);
	for (size_t i = 0; i < from->nodes.count && !error; i++)
		error = take_node(&in, (uint32_t)i, series);
	return error;
}

static struct hp_error *load_epoch(struct hp_call_paths *paths, size_t number)
{
	const struct hp_loaded_epoch *epoch = &paths->profiles->epochs.at[number];
	struct hp_paths from;
	struct hp_error *error = hp_epoch_read_paths(epoch->epoch, &from);

	if (error && error->class == HP_ERROR_DAMAGED) {
		hp_profiles_warn(paths->profiles, "hpcprof epochs verify looks for damage",
				 "%s: its call paths are left out", error->message);
		hp_error_destroy(error);
		error = NULL;
	}
	if (!error && !from.nodes.count)
		paths->epochs_without++;
	else if (!error)
		error = take(paths, number, &from);
	hp_paths_clear(&from);
	return error;
}

struct hp_error *hp_paths_load(struct hp_call_paths *paths)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < paths->profiles->epochs.count && !error; i++)
		error = load_epoch(paths, i);
	return error ? error : load_finish(paths->profiles);
}

/* --- samples without paths -------------------------------------------------------------------- */

static struct hp_error *flatten_one(struct hp_call_paths *paths, struct hp_loaded_part *part,
				    size_t at, size_t event)
{
	struct hp_path_step step = {
		.parent = (uint32_t)event,
		.root = (uint32_t)event,
		.flags = HP_PATH_EXACT,
		.own = part->tallies[at * paths->profiles->events.count + event],
	};
	struct place_key key;
	struct hp_error *error;

	if (!step.own.samples)
		return NULL;
	memset(&key, 0, sizeof(key));
	key.part = part;
	key.offset = part->offsets[at];
	key.is_exact = 1;
	error = paths_place_at(paths, &key, part, &step.place);
	if (error)
		return error;
	count(paths, &step);
	return hp_vector_push(&paths->steps, step) ? NULL : hp_error_create_no_memory();
}

struct hp_error *hp_paths_flatten(struct hp_call_paths *paths)
{
	struct hp_profiles *profiles = paths->profiles;
	struct hp_error *error = NULL;

	paths->are_flat = true;
	for (size_t i = 0; i < profiles->events.count; i++) {
		struct hp_path_root root = { .event = i, .command = "" };
		struct hp_path_step step = { .parent = HP_PATH_NO_NODE,
					     .place = (uint32_t)i,
					     .root = (uint32_t)i };

		if (!hp_vector_push(&paths->roots, root) || !hp_vector_push(&paths->steps, step))
			return hp_error_create_no_memory();
	}
	for (size_t i = 0; i < profiles->parts.count && !error; i++) {
		struct hp_loaded_part *part = profiles->parts.at[i];

		for (size_t j = 0; j < part->count && !error; j++)
			for (size_t k = 0; k < profiles->events.count && !error; k++)
				error = flatten_one(paths, part, j, k);
	}
	return error;
}
