/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the trees of epochs to named places. */
#include "load.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/model/procedure_name.h>
#include <hpcprof/profile/paths.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct place_key {
	const struct hp_loaded_part *part;
	uint64_t offset;
	const char *made_up; /* a name, where there is no part */
	uint32_t is_exact;
};

struct path_place_entry {
	UT_hash_handle hh;
	struct place_key key;
	uint32_t place;
};

struct called_key {
	const struct hp_loaded_image *image;
	const char *name;
	uint64_t address;
	uint64_t inlined;
};

struct called_entry {
	UT_hash_handle hh;
	struct called_key key;
	struct hp_called called;
};

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
	free(paths);
}

/* --- places ----------------------------------------------------------------------------------- */

static struct hp_error *place_at(struct hp_call_paths *paths, const struct place_key *key,
				 struct hp_loaded_part *part, uint32_t *place)
{
	struct path_place_entry *entry;
	struct hp_path_place added = { .part = part,
				       .image = part ? part->image : NULL,
				       .offset = key->offset,
				       .is_exact = key->is_exact != 0 };

	HASH_FIND(hh, paths->place_index, key, sizeof(*key), entry);
	if (!entry) {
		entry = hp_arena_alloc(paths->profiles->arena, sizeof(*entry));
		if (!entry || !hp_vector_push(&paths->places, added))
			return hp_error_create_no_memory();
		memcpy(&entry->key, key, sizeof(*key));
		entry->place = (uint32_t)paths->places.count - 1;
		HASH_ADD(hh, paths->place_index, key, sizeof(*key), entry);
		if (!entry->hh.tbl)
			return hp_error_create_no_memory();
	}
	*place = entry->place;
	return NULL;
}

static struct hp_error *called_at(struct hp_call_paths *paths, const struct called_key *key,
				  struct hp_called **called)
{
	struct called_entry *entry;

	HASH_FIND(hh, paths->called_index, key, sizeof(*key), entry);
	if (!entry) {
		entry = hp_arena_alloc(paths->profiles->arena, sizeof(*entry));
		if (!entry || !hp_vector_push(&paths->procedures, &entry->called))
			return hp_error_create_no_memory();
		memcpy(&entry->key, key, sizeof(*key));
		entry->called = (struct hp_called){ .name = key->name,
						    .image = key->image,
						    .inlined = key->inlined != 0,
						    .index = paths->procedures.count - 1 };
		HASH_ADD(hh, paths->called_index, key, sizeof(*key), entry);
		if (!entry->hh.tbl)
			return hp_error_create_no_memory();
	}
	*called = &entry->called;
	return NULL;
}

/* A place that is none, with its name. */
static struct hp_error *made_up_place(struct hp_call_paths *paths, const char *name,
				      uint32_t *place)
{
	struct place_key key;
	struct called_key called_key;
	struct hp_called *called = NULL;
	struct hp_called_at *at = hp_arena_alloc(paths->profiles->arena, sizeof(*at));
	struct hp_error *error;

	memset(&key, 0, sizeof(key));
	memset(&called_key, 0, sizeof(called_key));
	key.made_up = called_key.name = hp_profiles_intern(paths->profiles, name);
	if (!at || !key.made_up)
		return hp_error_create_no_memory();
	error = place_at(paths, &key, NULL, place);
	if (!error)
		error = called_at(paths, &called_key, &called);
	if (error)
		return error;
	*at = (struct hp_called_at){ .procedure = called };
	paths->places.at[*place].at = at;
	paths->places.at[*place].count = 1;
	return NULL;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* One epoch's trees on their way. */
struct taking {
	struct hp_call_paths *paths;
	const struct hp_paths *from;
	size_t epoch;
	struct hp_loaded_part **parts; /* of each image */
	uint32_t *steps;	       /* of each node; HP_PATH_NO_NODE: left out */
	double *units;		       /* that a sample stands for, of each series; 0: left out */
	struct load_scale *scales;
	uint32_t *roots; /* of each series */
};

/* The image's number in the epoch: names that are kept are found by it. */
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

		/* Of generated code and the like, nothing is known without. */
		if (index == hp_epoch_image_count(epoch) && id->kind != HP_IMAGE_FILE)
			continue;
		error = load_part(profiles, in->epoch, index, id, &in->parts[i]);
	}
	return error;
}

static struct hp_error *take_series(struct taking *in)
{
	struct hp_profiles *profiles = in->paths->profiles;
	const struct hp_epoch_meta *meta = profiles->epochs.at[in->epoch].meta;

