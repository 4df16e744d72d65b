/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows.h"

#include <hpcprof/base/hash.h>

#include <string.h>

struct row_entry {
	UT_hash_handle hh;
	struct row_key key;
	struct hp_row row;
};

struct hp_row *rows_at(struct hp_profiles *profiles, const struct row_key *key)
{
	struct row_entry *entry;

	HASH_FIND(hh, profiles->row_index, key, sizeof(*key), entry);
	if (entry)
		return &entry->row;
	entry = hp_arena_alloc(profiles->arena, sizeof(*entry));
	if (!entry)
		return NULL;
	memcpy(&entry->key, key, sizeof(*key));
	entry->row.image = key->image;
	entry->row.name = key->name;
	entry->row.file = key->file;
	entry->row.line = key->line;
	entry->row.inlined = key->inlined != 0;
	entry->row.group = key->group;
	entry->row.tallies = hp_profiles_tallies(profiles);
	if (!entry->row.tallies || !hp_vector_push(&profiles->rows, &entry->row))
		return NULL;
	HASH_ADD(hh, profiles->row_index, key, sizeof(*key), entry);
	return entry->hh.tbl ? &entry->row : NULL;
}

void rows_forget(struct hp_profiles *profiles)
{
	HASH_CLEAR(hh, profiles->row_index);
}

struct file_entry {
	UT_hash_handle hh;
	const char *name; /* last component of the path */
	const char *file; /* the first file with this name */
	bool shared;
};

static struct file_entry *file_entry_at(struct hp_profiles *profiles, struct file_entry **files,
					const char *file)
{
	const char *name = hp_source_name(file);
	size_t length = strlen(name);
	struct file_entry *entry;

	HASH_FIND(hh, *files, name, length, entry);
	if (entry)
		return entry;
	entry = hp_arena_alloc(profiles->arena, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->name = name;
	entry->file = file;
	HASH_ADD_KEYPTR(hh, *files, entry->name, length, entry);
	return entry->hh.tbl ? entry : NULL;
}

struct hp_error *hp_profiles_name_files(struct hp_profiles *profiles)
{
	struct file_entry *files = NULL;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < profiles->rows.count && !error; i++) {
		const struct hp_row *row = profiles->rows.at[i];
		struct file_entry *entry = row->file ? file_entry_at(profiles, &files, row->file)
						     : NULL;

		if (entry)
			entry->shared = entry->shared || strcmp(entry->file, row->file) != 0;
		else if (row->file)
			error = hp_error_create_no_memory();
	}
	for (size_t i = 0; i < profiles->rows.count && !error; i++) {
		struct hp_row *row = profiles->rows.at[i];

		if (row->file)
			row->short_file = file_entry_at(profiles, &files, row->file)->shared
						  ? row->file
						  : hp_source_name(row->file);
	}
	HASH_CLEAR(hh, files);
	return error;
}
