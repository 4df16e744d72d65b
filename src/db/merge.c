/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one epoch that is the sum of others.
 *
 * Sources and images are processed in sorted order, and strata of different periods are kept
 * apart. So the resulting profiles have the same bytes in whatever order, and in however many
 * steps, epochs are merged.
 */
#include "names.h"
#include "writer.h"
#include "writing.h"

#include <hpcprof/base/file.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct merging {
	struct hp_epoch **epochs; /* the oldest first */
	size_t epoch_count;
	struct hp_epoch_writer *writer;
	struct hp_epoch_meta meta;
	const struct hp_image_id **images; /* sorted, distinct */
	size_t image_count;
};

/* --- description -------------------------------------------------------------------------- */

static struct hp_error *copy_meta(const struct hp_epoch_meta *from, struct hp_epoch_meta *to)
{
	struct hp_writer file;
	struct hp_error *error = hp_meta_encode(from, NULL, &file);

	return error ? error : hp_meta_decode(file.bytes, file.size, to, NULL, NULL);
}

/* Adds the warning "WHAT of epoch STAMP HOW". */
static struct hp_error *add_warning(struct merging *merging, size_t number, const char *what,
				    const char *how)
{
	struct hp_epoch_meta *meta = &merging->meta;
	char text[128];
	char *warnings[] = { text, NULL };
	const struct hp_epoch_meta more = { .cpu = meta->cpu, .warnings = warnings };

	snprintf(text, sizeof(text), "%s of epoch %s %s", what,
		 hp_epoch_stamp(merging->epochs[number]), how);
	return hp_epoch_meta_add(meta, &more);
}

static struct hp_error *describe_epoch(struct merging *merging, size_t number)
{
	const struct hp_epoch *epoch = merging->epochs[number];
	struct hp_error *error;

	if (!number)
		error = copy_meta(hp_epoch_meta(epoch), &merging->meta);
	else
		error = hp_epoch_meta_add(&merging->meta, hp_epoch_meta(epoch));
	if (error || hp_epoch_meta(epoch)->complete)
		return error;
	return add_warning(merging, number, "the recording", "was interrupted");
}

/* Totals are added up; the description of the recording is that of the oldest epoch. */
static struct hp_error *describe(struct merging *merging, const char *label)
{
	struct hp_epoch_meta *meta = &merging->meta;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < merging->epoch_count && !error; i++)
		error = describe_epoch(merging, i);
	if (error)
		return error;
	meta->complete = true;
	free(meta->label);
	meta->label = label ? strdup(label) : NULL;
	return label && !meta->label ? hp_error_create_no_memory() : NULL;
}

/* --- images ------------------------------------------------------------------------------- */

static int compare_images(const void *left, const void *right)
{
	return hp_image_id_compare(*(const struct hp_image_id *const *)left,
				   *(const struct hp_image_id *const *)right);
}

static struct hp_error *list_images(struct merging *merging)
{
	size_t total = 0;

	for (size_t i = 0; i < merging->epoch_count; i++)
		total += hp_epoch_image_count(merging->epochs[i]);
	merging->images = calloc(total + 1, sizeof(const void *));
	if (!merging->images)
		return hp_error_create_no_memory();
	total = 0;
	for (size_t i = 0; i < merging->epoch_count; i++) {
		for (size_t j = 0; j < hp_epoch_image_count(merging->epochs[i]); j++)
			merging->images[total++] = hp_epoch_image(merging->epochs[i], j);
	}
	if (total)
		qsort(merging->images, total, sizeof(const void *), compare_images);
	for (size_t i = 0; i < total; i++) {
		if (!i || compare_images(&merging->images[i - 1], &merging->images[i]) != 0)
			merging->images[merging->image_count++] = merging->images[i];
	}
	return NULL;
}

static size_t find_image(const struct hp_epoch *epoch, const struct hp_image_id *image)
{
	for (size_t i = 0; i < hp_epoch_image_count(epoch); i++) {
		if (hp_image_id_compare(hp_epoch_image(epoch, i), image) == 0)
			return i;
	}
	return SIZE_MAX;
}

