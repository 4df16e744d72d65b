/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "database.h"

#include "names.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_PATH  "hpcprof.db"
#define MARKER_NAME   "hpcprof-db"
#define MARKER_PREFIX "hpcprof-db "
/* For databases recorded by another user, such as root. */
#define PRIVATE_ADVICE                                                                             \
	"only the owner can read a database that is not shared: see Permissions in "               \
	"hpcprof-db(5); or name another: --db DIR, or HPCPROF_DB"

enum { DB_VERSION = 1, MARKER_MAX_BYTES = 4096 };

static const char marker[] = MARKER_PREFIX
	"1\n"
	"This directory is a profile database: see hpcprof-db(5) and "
	"`hpcprof epochs --help`.\n";

/* --- opening ------------------------------------------------------------------------------ */

static struct hp_error *open_directory(const char *path, bool create, int *fd)
{
	struct stat status;
	int failure;

	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return hp_error_advise(
			hp_error_create_errno(errno, "creating the profile database %s", path),
			"name a directory that you can create or write to: --db DIR, or "
			"HPCPROF_DB");
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd >= 0)
		return NULL;
	failure = errno;
	if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
		return hp_error_advise(
			hp_error_create(HP_ERROR_DAMAGED,
					"the profile database %s is a symbolic link, and hpcprof "
					"does not follow it",
					path),
			"name the directory that it points to: --db \"$(readlink -f '%s')\"", path);
	if (failure == ENOTDIR)
		return hp_error_advise(
			hp_error_create(HP_ERROR_DAMAGED,
					"%s is not a directory, but a profile database is one",
					path),
			"name another: --db DIR, or HPCPROF_DB");
	if (failure == ENOENT)
		return hp_error_advise(hp_error_create(HP_ERROR_NOT_FOUND,
						       "there is no profile database %s", path),
				       "record something first: hpcprof record -- COMMAND\nor name "
				       "another database: --db DIR, or HPCPROF_DB");
	return hp_error_advise(
		hp_error_create_errno(failure, "opening the profile database %s", path),
		failure == EACCES ? PRIVATE_ADVICE : "name another: --db DIR, or HPCPROF_DB");
}

static struct hp_error *check_marker(const char *text, size_t size)
{
	uint64_t version = 0;
	char *end;

	if (size == sizeof(marker) - 1 && memcmp(text, marker, size) == 0)
		return NULL;
	if (strncmp(text, MARKER_PREFIX, strlen(MARKER_PREFIX)) == 0)
		version = strtoul(text + strlen(MARKER_PREFIX), &end, 10);
	if (version > DB_VERSION)
		return hp_error_advise(
			hp_error_create(HP_ERROR_DAMAGED,
					MARKER_NAME ": offset 0x%zx: database format %llu is newer "
						    "than this hpcprof reads (%d)",
					strlen(MARKER_PREFIX), (unsigned long long)version,
					DB_VERSION),
			"use a newer hpcprof");
	for (size_t i = 0; i < size && i < sizeof(marker) - 1; i++) {
		if (text[i] != marker[i])
			return hp_error_create(HP_ERROR_DAMAGED,
					       MARKER_NAME ": offset 0x%zx: not the marker of a "
							   "profile database",
					       i);
	}
	return hp_error_create(
		HP_ERROR_DAMAGED, MARKER_NAME ": offset 0x%zx: %zu bytes, and should have %zu",
		size < sizeof(marker) - 1 ? size : sizeof(marker) - 1, size, sizeof(marker) - 1);
}

/* Temporary files of a process that is marking the directory do not count. */
static struct hp_error *holds_anything(int fd, bool *marked, bool *anything)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(fd, &names, &count);

	if (error)
		return error;
	*marked = *anything = false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], MARKER_NAME) == 0)
			*marked = true;
		else if (!hp_file_is_temporary(names[i]))
			*anything = true;
	}
	hp_directory_free_list(names, count);
	return NULL;
}

static struct hp_error *read_marker(int fd, bool *found)
{
	uint8_t *text = NULL;
	size_t size = 0;
	struct hp_error *error =
		hp_directory_read_file(fd, MARKER_NAME, MARKER_MAX_BYTES, &text, &size);

	*found = true;
	if (error && error->errno_value == ENOENT) {
		*found = false;
		hp_error_destroy(error);
		return NULL;
	}
	if (error && error->class == HP_ERROR_NOT_PERMITTED)
		error = hp_error_advise(error, PRIVATE_ADVICE);
	if (!error)
		error = check_marker((const char *)text, size);
	free(text);
	return error;
}

