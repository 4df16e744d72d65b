/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies a mapped file for which the kernel sent no build-id: the file is opened as the process
 * sees it, while both still exist.
 */
#ifndef COLLECT_IMAGES_FILE_IDENTITY_H
#define COLLECT_IMAGES_FILE_IDENTITY_H

#include <hpcprof/model/image_id.h>
#include <hpcprof/sample/record.h>

#include <sys/types.h>

/* `path`: as mapped, without the kernel's "(deleted)". The kind stays NONE when the same file
 * cannot be found any more; it is never the identity of another file at the same path. */
void file_identity(pid_t pid, const struct hp_record_mmap *mapping, bool deleted, const char *path,
		   struct hp_identity *identity);

/* Opens the file itself for reading: by the mapping if that is permitted, otherwise by its path or
 * a descriptor of the process. Its identity is `id`. -1: impossible. */
int file_open_mapped(pid_t pid, const struct hp_record_mmap *mapping, const struct hp_image_id *id);

/* The same when the mapping is not known any more: only by its path, as the process sees it. */
int file_open_image(pid_t pid, const struct hp_image_id *id);

/* Fields that change when the file is written to. All zero when it cannot be opened by its path. */
struct file_state {
	uint64_t size_bytes;
	int64_t changed_s;
	int64_t changed_ns;
};

struct file_state file_state(pid_t pid, const struct hp_record_mmap *mapping, const char *path);

#endif
