/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer.h"

#include "contents.h"
#include "names.h"
#include "sums.h"
#include "writing.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* --- beginning ---------------------------------------------------------------------------- */

static struct hp_epoch_writer *allocate(const struct hp_db *db)
{
	struct hp_epoch_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->directory = writer->lock = -1;
	writer->db = fcntl(db->fd, F_DUPFD_CLOEXEC, 3);
	writer->file_mode = db->file_mode;
	return writer;
}

/* Of a finished epoch, with what it knows of all other files. */
static struct hp_error *write_meta(struct hp_epoch_writer *writer, const struct hp_epoch_meta *meta)
{
	struct hp_epoch_meta described = *meta;
	struct hp_file_sums sums = { 0 };
	struct hp_writer file = { 0 };
	struct hp_error *error = NULL;

	if (!described.label)
		described.label = writer->label;
	if (described.complete)
		error = hp_file_sums_take(writer->directory, &sums);
	if (!error)
		error = hp_meta_encode(&described, &sums, &file);
	hp_file_sums_clear(&sums);
	if (!error)
		error = hp_file_replace(writer->directory, HP_META_NAME, file.bytes, file.size,
					writer->file_mode);
	if (!error)
		error = hp_file_sync_directory(writer->directory);
	if (!error)
		writer->complete = described.complete;
	hp_writer_free(&file);
	return error;
}

static struct hp_error *begin(struct hp_epoch_writer *writer, const char *label)
{
	uint64_t now = hp_clock_realtime_ns();
	char version[] = PACKAGE_VERSION;
	struct hp_epoch_meta meta = { .version = version, .start_ns = now, .end_ns = now };
	struct hp_error *error = NULL;

	if (label) {
		error = hp_label_check(label);
		if (error)
			return error;
		writer->label = strdup(label);
		if (!writer->label)
			return hp_error_create_no_memory();
	}
	if (writer->db < 0)
		return hp_error_create_errno(errno, "opening the database again");
	error = hp_epoch_directory_create(writer->db, writer->file_mode, writer->name,
					  &writer->directory, &writer->lock);
	if (error) {
		writer->directory = writer->lock = -1;
		return error;
	}
	return write_meta(writer, &meta);
}

struct hp_error *hp_epoch_create_unpublished(struct hp_db *db, const char *label,
					     struct hp_epoch_writer **writer)
{
	struct hp_epoch_writer *begun = allocate(db);
	struct hp_error *error;

	if (!begun)
		return hp_error_create_no_memory();
	error = begin(begun, label);
	if (error) {
		hp_epoch_writer_destroy(begun);
		return hp_error_wrap(error, "a new epoch in %s", db->path);
	}
	*writer = begun;
	return NULL;
}

struct hp_error *hp_epoch_writer_publish(struct hp_epoch_writer *writer)
{
	char stamp[HP_STAMP_BYTES];
	struct hp_error *error =
		hp_epoch_directory_publish(writer->db, writer->name, hp_clock_realtime_ns(), stamp);

	if (error)
		return error;
	memcpy(writer->name, stamp, sizeof(stamp));
	writer->published = true;
	return NULL;
}

struct hp_error *hp_epoch_create(struct hp_db *db, const char *label,
				 struct hp_epoch_writer **writer)
{
	struct hp_epoch_writer *begun = NULL;
	struct hp_error *error = hp_epoch_create_unpublished(db, label, &begun);

	if (error)
		return error;
	error = hp_epoch_writer_publish(begun);
	if (error)
		hp_epoch_writer_destroy(begun);
	else
		*writer = begun;
	return error;
}

/* --- going on ----------------------------------------------------------------------------- */