/*
 * A database is readable only by its owner, since addresses and command lines reveal what the owner
 * does. If others may write to the directory, it is shared: then they may read the marker, to find
 * out that it is a database.
 */
static struct hp_error *mark(int fd)
{
	struct stat status;
	mode_t mode = 0600;
	struct hp_error *error;

	if (fstat(fd, &status) < 0)
		return hp_error_create_errno(errno, "reading its permissions");
	mode |= (status.st_mode & 022) << 1;
	error = hp_file_replace(fd, MARKER_NAME, marker, sizeof(marker) - 1, mode);
	/* Independent of the umask of the process that creates it. */
	if (!error && mode != 0600 && fchmodat(fd, MARKER_NAME, mode, 0) < 0)
		error = hp_error_create_errno(errno, "sharing " MARKER_NAME);
	return error ? error : hp_file_sync_directory(fd);
}

/* The whole database is readable by those who may read the marker. */
static struct hp_error *learn_mode(struct hp_db *db)
{
	struct stat status;

	if (fstatat(db->fd, MARKER_NAME, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return hp_error_create_errno(errno, "reading its permissions");
	db->file_mode = 0600 | (status.st_mode & 044);
	return NULL;
}

static struct hp_error *claim_directory(int fd, bool create)
{
	bool marked = false;
	bool anything = false;
	struct hp_error *error = read_marker(fd, &marked);

	if (error || marked)
		return error;
	error = holds_anything(fd, &marked, &anything);
	if (error)
		return error;
	/* Another recorder may have marked it in the meantime. */
	if (marked)
		return read_marker(fd, &marked);
	if (anything)
		return hp_error_advise(
			hp_error_create(
				HP_ERROR_DAMAGED,
				"not a profile database: it contains files, but no " MARKER_NAME
				" among them"),
			"name an empty or a new directory: --db DIR");
	if (!create)
		return hp_error_advise(
			hp_error_create(HP_ERROR_NOT_FOUND,
					"an empty directory, not a profile database yet"),
			"record something first: hpcprof record -- COMMAND");
	return mark(fd);
}

struct hp_error *hp_db_open(const char *path, bool create, struct hp_db **db)
{
	const char *from_environment = getenv("HPCPROF_DB");
	struct hp_error *error;
	struct hp_db *opened;

	if (!path)
		path = from_environment && *from_environment ? from_environment : DEFAULT_PATH;
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return hp_error_create_no_memory();
	opened->fd = -1;
	opened->path = strdup(path);
	error = opened->path ? open_directory(path, create, &opened->fd)
			     : hp_error_create_no_memory();
	if (!error)
		error = hp_error_wrap(claim_directory(opened->fd, create), "%s", path);
	if (!error)
		error = hp_error_wrap(learn_mode(opened), "%s", path);
	if (error)
		hp_db_close(opened);
	else
		*db = opened;
	return error;
}

void hp_db_close(struct hp_db *db)
{
	if (!db)
		return;
	if (db->fd >= 0)
		close(db->fd);
	free(db->path);
	free(db->warned_of);
	free(db);
}

void hp_db_on_warning(struct hp_db *db,
		      void (*warn)(const char *message, const char *advice, void *context),
		      void *context)
{
	db->warn = warn;
	db->warn_context = context;
}

const char *hp_db_path(const struct hp_db *db)
{
	return db->path;
}

/* --- the epochs in it --------------------------------------------------------------------- */

static int compare_stamps(const void *left, const void *right)
{
	return hp_stamp_compare(*(char *const *)left, *(char *const *)right);
}

struct hp_error *hp_db_stamps(const struct hp_db *db, char ***stamps, size_t *count)
{
	char **names;
	size_t total;
	struct hp_error *error = hp_directory_list(db->fd, &names, &total);

	*count = 0;
	*stamps = NULL;
	if (error)
		return error;
	for (size_t i = 0; i < total; i++) {
		if (hp_stamp_is_valid(names[i]))
			names[(*count)++] = names[i];
		else
			free(names[i]);
	}
	if (*count)
		qsort(names, *count, sizeof(*names), compare_stamps);
	*stamps = names;
	return NULL;
}

void hp_db_free_stamps(char **stamps, size_t count)
{
	hp_directory_free_list(stamps, count);
}
