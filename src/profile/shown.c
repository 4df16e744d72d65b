/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/hash.h>
#include <hpcprof/model/procedure_name.h>
#include <hpcprof/profile/rows.h>

#include <string.h>

struct shown {
	UT_hash_handle hh;
	const char *text;
	const char *name; /* name of the first row with it */
	bool is_of_several;
};

static struct hp_error *shorten(const struct hp_profiles *profiles, struct hp_row *row,
				struct shown **all)
{
	_cleanup_free_ char *text = hp_name_shorten(row->name, row->linkage);
	size_t length = text ? strlen(text) : 0;
	struct shown *shown;

	if (!text)
		return hp_error_create_no_memory();
	HASH_FIND(hh, *all, text, length, shown);
	if (!shown) {
		shown = hp_arena_alloc(profiles->arena, sizeof(*shown));
		if (!shown)
			return hp_error_create_no_memory();
		*shown = (struct shown){ .text = hp_arena_strdup(profiles->arena, text),
					 .name = row->name };
		if (!shown->text)
			return hp_error_create_no_memory();
		HASH_ADD_KEYPTR(hh, *all, shown->text, length, shown);
		if (!shown->hh.tbl)
			return hp_error_create_no_memory();
	}
	shown->is_of_several = shown->is_of_several || strcmp(shown->name, row->name) != 0;
	row->shown = shown->text;
	return NULL;
}

struct hp_error *hp_profiles_show_names(const struct hp_profiles *profiles,
					struct hp_row *const *rows, size_t count)
{
	struct shown *all = NULL;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < count && !error; i++) {
		rows[i]->shown = rows[i]->name;
		if (rows[i]->name && !profiles->options->full_names)
			error = shorten(profiles, rows[i], &all);
	}
	for (size_t i = 0; i < count && !error; i++) {
		struct shown *shown = NULL;

		if (rows[i]->shown)
			HASH_FIND(hh, all, rows[i]->shown, strlen(rows[i]->shown), shown);
		if (shown && shown->is_of_several)
			rows[i]->shown = rows[i]->name;
	}
	HASH_CLEAR(hh, all);
	return error;
}