/* Profiles of events that no flush has recorded: their units are not known to anybody. */
static struct hp_error *drop_unknown_events(struct hp_epoch_writer *writer)
{
	const struct hp_epoch_meta *meta = &writer->before.meta;
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(writer->directory, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		struct hp_profile profile;
		struct hp_error *lost = NULL;
		uint8_t *bytes;
		size_t size;
		bool known = false;

		if (names[i][0] == '.' || !hp_name_has_suffix(names[i], ".prof"))
			continue;
		error = hp_contents_read_file(writer->directory, names[i], &bytes, &size, NULL);
		if (!error)
			error = hp_profile_decode(bytes, size, &profile, NULL, &lost);
		hp_error_destroy(lost);
		if (error)
			break;
		for (size_t j = 0; j < meta->event_count; j++)
			known = known || strcmp(meta->events[j].info.name, profile.event) == 0;
		if (!known && unlinkat(writer->directory, names[i], 0) < 0)
			error = hp_error_create_errno(errno, "removing %s", names[i]);
		hp_profile_clear(&profile);
	}
	hp_directory_free_list(names, count);
	return error;
}

static struct held *held_of(struct hp_epoch_writer *writer, const char *event)
{
	char *name;

	for (size_t i = 0; i < writer->held.count; i++) {
		if (strcmp(writer->held.at[i].event, event) == 0)
			return &writer->held.at[i];
	}
	name = strdup(event);
	if (!name || !hp_vector_push(&writer->held, (struct held){ .event = name })) {
		free(name);
		return NULL;
	}
	return &writer->held.at[writer->held.count - 1];
}

uint64_t hp_epoch_writer_samples(const struct hp_epoch_writer *writer, const char *event)
{
	for (size_t i = 0; i < writer->held.count; i++)
		if (strcmp(writer->held.at[i].event, event) == 0)
			return writer->held.at[i].samples;
	return 0;
}

struct hp_error *hp_writing_would_lose(void)
{
	return hp_error_create(HP_ERROR_DAMAGED,
			       "a newer hpcprof stored data in it that this one would lose");
}

/* It could not be added to later. */
static struct hp_error *check_evidence(int directory)
{
	struct hp_window_evidence evidence;
	struct hp_error *error = hp_contents_read_evidence(directory, &evidence, NULL, NULL);

	hp_window_evidence_clear(&evidence);
	return error;
}

static struct hp_error *check_paths(int directory)
{
	struct hp_paths paths;
	struct hp_error *error = hp_contents_read_paths(directory, &paths, NULL);

	hp_paths_clear(&paths);
	return error;
}

static struct hp_error *resume(struct hp_epoch_writer *writer, const char *stamp)
{
	struct hp_contents *before = &writer->before;
	struct hp_error *error;
	size_t ignored_files = 0;
	uint64_t ignored_bytes = 0;

	error = hp_epoch_directory_claim(writer->db, stamp, &writer->directory, &writer->lock);
	if (error) {
		writer->directory = writer->lock = -1;
		return error;
	}
	memcpy(writer->name, stamp, strlen(stamp) + 1);
	writer->published = writer->holds_data = writer->has_previous = true;
	error = hp_contents_read(writer->directory, NULL, NULL, before);
	if (!error)
		error = hp_contents_warn(before, stamp);
	if (error)
		return error;
	if (before->has_unknown)
		return hp_error_advise(hp_writing_would_lose(),
				       "append with the newer hpcprof, or record a new epoch");
	error = check_evidence(writer->directory);
	if (!error)
		error = check_paths(writer->directory);
	if (error)
		return error;
	if (before->meta.label && !(writer->label = strdup(before->meta.label)))
		return hp_error_create_no_memory();
	writer->complete = before->meta.complete;
	writer->index_changed = true;
	for (size_t i = 0; i < before->meta.event_count; i++) {
		struct held *held = held_of(writer, before->meta.events[i].info.name);

		if (!held)
			return hp_error_create_no_memory();
		held->samples = before->sums[i].samples;
	}
	error = hp_directory_sweep(writer->directory, false, &ignored_files, &ignored_bytes);
	return error ? error : drop_unknown_events(writer);
}

struct hp_error *hp_epoch_append(struct hp_db *db, const char *stamp,
				 struct hp_epoch_writer **writer)
{
	struct hp_epoch_writer *resumed;
	struct hp_error *error;

	if (!hp_stamp_is_valid(stamp))
		return hp_error_create(HP_ERROR_USAGE, "'%s' is not the stamp of an epoch", stamp);
	resumed = allocate(db);
	error = resumed ? resume(resumed, stamp) : hp_error_create_no_memory();
	if (!error) {
		*writer = resumed;
		return NULL;
	}
	hp_epoch_writer_destroy(resumed);
	return hp_error_wrap(error, "appending to epoch %s", stamp);
}