static size_t find_event(const struct hp_epoch *epoch, const char *name)
{
	const struct hp_epoch_meta *meta = hp_epoch_meta(epoch);

	for (size_t i = 0; i < meta->event_count; i++) {
		if (strcmp(meta->events[i].info.name, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

static struct hp_error *merge_symbols(struct merging *merging, const struct hp_image_id *image,
				      size_t index)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < merging->epoch_count && !error; i++) {
		size_t at = find_image(merging->epochs[i], image);
		struct hp_symbol *symbols;
		size_t count;
		bool are_whole;

		if (at == SIZE_MAX)
			continue;
		error = hp_epoch_read_symbols(merging->epochs[i], at, &symbols, &count, &are_whole);
		if (!error && !are_whole)
			error = add_warning(merging, i, "fingerprints of procedures",
					    "were damaged, and are left out");
		if (!error && count)
			error = hp_epoch_writer_symbols(merging->writer, index, symbols, count);
		hp_symbols_free(symbols, count);
	}
	return error;
}

static struct hp_error *add_excerpt(struct merging *merging, size_t number, size_t image,
				    struct hp_excerpt *sum)
{
	struct hp_excerpt excerpt;
	struct hp_error *lost = NULL;
	struct hp_error *error =
		hp_epoch_read_excerpt(merging->epochs[number], image, &excerpt, &lost);
	bool is_whole = !error && !lost;

	if (!error)
		error = hp_excerpt_add(sum, &excerpt);
	hp_error_destroy(lost);
	hp_excerpt_clear(&excerpt);
	if (error && error->class == HP_ERROR_DAMAGED)
		hp_error_destroy(error);
	else if (error || is_whole)
		return error;
	return add_warning(merging, number, "some stored code and lines",
			   "did not fit or were damaged, and are left out");
}

static struct hp_error *merge_excerpts(struct merging *merging, const struct hp_image_id *image,
				       size_t index)
{
	struct hp_excerpt sum = { 0 };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < merging->epoch_count && !error; i++) {
		size_t at = find_image(merging->epochs[i], image);

		if (at != SIZE_MAX)
			error = add_excerpt(merging, i, at, &sum);
	}
	if (!error)
		error = hp_epoch_writer_excerpt(merging->writer, index, &sum);
	hp_excerpt_clear(&sum);
	return error;
}

static struct hp_error *merge_profiles(struct merging *merging, const struct hp_image_id *image,
				       const char *event)
{
	struct hp_profile sum = { 0 };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < merging->epoch_count && !error; i++) {
		size_t at = find_image(merging->epochs[i], image);
		size_t number = find_event(merging->epochs[i], event);
		struct hp_profile profile;

		if (at == SIZE_MAX || number == SIZE_MAX)
			continue;
		error = hp_epoch_read_profile(merging->epochs[i], at, number, &profile);
		if (!error && profile.has_lost_shares)
			error = add_warning(merging, i, "threads and CPUs of samples",
					    "were damaged, and are left out");
		if (error) {
			hp_profile_clear(&profile);
			break;
		}
		if (sum.event) {
			error = hp_profile_add(&sum, &profile);
			hp_profile_clear(&profile);
		} else {
			sum = profile;
		}
	}
	if (!error && sum.stratum_count)
		error = hp_epoch_writer_add(merging->writer, &sum);
	hp_profile_clear(&sum);
	return error;
}

static struct hp_error *merge_bytes(struct merging *merging, const struct hp_image_id *image,
				    size_t index)
{
	for (size_t i = 0; i < merging->epoch_count; i++) {
		size_t at = find_image(merging->epochs[i], image);
		const char *path = at == SIZE_MAX ? NULL
						  : hp_epoch_bytes_path(merging->epochs[i], at);
		_cleanup_free_ uint8_t *bytes = NULL;
		struct hp_error *error;
		size_t size;

		if (!path)
			continue;
		error = hp_file_read_at(AT_FDCWD, path, HP_CONTAINER_MAX_FILE_BYTES, &bytes, &size);
		return error ? error : hp_epoch_writer_bytes(merging->writer, index, bytes, size);
	}
	return NULL;
}

/* Damaged evidence is left out, with a warning in the sum. */
static struct hp_error *add_evidence(struct merging *merging, size_t number,
				     struct hp_window_evidence *sum)
{
	struct hp_window_evidence evidence;
	struct hp_error *lost;
	struct hp_error *error = hp_epoch_read_evidence(merging->epochs[number], &evidence, &lost);

	if (error && error->class == HP_ERROR_DAMAGED) {
		hp_error_destroy(error);
		return add_warning(merging, number, "the execution counts",
				   "were damaged, and are left out");
	}
	if (!error && lost)
		error = add_warning(merging, number, "some execution counts",
				    "were damaged, and are left out");
	if (!error)
		error = hp_window_evidence_add(sum, &evidence);
	hp_error_destroy(lost);
	hp_window_evidence_clear(&evidence);
	return error;
}

static struct hp_error *merge_evidence(struct merging *merging)
{
	struct hp_window_evidence sum = { 0 };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < merging->epoch_count && !error; i++)
		error = add_evidence(merging, i, &sum);
	if (!error && hp_window_evidence_items(&sum) > HP_EVIDENCE_MOST_ITEMS)
		error = hp_error_advise(
			hp_error_create(HP_ERROR_INSUFFICIENT,
					"these epochs have %llu counted blocks and edges, but one "
					"epoch can contain only %d",
					(unsigned long long)hp_window_evidence_items(&sum),
					HP_EVIDENCE_MOST_ITEMS),
			"merge fewer epochs, or report them together without merging");
	if (!error)
		error = hp_epoch_writer_evidence(merging->writer, &sum);
	hp_window_evidence_clear(&sum);
	return error;
}

