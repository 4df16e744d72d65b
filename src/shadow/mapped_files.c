/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapped_files.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many descriptors of ours at most. */
enum { FILE_LIMIT = 512 };

/* The file at that path now, as the process sees paths, if it is still the same. Looked at before
 * it is opened: to open a pipe or a device is not without consequence. */
static int open_same(pid_t pid, const struct area *area)
{
	_cleanup_close_ int handle = -1;
	struct stat status;
	char path[PATH_MAX + 64];

	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, area->path) >=
	    (int)sizeof(path))
		return -1;
	handle = open(path, O_PATH | O_CLOEXEC);
	/* The device need not be the one in the memory map: not so on btrfs and overlays. */
	if (handle < 0 || fstat(handle, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_ino != area->inode)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int mapped_files_find(struct mapped_files *files, pid_t pid, const struct area *area)
{
	struct mapped_file file = { .device = area->device, .inode = area->inode };

	for (size_t i = 0; i < files->count; i++) {
		if (files->at[i].inode == area->inode && files->at[i].device == area->device)
			return files->at[i].fd;
	}
	if (files->count >= FILE_LIMIT)
		return -1;
	file.fd = open_same(pid, area);
	if (!hp_vector_push(files, file)) {
		if (file.fd >= 0)
			close(file.fd);
		return -1;
	}
	return file.fd;
}

void mapped_files_clear(struct mapped_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->at[i].fd >= 0)
			close(files->at[i].fd);
	}
	hp_vector_free(files);
}
