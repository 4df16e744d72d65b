/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attribute.h"
#include "suggest.h"
#include "tuning.h"

#include <hpcprof/base/buffer.h>
#include <hpcprof/base/number.h>
#include <hpcprof/model/procedure_name.h>
#include <hpcprof/profile/rows.h>

#include <inttypes.h>
#include <string.h>

/* How well a name fits; the best first. */
enum fit {
	FIT_EXACT,
	FIT_BARE,
	FIT_ADDRESS,
	FIT_GLOB,
	FIT_PART,
	FIT_NOT,
};

static enum fit fit_of(const char *name, const char *linkage, const char *wanted)
{
	static const enum fit fits[] = {
		[HP_NAME_EXACT] = FIT_EXACT, [HP_NAME_BARE] = FIT_BARE, [HP_NAME_GLOB] = FIT_GLOB,
		[HP_NAME_PART] = FIT_PART,   [HP_NAME_NOT] = FIT_NOT,
	};

	return fits[hp_name_fit(name, linkage, wanted)];
}

/* --- what was typed ----------------------------------------------------------------------- */

struct wanted {
	const char *image; /* glob; NULL: any image */
	const char *name;
	bool has_address;
	uint64_t address;
};

static struct wanted wanted_of(const char *image, const char *name)
{
	struct wanted wanted = { .image = image, .name = name };

	wanted.has_address = strncmp(name, "0x", 2) == 0 && hp_parse_u64(name, &wanted.address);
	return wanted;
}

static const struct hp_procedure *owner_at(const struct hp_loaded_part *part, uint64_t address)
{
	if (!part->file)
		return NULL;
	return hp_image_procedure_at(part->file, (hp_link_address){ address })->owner;
}

/* A split-off part belongs to its owner. */
static bool holds_address(const struct hp_row *row, uint64_t address)
{
	for (const struct hp_row_code *code = row->code; code; code = code->next) {
		const struct hp_procedure *at = code->procedure ? owner_at(code->part, address)
								: NULL;

		if (at && at->address.value == code->procedure->address.value)
			return true;
	}
	return false;
}

static enum fit fit_of_row(const struct hp_row *row, const struct wanted *wanted)
{
	if (!image_fits(row->image, wanted->image))
		return FIT_NOT;
	if (wanted->has_address && row->has_address && holds_address(row, wanted->address))
		return FIT_ADDRESS;
	return fit_of(row->name, row->linkage, wanted->name);
}

/* --- procedures without samples ------------------------------------------------------------ */

static struct hp_error *add_unsampled_address(struct hp_profiles *profiles,
					      struct hp_loaded_part *part, uint64_t address)
{
	const struct hp_procedure *at = owner_at(part, address);
	const uint8_t *bytes;

	if (!at || !hp_image_text(part->file, (hp_link_address){ address }, 1, &bytes))
		return NULL;
	return attribute_unsampled(profiles, part, at);
}

static struct hp_error *add_unsampled(struct hp_profiles *profiles, struct hp_loaded_part *part,
				      const struct wanted *wanted)
{
	const struct hp_procedure *const *procedures;
	struct hp_error *error = NULL;
	size_t count;

	if (!part->file || !image_fits(part->image, wanted->image))
		return NULL;
	if (wanted->has_address)
		return add_unsampled_address(profiles, part, wanted->address);
	hp_image_procedures(part->file, &procedures, &count);
	for (size_t i = 0; i < count && !error; i++) {
		const struct hp_procedure *at = procedures[i];

		if (at->owner == at && fit_of(at->name, at->linkage, wanted->name) <= FIT_BARE)
			error = attribute_unsampled(profiles, part, at);
	}
	return error;
}

/* --- choosing ------------------------------------------------------------------------------ */

static double weight_of(const struct hp_profiles *profiles, const struct hp_row *row)
{
	return row->tallies[profiles->sort_event].weight;
}

/* Keeps the rows that fit best. False if none fits. */
static bool keep_fitting(struct hp_profiles *profiles, const struct wanted *wanted, enum fit *best)
{
	size_t kept = 0;

	*best = FIT_NOT;
	for (size_t i = 0; i < profiles->rows.count; i++) {
		enum fit fit = fit_of_row(profiles->rows.at[i], wanted);

		if (fit < *best)
			*best = fit;
	}
	for (size_t i = 0; i < profiles->rows.count && *best != FIT_NOT; i++)
		if (fit_of_row(profiles->rows.at[i], wanted) == *best)
			profiles->rows.at[kept++] = profiles->rows.at[i];
	if (*best != FIT_NOT)
		profiles->rows.count = kept;
	return *best != FIT_NOT;
}

/* First the whole text is tried as a name; then, with a single colon, the part before it as an
 * image. */