const char *hp_epoch_writer_stamp(const struct hp_epoch_writer *writer)
{
	return writer->name;
}

const struct hp_epoch_meta *hp_epoch_writer_previous(const struct hp_epoch_writer *writer)
{
	return writer->has_previous ? &writer->before.meta : NULL;
}

/* --- adding ------------------------------------------------------------------------------- */

struct hp_error *hp_epoch_writer_image(struct hp_epoch_writer *writer, const struct hp_image_id *id,
				       size_t *index)
{
	struct hp_index *images = &writer->before.index;
	struct hp_error *error = hp_image_check(id);
	size_t at;

	if (error)
		return error;
	at = hp_index_find(images, id);
	if (at == SIZE_MAX) {
		error = hp_index_add(images, id, &at);
		writer->index_changed = true;
	} else if (id->deleted && !images->entries[at].id.deleted) {
		images->entries[at].id.deleted = true;
		writer->index_changed = true;
	}
	if (!error)
		*index = at;
	return error;
}

size_t hp_epoch_writer_image_count(const struct hp_epoch_writer *writer)
{
	return writer->before.index.count;
}

const struct hp_image_id *hp_epoch_writer_image_id(const struct hp_epoch_writer *writer,
						   size_t index)
{
	return &writer->before.index.entries[index].id;
}

struct hp_error *hp_epoch_writer_read(struct hp_epoch_writer *writer, size_t index,
				      const char *event, struct hp_profile *profile)
{
	const struct hp_image_id *image = hp_epoch_writer_image_id(writer, index);

	return hp_error_wrap(
		hp_contents_read_profile(writer->directory, image, event, profile, NULL),
		"epoch %s", writer->name);
}

struct hp_error *hp_writing_reopen(struct hp_epoch_writer *writer)
{
	if (writer->finished)
		return hp_error_create(HP_ERROR_USAGE, "the epoch is finished");
	if (!writer->complete)
		return NULL;
	writer->before.meta.complete = false;
	return write_meta(writer, &writer->before.meta);
}

static struct hp_error *merge_profile(struct hp_epoch_writer *writer,
				      const struct hp_profile *profile, struct hp_writer *file,
				      uint64_t *grown)
{
	struct hp_profile merged;
	bool has_unknown;
	uint64_t samples[3] = { 0 };
	uint64_t weights[3] = { 0 };
	uint64_t sum;
	struct hp_error *error = hp_contents_read_profile(writer->directory, &profile->image,
							  profile->event, &merged, &has_unknown);

	if (error)
		return error;
	if (has_unknown)
		error = hp_writing_would_lose();
	/* Checked first: counts that wrap would be wrong numbers. */
	else if (!hp_contents_totals(&merged, &samples[0], &weights[0]) ||
		 !hp_contents_totals(profile, &samples[1], &weights[1]) ||
		 __builtin_add_overflow(samples[0], samples[1], &sum) ||
		 __builtin_add_overflow(weights[0], weights[1], &sum))
		error = hp_error_create(HP_ERROR_DAMAGED, "its samples run past 64 bits");
	if (!error)
		error = hp_profile_add(&merged, profile);
	if (!error)
		error = hp_profile_encode(&merged, file);
	*grown = samples[1];
	hp_profile_clear(&merged);
	return error;
}

struct hp_error *hp_epoch_writer_add(struct hp_epoch_writer *writer,
				     const struct hp_profile *profile)
{
	_cleanup_free_ char *name = NULL;
	struct hp_writer file = { 0 };
	struct held *held;
	struct hp_error *error;
	uint64_t grown = 0;
	size_t index;

	error = hp_profile_check(profile);
	if (!error)
		error = hp_epoch_writer_image(writer, &profile->image, &index);
	if (!error)
		error = hp_writing_reopen(writer);
	if (error)
		return error;
	held = held_of(writer, profile->event);
	name = hp_profile_name(&profile->image, profile->event);
	if (!held || !name)
		return hp_error_create_no_memory();
	error = merge_profile(writer, profile, &file, &grown);
	if (!error && grown)
		error = hp_file_replace(writer->directory, name, file.bytes, file.size,
					writer->file_mode);
	hp_writer_free(&file);
	if (error)
		return hp_error_wrap(error, "epoch %s: %s", writer->name, name);
	held->samples += grown;
	writer->holds_data = true;
	return NULL;
}

