/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that cannot be found by their path at the end of the recording: deleted ones, and those of
 * processes with another root directory or other mounts. They are opened while the process exists,
 * where permissions allow it, and stay open until their names have been read.
 */
#ifndef COLLECT_IMAGES_HELD_FILES_H
#define COLLECT_IMAGES_HELD_FILES_H

#include <hpcprof/base/vector.h>
#include <hpcprof/model/image_id.h>
#include <hpcprof/sample/record.h>

#include <sys/types.h>

struct file_held {
	struct hp_image_id id;
	int fd;
};

struct held_files {
	HP_VECTOR(struct file_held) files;
};

void held_files_clear(struct held_files *held);

/* Keeps the file of a mapping open if it cannot be found by its path later, and there is room. */
void held_files_take(struct held_files *held, pid_t pid, const struct hp_record_mmap *mapping,
		     const struct hp_image_id *id);

/* Sets `path` to one that opens the held file of this image. False when none is held. */
bool held_files_path(const struct held_files *held, const struct hp_image_id *id,
		     char path[static 64]);

#endif
