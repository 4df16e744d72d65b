/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes old epochs according to rules, and what recorders left behind that died.
 *
 * An epoch that cannot be read is kept, because it may have a label, or be of a newer version of
 * hpcprof. An epoch that is being recorded is never removed.
 */
#include "database.h"
#include "names.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A process renames a temporary file in the database much sooner than this after creating it. */
enum { MARKER_LEFTOVER_SECONDS = 3600 };

/* --- old epochs --------------------------------------------------------------------------- */

static uint64_t age_ns(const struct hp_epoch_summary *epoch, uint64_t now_ns)
{
	uint64_t end_ns = epoch->meta.end_ns ? epoch->meta.end_ns : hp_stamp_time_ns(epoch->stamp);

	return end_ns < now_ns ? now_ns - end_ns : 0;
}

static bool is_superfluous(const struct hp_epoch_summary *epoch,
			   const struct hp_gc_options *options, uint64_t now_ns,
			   uint64_t total_bytes)
{
	if (epoch->problem || epoch->recording || epoch->meta.label)
		return false;
	/* If only a number to keep is given, all others are removed. */
	if (!options->older_than_ns && !options->max_bytes)
		return options->keep > 0;
	return (options->older_than_ns && age_ns(epoch, now_ns) > options->older_than_ns) ||
	       (options->max_bytes && total_bytes > options->max_bytes);
}

static struct hp_error *remove_epoch(struct hp_db *db, const struct hp_epoch_summary *epoch,
				     bool dry_run, struct hp_gc_result *result)
{
	char **grown = reallocarray(result->removed, result->removed_count + 1, sizeof(*grown));
	char *stamp = strdup(epoch->stamp);
	struct hp_error *error;

	if (grown)
		result->removed = grown;
	if (!grown || !stamp) {
		free(stamp);
		return hp_error_create_no_memory();
	}
	error = dry_run ? NULL : hp_db_remove(db, epoch->stamp);
	if (!error) {
		grown[result->removed_count++] = stamp;
		result->freed_bytes += epoch->bytes;
		return NULL;
	}
	free(stamp);
	/* Another process has claimed or removed it since it was listed, so it is left alone. */
	if (error->class != HP_ERROR_USAGE && error->class != HP_ERROR_NOT_FOUND)
		return error;
	hp_error_destroy(error);
	return NULL;
}

static struct hp_error *remove_old(struct hp_db *db, const struct hp_gc_options *options,
				   struct hp_gc_result *result)
{
	struct hp_epoch_summary *epochs;
	uint64_t now_ns = hp_clock_realtime_ns();
	uint64_t total_bytes = 0;
	size_t count;
	struct hp_error *error = hp_db_list(db, &epochs, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		total_bytes += epochs[i].bytes;
	for (size_t i = 0; i + options->keep < count && !error; i++) {
		size_t removed = result->removed_count;

		if (!is_superfluous(&epochs[i], options, now_ns, total_bytes))
			continue;
		error = remove_epoch(db, &epochs[i], options->dry_run, result);
		if (result->removed_count > removed)
			total_bytes -= epochs[i].bytes;
	}
	hp_db_free_list(epochs, count);
	return error;
}

/* --- leftovers ---------------------------------------------------------------------------- */

static bool is_unclaimed(struct hp_error *error)
{
	bool unclaimed = !error;

	hp_error_destroy(error);
	return unclaimed;
}

static struct hp_error *sweep_epoch(struct hp_db *db, const char *stamp, bool dry_run,
				    struct hp_gc_result *result)
{
	struct hp_error *error;
	int directory;
	int lock;

	if (!is_unclaimed(hp_epoch_directory_claim(db->fd, stamp, &directory, &lock)))
		return NULL;
	error = hp_directory_sweep(directory, dry_run, &result->leftovers, &result->freed_bytes);
	close(lock);
	close(directory);
	return hp_error_wrap(error, "epoch %s", stamp);
}

/* A directory that has no stamp yet, or has lost it. */
static struct hp_error *sweep_hidden(struct hp_db *db, const char *name, bool dry_run,
				     struct hp_gc_result *result)
{
	struct hp_error *error;
	uint64_t bytes = 0;
	int directory;
	int lock;

	if (!is_unclaimed(hp_epoch_directory_claim(db->fd, name, &directory, &lock)))
		return NULL;
	error = hp_directory_size(directory, &bytes);
	if (!error && !dry_run)
		error = hp_epoch_directory_remove(db->fd, name, directory);
	if (!error) {
		result->leftovers++;
		result->freed_bytes += bytes;
	}
	close(lock);
	close(directory);
	return error;
}

static struct hp_error *sweep_name(struct hp_db *db, const char *name, bool dry_run,
				   struct hp_gc_result *result)
{
	struct stat status;

	if (hp_stamp_is_valid(name))
		return sweep_epoch(db, name, dry_run, result);
	if (!hp_file_is_temporary(name) || fstatat(db->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	if (S_ISDIR(status.st_mode))
		return sweep_hidden(db, name, dry_run, result);
	if (hp_clock_realtime_ns() / 1000000000 <
	    (uint64_t)status.st_mtime + MARKER_LEFTOVER_SECONDS)
		return NULL;
	if (!dry_run && unlinkat(db->fd, name, 0) < 0)
		return hp_error_create_errno(errno, "removing %s", name);
	result->leftovers++;
	result->freed_bytes += S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
	return NULL;
}

static struct hp_error *sweep(struct hp_db *db, bool dry_run, struct hp_gc_result *result)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(db->fd, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++)
		error = sweep_name(db, names[i], dry_run, result);
	hp_directory_free_list(names, count);
	return error;
}

struct hp_error *hp_db_gc(struct hp_db *db, const struct hp_gc_options *options,
			  struct hp_gc_result *result)
{
	struct hp_error *error;

	*result = (struct hp_gc_result){ 0 };
	error = sweep(db, options->dry_run, result);
	if (!error)
		error = remove_old(db, options, result);
	if (error)
		hp_gc_result_clear(result);
	return hp_error_wrap(error, "cleaning up %s", db->path);
}

void hp_gc_result_clear(struct hp_gc_result *result)
{
	hp_db_free_stamps(result->removed, result->removed_count);
	*result = (struct hp_gc_result){ 0 };
}
