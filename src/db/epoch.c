/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "contents.h"
#include "database.h"
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct hp_epoch {
	char stamp[HP_STAMP_BYTES];
	char *path;
	int directory;
	bool recording;
	struct hp_contents contents;
	char **bytes_paths; /* one per image; NULL until asked for */
};

static struct hp_error *read_epoch(struct hp_db *db, struct hp_epoch *epoch)
{
	struct hp_error *error = hp_directory_open(db->fd, epoch->stamp, &epoch->directory);

	if (!error)
		error = hp_epoch_directory_is_claimed(epoch->directory, &epoch->recording);
	if (!error)
		error = hp_contents_read(epoch->directory, NULL, NULL, &epoch->contents);
	if (!error)
		error = hp_contents_warn(&epoch->contents, epoch->stamp);
	if (error)
		return error;
	epoch->bytes_paths = calloc(epoch->contents.index.count + 1, sizeof(char *));
	if (!epoch->bytes_paths || asprintf(&epoch->path, "%s/%s", db->path, epoch->stamp) < 0) {
		epoch->path = NULL;
		return hp_error_create_no_memory();
	}
	return NULL;
}

struct hp_error *hp_epoch_open(struct hp_db *db, const char *stamp, struct hp_epoch **epoch)
{
	struct hp_epoch *opened;
	struct hp_error *error;

	if (!hp_stamp_is_valid(stamp))
		return hp_error_create(HP_ERROR_USAGE, "'%s' is not the stamp of an epoch", stamp);
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return hp_error_create_no_memory();
	opened->directory = -1;
	snprintf(opened->stamp, sizeof(opened->stamp), "%s", stamp);
	error = read_epoch(db, opened);
	if (!error) {
		*epoch = opened;
		return NULL;
	}
	hp_epoch_close(opened);
	return hp_error_wrap(error, "epoch %s", stamp);
}

void hp_epoch_close(struct hp_epoch *epoch)
{
	if (!epoch)
		return;
	for (size_t i = 0; epoch->bytes_paths && i < epoch->contents.index.count; i++)
		free(epoch->bytes_paths[i]);
	free(epoch->bytes_paths);
	hp_contents_clear(&epoch->contents);
	if (epoch->directory >= 0)
		close(epoch->directory);
	free(epoch->path);
	free(epoch);
}

const char *hp_epoch_stamp(const struct hp_epoch *epoch)
{
	return epoch->stamp;
}

uid_t hp_epoch_owner(const struct hp_epoch *epoch)
{
	struct stat status;

	return fstat(epoch->directory, &status) == 0 ? status.st_uid : (uid_t)-1;
}

const struct hp_epoch_meta *hp_epoch_meta(const struct hp_epoch *epoch)
{
	return &epoch->contents.meta;
}

const char *hp_epoch_contradiction(const struct hp_epoch *epoch)
{
	const struct hp_contradictions *contradictions = &epoch->contents.contradictions;

	return contradictions->found.count ? contradictions->found.at[0]->message : NULL;
}

bool hp_epoch_is_recording(const struct hp_epoch *epoch)
{
	return epoch->recording;
}

size_t hp_epoch_image_count(const struct hp_epoch *epoch)
{
	return epoch->contents.index.count;
}

const struct hp_image_id *hp_epoch_image(const struct hp_epoch *epoch, size_t index)
{
	return &epoch->contents.index.entries[index].id;
}

struct hp_error *hp_epoch_read_profile(struct hp_epoch *epoch, size_t index, size_t event,
				       struct hp_profile *profile)
{
	return hp_error_wrap(hp_contents_read_profile(
				     epoch->directory, hp_epoch_image(epoch, index),
				     epoch->contents.meta.events[event].info.name, profile, NULL),
			     "epoch %s", epoch->stamp);
}

struct hp_error *hp_epoch_read_symbols(struct hp_epoch *epoch, size_t index,
				       struct hp_symbol **symbols, size_t *count, bool *are_whole)
{
	struct hp_symbol_file file;
	struct hp_error *error =
		hp_contents_read_symbols(epoch->directory, hp_epoch_image(epoch, index), &file);

	*symbols = hp_steal(file.symbols);
	*count = file.count;
	file.count = 0;
	if (are_whole)
		*are_whole = !file.lost;
	hp_symbol_file_clear(&file);
	return hp_error_wrap(error, "epoch %s", epoch->stamp);
}

struct hp_error *hp_epoch_read_excerpt(struct hp_epoch *epoch, size_t index,
				       struct hp_excerpt *excerpt, struct hp_error **lost)
{
	struct hp_excerpt_file file;
	struct hp_error *error =
		hp_contents_read_excerpt(epoch->directory, hp_epoch_image(epoch, index), &file);

	*excerpt = file.excerpt;
	file.excerpt = (struct hp_excerpt){ 0 };
	*lost = hp_error_wrap(hp_steal(file.lost), "epoch %s", epoch->stamp);
	hp_excerpt_file_clear(&file);
	return hp_error_wrap(error, "epoch %s", epoch->stamp);
}

struct hp_error *hp_epoch_read_evidence(struct hp_epoch *epoch, struct hp_window_evidence *evidence,
					struct hp_error **lost)
{
	struct hp_error *error = hp_contents_read_evidence(epoch->directory, evidence, NULL, lost);

	*lost = hp_error_wrap(*lost, "epoch %s", epoch->stamp);
	return hp_error_wrap(error, "epoch %s", epoch->stamp);
}

struct hp_error *hp_epoch_read_paths(struct hp_epoch *epoch, struct hp_paths *paths)
{
	return hp_error_wrap(hp_contents_read_paths(epoch->directory, paths, NULL), "epoch %s",
			     epoch->stamp);
}

const char *hp_epoch_bytes_path(struct hp_epoch *epoch, size_t index)
{
	const struct hp_index_entry *entry = &epoch->contents.index.entries[index];
	_cleanup_free_ char *name = NULL;
	struct hp_error *problem;
	char *path;

	if (!entry->has_bytes || epoch->bytes_paths[index])
		return epoch->bytes_paths[index];
	problem = hp_contents_check_bytes(epoch->directory, entry);
	hp_error_destroy(problem);
	name = problem ? NULL : hp_bytes_name(&entry->id);
	if (!name || asprintf(&path, "%s/%s", epoch->path, name) < 0)
		return NULL;
	epoch->bytes_paths[index] = path;
	return path;
}