static struct hp_error *add_paths(struct merging *merging, size_t number, struct hp_paths *sum)
{
	struct hp_paths paths;
	struct hp_error *error = hp_epoch_read_paths(merging->epochs[number], &paths);

	if (error && error->class == HP_ERROR_DAMAGED) {
		hp_error_destroy(error);
		error = add_warning(merging, number, "the call paths",
				    "were damaged, and are left out");
	} else if (!error) {
		error = hp_paths_merge(sum, &paths);
	}
	hp_paths_clear(&paths);
	return error;
}

static struct hp_error *merge_paths(struct merging *merging)
{
	struct hp_paths sum = { .node_limit = HP_PATHS_MOST_NODES };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < merging->epoch_count && !error; i++)
		error = add_paths(merging, i, &sum);
	if (!error)
		error = hp_writing_add_paths(merging->writer, &sum, HP_PATHS_MOST_NODES);
	hp_paths_clear(&sum);
	return error;
}

static struct hp_error *add_image(struct merging *merging, const struct hp_image_id *image,
				  size_t *index)
{
	struct hp_error *error = NULL;

	/* An image counts as deleted if any epoch says so. */
	for (size_t i = 0; i < merging->epoch_count && !error; i++) {
		size_t at = find_image(merging->epochs[i], image);

		if (at != SIZE_MAX)
			error = hp_epoch_writer_image(
				merging->writer, hp_epoch_image(merging->epochs[i], at), index);
	}
	return error;
}

static struct hp_error *merge_image(struct merging *merging, const struct hp_image_id *image)
{
	size_t index = 0;
	struct hp_error *error = add_image(merging, image, &index);

	for (size_t i = 0; i < merging->meta.event_count && !error; i++)
		error = merge_profiles(merging, image, merging->meta.events[i].info.name);
	if (!error)
		error = merge_symbols(merging, image, index);
	if (!error)
		error = merge_excerpts(merging, image, index);
	return error ? error : merge_bytes(merging, image, index);
}

/* --- the whole ---------------------------------------------------------------------------- */

static struct hp_error *open_sources(struct hp_db *db, char *const *stamps, size_t count,
				     struct merging *merging)
{
	merging->epochs = calloc(count, sizeof(const void *));
	if (!merging->epochs)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct hp_error *error = hp_epoch_open(db, stamps[i], &merging->epochs[i]);

		if (error)
			return error;
		merging->epoch_count++;
		if (hp_epoch_is_recording(merging->epochs[i]))
			return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
							       "epoch %s is being recorded",
							       stamps[i]),
					       "wait until the recording has ended");
		if (i && strcmp(stamps[i - 1], stamps[i]) == 0)
			return hp_error_create(HP_ERROR_USAGE, "epoch %s is named twice",
					       stamps[i]);
	}
	return NULL;
}

static struct hp_error *merge(struct hp_db *db, struct merging *merging, const char *label)
{
	struct hp_error *error = describe(merging, label);

	if (!error)
		error = list_images(merging);
	if (!error)
		error = hp_epoch_create_unpublished(db, label, &merging->writer);
	for (size_t i = 0; i < merging->image_count && !error; i++)
		error = merge_image(merging, merging->images[i]);
	if (!error)
		error = merge_evidence(merging);
	if (!error)
		error = merge_paths(merging);
	if (!error)
		error = hp_epoch_writer_commit(merging->writer, &merging->meta);
	return error ? error : hp_epoch_writer_publish(merging->writer);
}

static int compare_stamps(const void *left, const void *right)
{
	return hp_stamp_compare(*(char *const *)left, *(char *const *)right);
}

struct hp_error *hp_db_merge(struct hp_db *db, char *const *stamps, size_t count, const char *label,
			     char **merged)
{
	struct merging merging = { 0 };
	struct hp_error *error = NULL;
	char **sorted;

	if (!count)
		return hp_error_create(HP_ERROR_USAGE, "nothing to merge");
	for (size_t i = 0; i < count; i++) {
		if (!hp_stamp_is_valid(stamps[i]))
			return hp_error_create(HP_ERROR_USAGE, "'%s' is not the stamp of an epoch",
					       stamps[i]);
	}
	sorted = calloc(count, sizeof(*sorted));
	if (!sorted)
		return hp_error_create_no_memory();
	memcpy(sorted, stamps, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_stamps);
	error = open_sources(db, sorted, count, &merging);
	if (!error)
		error = merge(db, &merging, label);
	if (!error && !(*merged = strdup(hp_epoch_writer_stamp(merging.writer))))
		error = hp_error_create_no_memory();
	hp_epoch_writer_destroy(merging.writer);
	for (size_t i = 0; i < merging.epoch_count; i++)
		hp_epoch_close(merging.epochs[i]);
	free(merging.epochs);
	free(merging.images);
	free(sorted);
	hp_epoch_meta_clear(&merging.meta);
	return hp_error_wrap(error, "merging");
}
