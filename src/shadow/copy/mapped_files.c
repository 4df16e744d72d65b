/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapped_files.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/foreign_file.h>
#include <hpcprof/base/vector.h>

#include <sys/stat.h>
#include <unistd.h>

/* Opens the file that is at the area's path now, as the process sees paths, if it is still the same
 * one. The device in the memory map is not compared: on btrfs and overlays it is another one. */
static int open_same(pid_t pid, const struct area *area)
{
	struct stat status;
	int fd = hp_foreign_open_of(pid, area->path, 0, &status);

	if (fd >= 0 && status.st_ino != area->inode) {
		close(fd);
		fd = -1;
	}
	return fd;
}

const struct mapped_file *mapped_files_find(struct mapped_files *files, pid_t pid,
					    const struct area *area)
{
	struct mapped_file file = { .device = area->device, .inode = area->inode };

	for (size_t i = 0; i < files->count; i++) {
		if (files->at[i].inode == area->inode && files->at[i].device == area->device)
			return &files->at[i];
	}
	if (files->count >= MAPPED_FILE_LIMIT)
		return NULL;
	file.fd = open_same(pid, area);
	if (!hp_vector_push(files, file)) {
		if (file.fd >= 0)
			close(file.fd);
		return NULL;
	}
	return &files->at[files->count - 1];
}

void mapped_files_clear(struct mapped_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->at[i].fd >= 0)
			close(files->at[i].fd);
	}
	hp_vector_free(files);
}
