/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paths_places.h"

#include <string.h>

struct hp_error *paths_place_at(struct hp_call_paths *paths, const struct place_key *key,
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

struct hp_error *paths_called_at(struct hp_call_paths *paths, const struct called_key *key,
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

struct hp_error *paths_made_up_place(struct hp_call_paths *paths, const char *name, uint32_t *place)
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
	error = paths_place_at(paths, &key, NULL, place);
	if (!error)
		error = paths_called_at(paths, &called_key, &called);
	if (error)
		return error;
	*at = (struct hp_called_at){ .procedure = called };
	paths->places.at[*place].at = at;
	paths->places.at[*place].count = 1;
	return NULL;
}
