/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakdown.h"
#include "rows.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/profile/profiles.h>

#include <string.h>

struct interned {
	UT_hash_handle hh;
	char text[];
};

struct hp_error *hp_profiles_create(const struct hp_profiles_options *options,
				    const struct hp_notices *notices, struct hp_profiles **profiles)
{
	struct hp_profiles *created = calloc(1, sizeof(*created));

	if (!created)
		return hp_error_create_no_memory();
	created->options = options;
	created->notices = notices;
	created->arena = hp_arena_create();
	if (!created->arena) {
		free(created);
		return hp_error_create_no_memory();
	}
	*profiles = created;
	return breakdown_parse(created);
}

static void destroy_part(struct hp_loaded_part *part)
{
	hp_vector_free(&part->hits);
	free(part->offsets);
	free(part->tallies);
	free(part->located);
	if (part->flow)
		hp_cfg_image_destroy(part->flow);
	if (part->file)
		hp_image_close(part->file);
	free(part->groups);
	hp_excerpt_clear(&part->excerpt);
	hp_symbols_free(part->symbols, part->symbol_count);
}

void hp_profiles_destroy(struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->parts.count; i++)
		destroy_part(profiles->parts.at[i]);
	for (size_t i = 0; i < profiles->epochs.count; i++)
		if (profiles->epochs.at[i].epoch)
			hp_epoch_close(profiles->epochs.at[i].epoch);
	hp_vector_free(&profiles->covered);
	HASH_CLEAR(hh, profiles->strings);
	rows_forget(profiles);
	breakdown_forget(profiles);
	hp_vector_free(&profiles->groups);
	hp_vector_free(&profiles->epochs);
	hp_vector_free(&profiles->events);
	hp_vector_free(&profiles->images);
	hp_vector_free(&profiles->parts);
	hp_vector_free(&profiles->rows);
	hp_arena_destroy(profiles->arena);
	free(profiles);
}
