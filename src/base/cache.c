/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/cache.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static const char directory_name[] = "hpcprof";

/* Returns the parent of our cache directory (malloc'ed), or NULL if the environment names none.
 * Relative paths are invalid there, according to the XDG base directory specification. */
static char *base_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *path = NULL;

	if (cache && cache[0] == '/')
		return asprintf(&path, "%s", cache) < 0 ? NULL : path;
	if (!home || home[0] != '/')
		return NULL;
	return asprintf(&path, "%s/.cache", home) < 0 ? NULL : path;
}

static struct hp_error *check_owner(int fd, const char *name)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return hp_error_create_errno(errno, "reading the permissions of %s", name);
	if (status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))
		return hp_error_create(HP_ERROR_NOT_PERMITTED,
				       "%s of the cache may have been written by another user",
				       name);
	return NULL;
}

static struct hp_error *open_directory(bool create, int *directory)
{
	_cleanup_free_ char *path = base_path();
	_cleanup_close_ int base = -1;
	_cleanup_close_ int own = -1;
	struct hp_error *error;

	if (!path)
		return hp_error_create(HP_ERROR_NOT_FOUND,
				       "neither XDG_CACHE_HOME nor HOME is set, so there is no "
				       "place for the cache");
	if (create)
		mkdir(path, 0700);
	base = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return hp_error_create_errno(errno, "opening %s", path);
	if (create)
		mkdirat(base, directory_name, 0700);
	own = openat(base, directory_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (own < 0)
		return hp_error_create_errno(errno, "opening %s/%s", path, directory_name);
	error = check_owner(own, path);
	if (!error)
		*directory = hp_steal_fd(&own);
	return error;
}

struct hp_error *hp_cache_read(const char *name, size_t limit_bytes, uint8_t **bytes, size_t *size)
{
	_cleanup_close_ int directory = -1;
	_cleanup_close_ int fd = -1;
	struct hp_error *error = open_directory(false, &directory);
	struct stat status;

	if (error)
		return error;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return hp_error_create_errno(errno, "opening %s of the cache", name);
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		return hp_error_create(HP_ERROR_DAMAGED, "%s of the cache is not a file", name);
	error = check_owner(fd, name);
	return error ? error : hp_file_read_fd(fd, limit_bytes, bytes, size);
}

struct hp_error *hp_cache_write(const char *name, const void *bytes, size_t size)
{
	_cleanup_close_ int directory = -1;
	struct hp_error *error = open_directory(true, &directory);

	return error ? error : hp_file_replace(directory, name, bytes, size, 0600);
}