	for (size_t i = 0; i < in->from->series.count; i++) {
		const struct hp_path_series *series = &in->from->series.at[i];
		struct hp_path_root root = { .event = load_find_event(profiles, series->event),
					     .pid = series->pid,
					     .tid = series->tid,
					     .cpu = series->cpu };

		if (root.event == profiles->events.count ||
		    !load_passes(profiles->options, series->command, series->pid))
			continue;
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
	_cleanup_free_ char *name = NULL;
	struct place_key key;

	if (node->flags & HP_PATH_TRUNCATED)
		return made_up_place(in->paths, "[truncated]", place);
	if (!id)
		return made_up_place(in->paths, "[unknown]", place);
	if (!in->parts[node->image])
		return made_up_place(in->paths, id->path, place);
	memset(&key, 0, sizeof(key));
	key.part = in->parts[node->image];
	key.offset = node->offset;
	key.is_exact = (node->flags & HP_PATH_EXACT) != 0;
	return place_at(in->paths, &key, in->parts[node->image], place);
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

/* Where the path went on, into nodes that are gone. */
static struct hp_error *take_folded(struct taking *in, const struct hp_path_step *step,
				    uint32_t parent, struct hp_tally tally)
{
	struct hp_path_step folded = {
		.parent = parent, .root = step->root, .flags = step->flags, .own = tally
	};
	struct hp_error *error = made_up_place(in->paths, "[folded]", &folded.place);

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
	error = place_at(paths, &key, part, &step.place);
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

/* --- names ------------------------------------------------------------------------------------ */

/* Places of one part, by the address of the call itself: one byte before a return address. */
struct wanted {
	uint64_t address;
	uint32_t place;
};

static int compare_wanted(const void *left, const void *right)
{
	const struct wanted *a = left;
	const struct wanted *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Its offsets are run-time addresses of some process. */
static bool is_runtime(const struct hp_loaded_image *image)
{
	return image->id.kind == HP_IMAGE_UNKNOWN || image->id.kind == HP_IMAGE_ANON;
}

static struct hp_error *name_unlocated(struct hp_call_paths *paths, struct hp_path_place *place)
{
	struct hp_profiles *profiles = paths->profiles;
	struct hp_called_at *at = hp_arena_alloc(profiles->arena, sizeof(*at));
	struct hp_called *called = NULL;
	struct called_key key;
	struct hp_error *error;

	memset(&key, 0, sizeof(key));
	key.image = place->image;
	key.name = is_runtime(place->image)
			   ? hp_profiles_intern(profiles, place->image->id.path)
			   : hp_profiles_format(profiles, "%s+0x%" PRIx64,
						hp_image_basename(place->image->id.path),
						place->offset);
	if (!at || !key.name)
		return hp_error_create_no_memory();
	error = called_at(paths, &key, &called);
	if (error)
		return error;
	*at = (struct hp_called_at){ .procedure = called };
	place->at = at;
	place->count = 1;
	return NULL;
}

/* Generated code has synthetic addresses, which mean nothing outside their epoch. */
static bool address_means_something(const struct hp_loaded_image *image)
{
	return image->id.kind != HP_IMAGE_JIT && !is_runtime(image);
}

static struct hp_error *procedure_of(struct hp_call_paths *paths, const struct hp_loaded_part *part,
				     uint64_t address, struct hp_called **called)
{
	const struct hp_procedure *owner =
		hp_image_procedure_at(part->file, (hp_link_address){ address })->owner;
	bool is_addressed = address_means_something(part->image);
	struct called_key key;
	struct hp_error *error;

	memset(&key, 0, sizeof(key));
	key.image = part->image;
	key.name = hp_profiles_intern(paths->profiles, owner->name);
	key.address = is_addressed ? owner->address.value : 0;
	if (!key.name)
		return hp_error_create_no_memory();
	error = called_at(paths, &key, called);
	if (error)
		return error;
	(*called)->has_address = is_addressed;
	(*called)->address = key.address;
	(*called)->size = is_addressed ? owner->size : 0;
	if (!(*called)->linkage)
		(*called)->linkage = owner->linkage
					     ? hp_profiles_intern(paths->profiles, owner->linkage)
					     : key.name;
	return (*called)->linkage ? NULL : hp_error_create_no_memory();
}

static struct hp_error *inlined_at(struct hp_call_paths *paths, const struct hp_loaded_part *part,
				   const struct hp_frame *frame, struct hp_called_at *at)
{
	struct hp_called *called = NULL;
	struct called_key key;
	struct hp_error *error;

	memset(&key, 0, sizeof(key));
	key.image = part->image;
	key.name = hp_profiles_intern(paths->profiles,
				      frame->function ? frame->function : "[inlined]");
	key.inlined = 1;
	if (!key.name)
		return hp_error_create_no_memory();
	error = called_at(paths, &key, &called);
	at->procedure = called;
	return error;
}

static struct hp_error *name_place(struct hp_call_paths *paths, const struct hp_loaded_part *part,
				   const struct wanted *wanted, const struct hp_frames *frames)
{
	struct hp_path_place *place = &paths->places.at[wanted->place];
	size_t count = frames->count ? frames->count : 1;
	struct hp_called_at *at = hp_arena_array(paths->profiles->arena, count, sizeof(*at));
	struct hp_called *called = NULL;
	struct hp_error *error = NULL;

	if (!at)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count && !error; i++) {
		const struct hp_frame *frame = frames->count ? &frames->frames[i] : NULL;

		if (i + 1 < count)
			error = inlined_at(paths, part, &frames->frames[i], &at[i]);
		if (!error && frame && frame->file) {
			at[i].file = hp_profiles_intern(paths->profiles, frame->file);
			at[i].line = frame->line;
			if (!at[i].file)
				error = hp_error_create_no_memory();
		}
	}
	if (!error)
		error = procedure_of(paths, part, wanted->address, &called);
	at[count - 1].procedure = called;
	place->at = at;
	place->count = count;
	return error;
}

/* In two passes over all addresses at once: parts that were moved out of their procedures first. */
static struct hp_error *name_located(struct hp_call_paths *paths, struct hp_loaded_part *part,
				     struct wanted *wanted, size_t count)
{
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	struct hp_error *error = NULL;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	qsort(wanted, count, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; i < count; i++)
		addresses[i].value = wanted[i].address;
	if (part->image->id.kind == HP_IMAGE_FILE)
		error = hp_cfg_join_cold_parts(part->file, addresses, count);
	if (!error)
		error = hp_image_frames(part->file, addresses, count, true, frames);
	if (error && error->errno_value != ENOMEM) {
		hp_profiles_warn(paths->profiles, error->advice, "%s", error->message);
		hp_error_destroy(error);
		error = NULL;
		memset(frames, 0, count * sizeof(*frames));
	}
	for (size_t i = 0; i < count && !error; i++)
		error = name_place(paths, part, &wanted[i], &frames[i]);
	return error;
}

static struct hp_error *name_part(struct hp_call_paths *paths, struct hp_loaded_part *part,
				  const uint32_t *places, size_t count)
{
	_cleanup_free_ struct wanted *wanted = calloc(count + 1, sizeof(*wanted));
	size_t located = 0;

	if (!wanted)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct hp_path_place *place = &paths->places.at[places[i]];
		uint64_t before = !place->is_exact && place->offset;
		hp_image_offset offset = { place->offset - before };
		hp_link_address address;

		if (part->file && !is_runtime(part->image) &&
		    hp_image_link_address(part->file, offset, &address)) {
			place->has_address = address_means_something(part->image);
			place->address = address.value + before;
			wanted[located++] = (struct wanted){ address.value, places[i] };
		} else {
			struct hp_error *error = name_unlocated(paths, place);

			if (error)
				return error;
		}
	}
	return located ? name_located(paths, part, wanted, located) : NULL;
}

static int compare_parts(const void *left, const void *right, void *context)
{
	const struct hp_call_paths *paths = context;
	const uint32_t *a = left;
	const uint32_t *b = right;
	const struct hp_loaded_part *x = paths->places.at[*a].part;
	const struct hp_loaded_part *y = paths->places.at[*b].part;

	if (x != y)
		return (uintptr_t)x < (uintptr_t)y ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* Short names even where two are the same then: in a tree there is no room for long ones. */
static struct hp_error *show_names(struct hp_call_paths *paths)
{
	for (size_t i = 0; i < paths->procedures.count; i++) {
		struct hp_called *procedure = paths->procedures.at[i];
		_cleanup_free_ char *text = NULL;

		procedure->shown = procedure->name;
		if (paths->profiles->options->full_names)
			continue;
		text = hp_name_shorten(procedure->name, procedure->linkage);
		procedure->shown = text ? hp_profiles_intern(paths->profiles, text) : NULL;
		if (!procedure->shown)
			return hp_error_create_no_memory();
	}
	return NULL;
}

struct hp_error *hp_paths_name(struct hp_call_paths *paths)
{
	size_t count = paths->places.count;
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));
	struct hp_error *error = NULL;
	size_t end;

	if (!order)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_parts, paths);
	for (size_t i = 0; i < count && !error; i = end) {
		struct hp_loaded_part *part = paths->places.at[order[i]].part;

		for (end = i + 1; end < count && paths->places.at[order[end]].part == part; end++)
			;
		/* What was made up has its name. */
		if (part)
			error = name_part(paths, part, order + i, end - i);
	}
	return error ? error : show_names(paths);
}
