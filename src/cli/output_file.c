/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output_file.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether the file can be written: the name must be free, or belong to a regular file, or
 * to a link to a regular file or to nothing. */
static bool can_stand_there(const struct output_file *file)
{
	struct stat status;

	if (!*file->name || strcmp(file->name, ".") == 0 || strcmp(file->name, "..") == 0)
		return false;
	return fstatat(file->directory, file->name, &status, 0) < 0 || S_ISREG(status.st_mode);
}

static struct hp_error *look(const struct output_file *file)
{
	if (!can_stand_there(file))
		return hp_error_create(HP_ERROR_USAGE, "it is not a file");
	/* Checks the effective user, as open() does. */
	if (faccessat(file->directory, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return hp_error_create_errno(errno, "its directory");
	return NULL;
}

static struct hp_error *explain(const struct output_file *file, struct hp_error *error)
{
	if (error && (error->errno_value == ENOSPC || error->errno_value == EDQUOT))
		return hp_error_advise(
			hp_error_wrap(error, "%s=%s", file->option, file->path),
			"free some space there, or give %s a file on another disk; there is "
			"no part of it left",
			file->option);
	return hp_error_advise(hp_error_wrap(error, "%s=%s", file->option, file->path),
			       "%s takes the name of a file in a directory that you can write to",
			       file->option);
}

struct hp_error *output_file_open(const char *option, const char *path, struct output_file *file)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *directory = slash ? strndup(path, (size_t)(slash - path) + 1)
					       : strdup(".");

	*file = (struct output_file){ .option = option,
				      .path = path,
				      .name = slash ? slash + 1 : path };
	file->directory = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return explain(file, file->directory < 0 ? hp_error_create_errno(errno, "its directory")
						 : look(file));
}

struct hp_error *output_file_write(const struct output_file *file, const void *bytes, size_t size)
{
	return explain(file, hp_file_replace(file->directory, file->name, bytes, size, 0644));
}

struct hp_error *output_file_begin(struct output_file *file, int *fd)
{
	if (asprintf(&file->temporary, ".%s.tmp.%d", file->name, (int)getpid()) < 0) {
		file->temporary = NULL;
		return hp_error_create_no_memory();
	}
	file->fd = openat(file->directory, file->temporary,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (file->fd < 0) {
		int reason = errno;

		free(file->temporary);
		file->temporary = NULL;
		return explain(file, hp_error_create_errno(reason, "a file beside it"));
	}
	*fd = file->fd;
	return NULL;
}

struct hp_error *output_file_commit(struct output_file *file)
{
	if (renameat(file->directory, file->temporary, file->directory, file->name) < 0)
		return explain(file, hp_error_create_errno(errno, "renaming it"));
	free(file->temporary);
	file->temporary = NULL;
	return NULL;
}

void output_file_close(struct output_file *file)
{
	if (file->temporary) {
		unlinkat(file->directory, file->temporary, 0);
		free(file->temporary);
	}
	if (file->fd > 0)
		close(file->fd);
	if (file->path && file->directory >= 0)
		close(file->directory);
	*file = (struct output_file){ 0 };
}
