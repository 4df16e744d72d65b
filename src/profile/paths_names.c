/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names the places of call paths: the procedure at each, and the functions inlined there. */
#include "paths_places.h"

#include <hpcprof/base/search.h>
#include <hpcprof/model/procedure_name.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Places of one part, by the address of the call, which is one byte before the return address. */
struct wanted {
	uint64_t address;
	uint32_t place;
};

HP_ORDER_BY_TWO(compare_wanted, struct wanted, address, place);

/* Offsets are run-time addresses of a process. */
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
	error = paths_called_at(paths, &key, &called);
	if (error)
		return error;
	*at = (struct hp_called_at){ .procedure = called };
	place->at = at;
	place->count = 1;
	return NULL;
}

/* In generated code, addresses are synthetic and differ between epochs. */
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
	error = paths_called_at(paths, &key, called);
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
	error = paths_called_at(paths, &key, &called);
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

/* Two passes over all addresses: first parts that were moved out of their procedures, then the
 * others. */
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

/* Short names, even if two are the same: a tree has no room for long ones. */
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

/* Adds "cc1, pid 12, worker (tid 14), CPU 1", with the keys that groups have. */
static struct hp_error *label_group(struct hp_call_paths *paths,
				    const struct hp_loaded_group *group, struct hp_called **label)
{
	struct hp_profiles *profiles = paths->profiles;
	const struct hp_breakdown *by = &profiles->by;
	const char *text = "";
	struct hp_error *error;
	struct called_key key;

	for (size_t i = 0; i < by->count && text; i++) {
		const char *comma = i ? ", " : "";

		if (by->keys[i] == HP_BY_COMM)
			text = hp_profiles_format(profiles, "%s%s%s", text, comma, group->command);
		else if (by->keys[i] == HP_BY_PID)
			text = hp_profiles_format(profiles, "%s%spid %" PRIu32, text, comma,
						  group->pid);
		else if (by->keys[i] == HP_BY_TID && group->tid)
			text = hp_profiles_format(profiles, "%s%s%s (tid %" PRIu32 ")", text, comma,
						  group->thread ? group->thread : "thread",
						  group->tid);
		else if (by->keys[i] == HP_BY_CPU && group->cpu)
			text = hp_profiles_format(profiles, "%s%sCPU %" PRIu32, text, comma,
						  group->cpu - 1);
	}
	memset(&key, 0, sizeof(key));
	key.name = text ? hp_profiles_intern(profiles, *text ? text : "[unknown]") : NULL;
	error = key.name ? paths_called_at(paths, &key, label) : hp_error_create_no_memory();
	if (!error)
		(*label)->shown = key.name;
	return error;
}

static struct hp_error *label_groups(struct hp_call_paths *paths)
{
	const struct hp_profiles *profiles = paths->profiles;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < profiles->groups.count && !error; i++) {
		struct hp_called *label;

		error = label_group(paths, &profiles->groups.at[i], &label);
		if (!error && !hp_vector_push(&paths->groups, label))
			error = hp_error_create_no_memory();
	}
	return error;
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
		/* made-up places have a name already */
		if (part)
			error = name_part(paths, part, order + i, end - i);
	}
	if (!error)
		error = show_names(paths);
	return error ? error : label_groups(paths);
}
