/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "our_file.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/foreign_file.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* The size limit of a copy: more than the largest programs with their debugging information. */
enum { LARGEST_COPY_BYTES = 1 << 30 };

bool our_file_stays(const struct stat *status)
{
	return (status->st_uid == 0 || status->st_uid == geteuid()) &&
	       !(status->st_mode & (S_IWGRP | S_IWOTH));
}

static struct hp_error *make_ours(int *fd, const struct stat *status, const char *path)
{
	_cleanup_close_ int copy = -1;
	off_t done = 0;
	ssize_t got = 1;

	if (our_file_stays(status))
		return NULL;
	if (status->st_size > LARGEST_COPY_BYTES)
		return hp_error_create(
			HP_ERROR_INSUFFICIENT,
			"%s: a file of another user with more than %d MiB is not read", path,
			LARGEST_COPY_BYTES >> 20);
	copy = memfd_create("image", MFD_CLOEXEC);
	if (copy < 0)
		return hp_error_create_errno(errno, "%s", path);
	while (got > 0 && done < status->st_size)
		got = sendfile(copy, *fd, &done, (size_t)(status->st_size - done));
	if (got < 0)
		return hp_error_create_errno(errno, "%s", path);
	close(*fd);
	*fd = hp_steal_fd(&copy);
	return NULL;
}

struct hp_error *our_file_open(const char *path, int *fd)
{
	struct stat status;

	/* A FIFO or a device at that path must not block hpcprof. */
	*fd = hp_foreign_open(path, 0, &status);
	if (*fd < 0 && errno == EACCES && stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return hp_error_create(HP_ERROR_DAMAGED, "%s is not a regular file", path);
	if (*fd < 0)
		return hp_error_create_errno(errno, "%s", path);
	return make_ours(fd, &status, path);
}