static struct hp_error *try_all(struct hp_profiles *profiles, const char *text,
				struct hp_error *(*attempt)(struct hp_profiles *profiles,
							    struct wanted wanted, bool *found),
				bool *found)
{
	struct wanted whole = wanted_of(NULL, text);
	struct hp_error *error = attempt(profiles, whole, found);

	for (const char *colon = strchr(text, ':'); colon && !error && !*found;
	     colon = strchr(colon + 1, ':')) {
		_cleanup_free_ char *image = NULL;
		struct wanted split;

		if (colon[1] == ':') {
			colon++;
			continue;
		}
		image = strndup(text, (size_t)(colon - text));
		if (!image)
			return hp_error_create_no_memory();
		split = wanted_of(image, colon + 1);
		if (*image && *split.name)
			error = attempt(profiles, split, found);
	}
	return error;
}

/* Tells which other procedures the name fits. */
static struct hp_error *tell_others(const struct hp_profiles *profiles)
{
	_cleanup_(hp_buffer_free) struct hp_buffer others = { 0 };
	const struct hp_row *taken = profiles->rows.at[0];
	struct hp_error *error =
		hp_profiles_show_names(profiles, profiles->rows.at, profiles->rows.count);

	for (size_t i = 1; i < profiles->rows.count && i <= MOST_OTHERS && !error; i++)
		hp_buffer_printf(&others, "%s%s:%s (%" PRIu64 " samples)", i > 1 ? ", " : "",
				 profiles->rows.at[i]->image->short_name,
				 profiles->rows.at[i]->shown,
				 profiles->rows.at[i]->tallies[profiles->sort_event].samples);
	if (profiles->rows.count > MOST_OTHERS + 1)
		hp_buffer_printf(&others, " and %zu more", profiles->rows.count - MOST_OTHERS - 1);
	if (error || others.failed)
		return error ? error : hp_error_create_no_memory();
	hp_profiles_warn(
		profiles,
		"use IMAGE:NAME, or an address inside the procedure as 0xADDRESS, to select one",
		"%zu procedures match '%s': this is the hottest, %s:%s; the other%s %s",
		profiles->rows.count, profiles->options->listed, taken->image->short_name,
		taken->shown, profiles->rows.count == 2 ? " is" : "s are", hp_buffer_text(&others));
	return NULL;
}

/* The hottest first; if equal, in order of image, name and address. */
static int compare_heat(const void *left, const void *right, void *context)
{
	const struct hp_row *a = *(const struct hp_row *const *)left;
	const struct hp_row *b = *(const struct hp_row *const *)right;
	double a_weight = weight_of(context, a);
	double b_weight = weight_of(context, b);
	int order = (a_weight < b_weight) - (a_weight > b_weight);

	if (!order && a->image != b->image)
		order = hp_image_id_compare(&a->image->id, &b->image->id);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : (a->address > b->address) - (a->address < b->address);
}

static struct hp_error *take_hottest(struct hp_profiles *profiles)
{
	struct hp_error *error;

	qsort_r(profiles->rows.at, profiles->rows.count, sizeof(struct hp_row *), compare_heat,
		profiles);
	error = tell_others(profiles);
	profiles->rows.count = 1;
	return error;
}

static struct hp_error *try_sampled(struct hp_profiles *profiles, struct wanted wanted, bool *found)
{
	enum fit fit;

	*found = keep_fitting(profiles, &wanted, &fit);
	if (!*found || profiles->rows.count == 1 ||
	    (fit >= FIT_GLOB && profiles->options->lists_many))
		return NULL;
	return take_hottest(profiles);
}

static struct hp_error *try_unsampled(struct hp_profiles *profiles, struct wanted wanted,
				      bool *found)
{
	size_t before = profiles->rows.count;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < profiles->parts.count && !error; i++)
		error = add_unsampled(profiles, profiles->parts.at[i], &wanted);
	*found = profiles->rows.count > before;
	return error || !*found ? error : try_sampled(profiles, wanted, found);
}

/* The remaining rows become the total, as if filters had selected them. */
static void count_kept(struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->events.count; i++) {
		struct hp_tally kept = { 0 };

		for (size_t j = 0; j < profiles->rows.count; j++)
			hp_tally_add(&kept, &profiles->rows.at[j]->tallies[i]);
		profiles->events.at[i].kept = kept;
	}
}

struct hp_error *hp_profiles_resolve(struct hp_profiles *profiles)
{
	const char *text = profiles->options->listed;
	bool found = false;
	struct hp_error *error = try_all(profiles, text, try_sampled, &found);

	if (!error && !found)
		error = try_all(profiles, text, try_unsampled, &found);
	if (error)
		return error;
	if (!found)
		return suggest_procedures(profiles, text);
	count_kept(profiles);
	return NULL;
}