/* --- flushing ----------------------------------------------------------------------------- */

static struct hp_error *check_claims(struct hp_epoch_writer *writer,
				     const struct hp_epoch_meta *meta)
{
	for (size_t i = 0; i < writer->held.count; i++) {
		const struct held *held = &writer->held.at[i];
		uint64_t claimed = 0;
		bool listed = false;

		for (size_t j = 0; j < meta->event_count; j++) {
			if (strcmp(meta->events[j].info.name, held->event) != 0)
				continue;
			claimed = meta->events[j].samples;
			listed = true;
		}
		if (claimed > held->samples || (!listed && held->samples) ||
		    (meta->complete && claimed != held->samples))
			return hp_error_create(HP_ERROR_USAGE,
					       "event %s: %" PRIu64 " samples claimed, %" PRIu64
					       " in the profiles",
					       held->event, claimed, held->samples);
	}
	return NULL;
}

static struct hp_error *write_index(struct hp_epoch_writer *writer)
{
	struct hp_writer file = { 0 };
	struct hp_error *error = hp_index_encode(&writer->before.index, &file);

	if (!error)
		error = hp_file_replace(writer->directory, HP_INDEX_NAME, file.bytes, file.size,
					writer->file_mode);
	hp_writer_free(&file);
	if (!error)
		writer->index_changed = false;
	return error;
}

/* Of a finished epoch it knows what meta will say. */
static struct hp_error *update_index(struct hp_epoch_writer *writer,
				     const struct hp_epoch_meta *meta)
{
	struct hp_index *index = &writer->before.index;
	struct hp_error *error = NULL;

	if (!writer->index_changed && index->count && !meta->complete)
		return NULL;
	index->meta = (struct hp_meta_parts){ 0 };
	if (meta->complete)
		error = hp_meta_digest(meta, &index->meta);
	if (!error)
		error = hp_writing_reopen(writer);
	return error ? error : write_index(writer);
}

struct hp_error *hp_epoch_writer_commit(struct hp_epoch_writer *writer,
					const struct hp_epoch_meta *meta)
{
	struct hp_error *error = NULL;

	/* An event that was never added to is held with nothing. */
	for (size_t i = 0; i < meta->event_count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(meta->events[i].info.name, meta->events[j].info.name) == 0)
				return hp_error_create(HP_ERROR_USAGE, "event %s is named twice",
						       meta->events[i].info.name);
		}
		if (!held_of(writer, meta->events[i].info.name))
			return hp_error_create_no_memory();
	}
	error = check_claims(writer, meta);
	if (!error)
		error = update_index(writer, meta);
	/* What meta promises must be on the disk before it. */
	if (!error)
		error = hp_file_sync_directory(writer->directory);
	if (!error)
		error = write_meta(writer, meta);
	if (error)
		return hp_error_wrap(error, "epoch %s", writer->name);
	writer->holds_data = true;
	writer->finished = meta->complete;
	return NULL;
}

struct hp_error *hp_epoch_writer_size(struct hp_epoch_writer *writer, uint64_t *bytes)
{
	return hp_error_wrap(hp_directory_size(writer->directory, bytes), "epoch %s", writer->name);
}

void hp_epoch_writer_destroy(struct hp_epoch_writer *writer)
{
	if (!writer)
		return;
	if (writer->directory >= 0 && (!writer->holds_data || !writer->published)) {
		struct hp_error *ignored =
			hp_epoch_directory_remove(writer->db, writer->name, writer->directory);

		hp_error_destroy(ignored);
	}
	for (size_t i = 0; i < writer->held.count; i++)
		free(writer->held.at[i].event);
	hp_vector_free(&writer->held);
	hp_contents_clear(&writer->before);
	if (writer->lock >= 0)
		close(writer->lock);
	if (writer->directory >= 0)
		close(writer->directory);
	if (writer->db >= 0)
		close(writer->db);
	free(writer->label);
	free(writer);
}
