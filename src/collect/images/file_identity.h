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

/* `path` as mapped, without the kernel's "(deleted)". Leaves kind NONE when the very file cannot be
 * had any more: never the identity of another file at the same path. */
void file_identity(pid_t pid, const struct hp_record_mmap *mapping, bool deleted, const char *path,
		   struct hp_identity *identity);

/* The file itself, open for reading: by the mapping where that is permitted, else by its path or
 * through a descriptor of the process. It has the identity of `id`. -1 when it cannot be had. */
int file_open_mapped(pid_t pid, const struct hp_record_mmap *mapping, const struct hp_image_id *id);

/* The same, when the mapping is not known any more: by its path alone, as the process sees
 * paths. */
int file_open_image(pid_t pid, const struct hp_image_id *id);

/* What a file's next writing changes. All zero when it cannot be had at its path. */
struct file_state {
	uint64_t size_bytes;
	int64_t changed_s;
	int64_t changed_ns;
};

struct file_state file_state(pid_t pid, const struct hp_record_mmap *mapping, const char *path);

#endif
