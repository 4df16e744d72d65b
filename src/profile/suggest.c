/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suggest.h"

#include <hpcprof/profile/rows.h>

#include "tuning.h"

#include <hpcprof/base/buffer.h>
#include <hpcprof/base/text.h>
#include <hpcprof/model/procedure_name.h>

#include <hpcprof/base/text.h>

#include <inttypes.h>
#include <string.h>

bool image_fits(const struct hp_loaded_image *image, const char *pattern)
{
	return hp_profiles_matches(pattern, image->id.path) ||
	       hp_profiles_matches(pattern, hp_image_basename(image->id.path)) ||
	       hp_profiles_matches(pattern, image->short_name);
}

/* Text before a single colon names the image. */
static bool names_image(const char *text, const struct hp_loaded_image *image)
{
	for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		_cleanup_free_ char *name = strndup(text, (size_t)(colon - text));

		if (name && *name && image_fits(image, name))
			return true;
	}
	return false;
}

enum { LONGEST_SHOWN_COLUMNS = 90 };

/* Names that contain the text come first, then by distance, then by samples. */
struct suggestion {
	const char *name;
	const struct hp_loaded_image *image;
	size_t distance;
	uint64_t samples;
};

struct search {
	const char *wanted;
	size_t limit; /* largest distance */
	struct suggestion best[MOST_SUGGESTIONS];
	size_t count;
};

static bool is_better(const struct suggestion *a, const struct suggestion *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	return a->samples > b->samples;
}

static void consider(struct search *search, const struct suggestion *added)
{
	size_t at;

	for (size_t i = 0; i < search->count; i++)
		if (search->best[i].image == added->image &&
		    strcmp(search->best[i].name, added->name) == 0)
			return;
	if (search->count == MOST_SUGGESTIONS &&
	    !is_better(added, &search->best[MOST_SUGGESTIONS - 1]))
		return;
	if (search->count < MOST_SUGGESTIONS)
		search->count++;
	for (at = search->count - 1; at > 0 && is_better(added, &search->best[at - 1]); at--)
		search->best[at] = search->best[at - 1];
	search->best[at] = *added;
}

/* Names are compared without arguments, in which nobody makes mistakes, and without namespaces if
 * that is closer. SIZE_MAX: too far. */
static size_t distance_of(const struct search *search, const char *name)
{
	_cleanup_free_ char *bare = NULL;
	const char *start;
	const char *last;
	size_t length;
	size_t distance;

	if (strcasestr(name, search->wanted))
		return 0;
	hp_name_bare(name, &start, &length);
	bare = strndup(start, length);
	if (!bare)
		return SIZE_MAX;
	distance = hp_text_distance(search->wanted, bare, search->limit);
	last = strrchr(bare, ':');
	if (last && distance > search->limit)
		distance = hp_text_distance(search->wanted, last + 1, search->limit);
	return distance > search->limit ? SIZE_MAX : distance;
}

static void consider_name(struct search *search, const struct hp_loaded_image *image,
			  const char *name, const char *linkage, uint64_t samples)
{
	struct suggestion suggestion = { name, image, distance_of(search, name), samples };

	if (suggestion.distance == SIZE_MAX && linkage && linkage != name)
		suggestion.distance = distance_of(search, linkage);
	if (suggestion.distance != SIZE_MAX)
		consider(search, &suggestion);
}

static void consider_unsampled(struct search *search, struct hp_loaded_part *part)
{
	const struct hp_procedure *const *procedures;
	size_t count;

	hp_image_procedures(part->file, &procedures, &count);
	for (size_t i = 0; i < count; i++)
		if (procedures[i]->owner == procedures[i])
			consider_name(search, part->image, procedures[i]->name,
				      procedures[i]->linkage, 0);
}

static void add_suggestion(struct hp_buffer *advice, const struct suggestion *suggestion)
{
	size_t shown = hp_text_prefix(suggestion->name, LONGEST_SHOWN_COLUMNS);

	hp_buffer_printf(advice, "\n  %.*s%s  in %s, ", (int)shown, suggestion->name,
			 suggestion->name[shown] ? "\xe2\x80\xa6" : "",
			 suggestion->image->short_name);
	if (suggestion->samples)
		hp_buffer_printf(advice, "%" PRIu64 " sample%s", suggestion->samples,
				 suggestion->samples == 1 ? "" : "s");
	else
		hp_buffer_printf(advice, "no samples");
}

/* Adds images without names, in which the procedure may be. */
static void add_refused(struct hp_buffer *advice, const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->images.count; i++)
		if (profiles->images.at[i]->problem)
			hp_buffer_printf(
				advice,
				"%s%s could not be read: its samples are in rows %s+0xOFFSET",
				advice->size ? "\n" : "", profiles->images.at[i]->short_name,
				hp_image_basename(profiles->images.at[i]->id.path));
}

/* Whether no image could be read; samples outside of images have no procedure anyway. */
static bool all_are_refused(const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->images.count; i++)
		if (!profiles->images.at[i]->problem &&
		    profiles->images.at[i]->id.kind != HP_IMAGE_UNKNOWN)
			return false;
	return true;
}

/* The procedure may be in code that could not be read; then that is the reason. */
static struct hp_error *not_found(const struct hp_profiles *profiles, const char *text)
{
	const struct hp_loaded_image *refused = NULL; /* the image that it may be in */
	bool is_any = false;

	for (size_t i = 0; i < profiles->images.count && !refused; i++) {
		const struct hp_loaded_image *image = profiles->images.at[i];

		is_any = is_any || image->problem;
		if (image->problem && (all_are_refused(profiles) || names_image(text, image)))
			refused = image;
	}
	if (refused)
		return hp_error_create(
			HP_ERROR_INSUFFICIENT,
			"'%s' cannot be looked up, because the procedures of %s are not known: %s",
			text, refused->short_name, refused->problem);
	return hp_error_create(HP_ERROR_INSUFFICIENT, "no procedure matches '%s' in the images %s",
			       text, is_any ? "that could be read" : "with samples");
}

struct hp_error *suggest_procedures(struct hp_profiles *profiles, const char *text)
{
	struct search search = { .wanted = text, .limit = strlen(text) / LENGTH_PER_CHANGE };
	_cleanup_(hp_buffer_free) struct hp_buffer advice = { 0 };
	struct hp_error *error = not_found(profiles, text);

	for (size_t i = 0; i < profiles->rows.count; i++) {
		const struct hp_row *row = profiles->rows.at[i];

		consider_name(&search, row->image, row->name, row->linkage,
			      row->tallies[profiles->sort_event].samples);
	}
	for (size_t i = 0; i < profiles->parts.count && search.count < MOST_SUGGESTIONS; i++)
		if (profiles->parts.at[i]->file)
			consider_unsampled(&search, profiles->parts.at[i]);
	if (search.count)
		hp_buffer_printf(&advice, "the most similar names are:");
	for (size_t i = 0; i < search.count; i++)
		add_suggestion(&advice, &search.best[i]);
	add_refused(&advice, profiles);
	if (!advice.size)
		hp_buffer_printf(&advice, "hpcprof report lists the procedures that have samples");
	return advice.failed ? error : hp_error_advise(error, "%s", hp_buffer_text(&advice));
}
