/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maintains a database: lists epochs, sets labels, removes epochs. */
#include "contents.h"
#include "database.h"
#include "names.h"

#include <hpcprof/base/file.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* --- list --------------------------------------------------------------------------------- */

/* An epoch is listed even if its evidence is damaged. */
static void summarise_evidence(int directory, struct hp_epoch_summary *summary)
{
	struct hp_window_evidence evidence;
	struct hp_error *lost;
	struct hp_error *damage = hp_contents_read_evidence(directory, &evidence, NULL, &lost);
	struct hp_window_group relative = hp_window_evidence_relative(&evidence);

	summary->is_evidence_damaged = damage || lost;
	hp_error_destroy(damage);
	hp_error_destroy(lost);
	summary->evidence = hp_window_evidence_contents(&evidence);
	summary->windows = hp_window_evidence_counted(&evidence);
	summary->windows.windows += relative.windows;
	summary->windows.time_ns += relative.time_ns;
	hp_window_evidence_clear(&evidence);
}

static bool has_paths(int directory)
{
	struct stat status;

	return fstatat(directory, HP_PATHS_NAME, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct hp_error *summarise(const struct hp_db *db, struct hp_epoch_summary *summary)
{
	struct hp_contents contents = { 0 };
	struct hp_error *problem;
	int directory = -1;

	problem = hp_directory_open(db->fd, summary->stamp, &directory);
	if (!problem)
		problem = hp_directory_size(directory, &summary->bytes);
	if (!problem)
		problem = hp_epoch_directory_is_claimed(directory, &summary->recording);
	if (!problem)
		problem = hp_contents_read_heads(directory, &contents);
	if (!problem)
		summarise_evidence(directory, summary);
	summary->has_paths = !problem && has_paths(directory);
	if (directory >= 0)
		close(directory);
	if (problem) {
		summary->problem = strdup(problem->message);
		hp_error_destroy(problem);
		return summary->problem ? NULL : hp_error_create_no_memory();
	}
	summary->meta = contents.meta;
	contents.meta = (struct hp_epoch_meta){ 0 };
	summary->images = contents.index.count;
	hp_contents_clear(&contents);
	return NULL;
}

struct hp_error *hp_db_list(struct hp_db *db, struct hp_epoch_summary **epochs, size_t *count)
{
	struct hp_epoch_summary *list;
	char **stamps;
	size_t total;
	struct hp_error *error = hp_db_stamps(db, &stamps, &total);

	if (error)
		return error;
	list = calloc(total + 1, sizeof(*list));
	if (!list) {
		hp_db_free_stamps(stamps, total);
		return hp_error_create_no_memory();
	}
	for (size_t i = 0; i < total; i++)
		list[i].stamp = stamps[i];
	free(stamps);
	for (size_t i = 0; i < total && !error; i++)
		error = summarise(db, &list[i]);
	if (error) {
		hp_db_free_list(list, total);
		return error;
	}
	*epochs = list;
	*count = total;
	return NULL;
}

void hp_db_free_list(struct hp_epoch_summary *epochs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(epochs[i].stamp);
		free(epochs[i].problem);
		hp_epoch_meta_clear(&epochs[i].meta);
	}
	free(epochs);
}

/* --- label and removal -------------------------------------------------------------------- */

static struct hp_error *relabel(int directory, const char *label, mode_t mode)
{
	struct hp_writer file = { 0 };
	uint8_t *bytes;
	size_t size;
	struct hp_error *error =
		hp_contents_read_file(directory, HP_META_NAME, &bytes, &size, NULL);

	if (error)
		return error;
	error = hp_error_wrap(hp_meta_relabel(bytes, size, label, &file), HP_META_NAME);
	if (!error)
		error = hp_file_replace(directory, HP_META_NAME, file.bytes, file.size, mode);
	if (!error)
		error = hp_file_sync_directory(directory);
	hp_writer_free(&file);
	return error;
}

static struct hp_error *claim(struct hp_db *db, const char *stamp, int *directory, int *lock)
{
	if (!hp_stamp_is_valid(stamp))
		return hp_error_create(HP_ERROR_USAGE, "'%s' is not the stamp of an epoch", stamp);
	return hp_epoch_directory_claim(db->fd, stamp, directory, lock);
}

struct hp_error *hp_db_label(struct hp_db *db, const char *stamp, const char *label)
{
	struct hp_error *error = label ? hp_label_check(label) : NULL;
	int directory;
	int lock;

	if (!error)
		error = claim(db, stamp, &directory, &lock);
	if (error)
		return error;
	error = relabel(directory, label, db->file_mode);
	close(lock);
	close(directory);
	return hp_error_wrap(error, "epoch %s", stamp);
}

struct hp_error *hp_db_remove(struct hp_db *db, const char *stamp)
{
	int directory;
	int lock;
	struct hp_error *error = claim(db, stamp, &directory, &lock);

	if (error)
		return error;
	error = hp_epoch_directory_remove(db->fd, stamp, directory);
	close(lock);
	close(directory);
	return error;
}
