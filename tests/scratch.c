/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scratch.h"

#include "support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char *directory;

static void forget(void *nothing)
{
	(void)nothing;
	directory = NULL;
}

const char *scratch_directory(void)
{
	_cleanup_free_ char *here = directory ? NULL : getcwd(NULL, 0);

	if (directory)
		return directory;
	ck_assert_ptr_nonnull(here);
	directory = directory_in(here);
	at_end(forget, NULL);
	return directory;
}

char *scratch_path(const char *name)
{
	char *path;

	ck_assert_int_gt(asprintf(&path, "%s/%s", scratch_directory(), name), 0);
	return path;
}

void scratch_write(const char *path, const void *bytes, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
}

char *scratch_read(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes;
	size_t size;

	ck_assert_int_ge(fd, 0);
	hp_assert_ok(hp_file_read_fd(fd, 1 << 20, &bytes, &size));
	return (char *)bytes;
}
