/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kept.h"

#include <string.h>

static size_t find_image(const struct hp_epoch *epoch, const struct hp_image_id *id)
{
	size_t count = hp_epoch_image_count(epoch);
	size_t i = 0;

	while (i < count && hp_image_id_compare(hp_epoch_image(epoch, i), id) != 0)
		i++;
	return i < count ? i : SIZE_MAX;
}

/* Damaged parts are left out, with a warning. */
static struct hp_error *forgive(const struct hp_profiles *profiles, struct hp_error *error)
{
	if (!error || error->class != HP_ERROR_DAMAGED)
		return error;
	hp_profiles_warn(profiles, "hpcprof epochs verify shows what is damaged", "%s",
			 error->message);
	hp_error_destroy(error);
	return NULL;
}

static struct hp_error *add_excerpt(const struct hp_profiles *profiles, struct hp_loaded_part *part,
				    struct hp_epoch *epoch, size_t index)
{
	struct hp_excerpt excerpt = { 0 };
	struct hp_error *lost = NULL;
	struct hp_error *error = hp_epoch_read_excerpt(epoch, index, &excerpt, &lost);

	if (!error)
		error = hp_excerpt_add(&part->excerpt, &excerpt);
	hp_excerpt_clear(&excerpt);
	lost = forgive(profiles, lost);
	hp_error_destroy(lost);
	return forgive(profiles, error);
}

static struct hp_error *add_symbols(const struct hp_profiles *profiles, struct hp_loaded_part *part,
				    struct hp_epoch *epoch, size_t index)
{
	struct hp_symbol *symbols = NULL;
	struct hp_symbol *all;
	size_t count = 0;
	struct hp_error *error = hp_epoch_read_symbols(epoch, index, &symbols, &count, NULL);

	if (error || !count) {
		hp_symbols_free(symbols, count);
		return forgive(profiles, error);
	}
	all = realloc(part->symbols, (part->symbol_count + count) * sizeof(*all));
	if (!all) {
		hp_symbols_free(symbols, count);
		return hp_error_create_no_memory();
	}
	memcpy(all + part->symbol_count, symbols, count * sizeof(*all));
	part->symbols = all;
	part->symbol_count += count;
	free(symbols);
	return NULL;
}

static struct hp_error *collect(const struct hp_profiles *profiles, struct hp_loaded_part *part,
				struct hp_error *(*add)(const struct hp_profiles *profiles,
							struct hp_loaded_part *part,
							struct hp_epoch *epoch, size_t index))
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < profiles->epochs.count && !error; i++) {
		struct hp_epoch *epoch = profiles->epochs.at[i].epoch;
		size_t index = epoch ? find_image(epoch, &part->image->id) : SIZE_MAX;

		if (index != SIZE_MAX)
			error = add(profiles, part, epoch, index);
	}
	return error;
}

static const char *what_was_kept(const struct hp_excerpt *excerpt)
{
	if (excerpt->ranges.count)
		return excerpt->lines.count ? "names, lines and code" : "names and code";
	return excerpt->lines.count ? "names and lines" : "names";
}

struct hp_error *kept_open(struct hp_profiles *profiles, struct hp_loaded_part *part,
			   const char *why)
{
	struct hp_image_options options = { .kept_only = true };
	struct hp_loaded_image *image = part->image;
	struct hp_error *error = collect(profiles, part, add_excerpt);
	const char *what;

	if (!error && hp_excerpt_is_empty(&part->excerpt))
		error = collect(profiles, part, add_symbols);
	if (error || (hp_excerpt_is_empty(&part->excerpt) && !part->symbol_count))
		return error;
	options.excerpt = &part->excerpt;
	options.symbols = part->symbols;
	options.symbol_count = part->symbol_count;
	error = hp_image_open(&image->id, &options, &part->file);
	if (error)
		return error;
	what = what_was_kept(&part->excerpt);
	image->kept =
		hp_profiles_format(profiles, "%s: the %s in the recording are used", why, what);
	if (!image->kept)
		return hp_error_create_no_memory();
	if (!hp_profiles_is_noticed(profiles, image))
		return NULL;
	hp_profiles_warn(profiles,
			 part->excerpt.ranges.count
				 ? NULL
				 : "--annotate, --instructions, --stalls and --cfg need the file, "
				   "or the code that record stores without --no-code",
			 "%s", image->kept);
	return NULL;
}
