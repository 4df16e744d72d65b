/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "held_files.h"

#include "../tuning.h"

#include "file_identity.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/foreign_file.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

void held_files_clear(struct held_files *held)
{
	for (size_t i = 0; i < held->files.count; i++) {
		hp_image_id_clear(&held->files.at[i].id);
		close(held->files.at[i].fd);
	}
	hp_vector_free(&held->files);
}

static const struct file_held *find(const struct held_files *held, const struct hp_image_id *id)
{
	for (size_t i = 0; i < held->files.count; i++)
		if (hp_image_id_compare(&held->files.at[i].id, id) == 0)
			return &held->files.at[i];
	return NULL;
}

/* Counters and rings need half of the descriptors. */
static bool leaves_room(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd < limit.rlim_cur / HELD_PART;
}

void held_files_take(struct held_files *held, pid_t pid, const struct hp_record_mmap *mapping,
		     const struct hp_image_id *id)
{
	struct file_held file = { .fd = -1 };
	struct hp_error *error;

	if (id->kind != HP_IMAGE_FILE || id->identity.kind == HP_IDENTITY_NONE ||
	    held->files.count >= MOST_HELD || find(held, id) ||
	    (!id->deleted && !hp_foreign_is_elsewhere(pid)))
		return;
	file.fd = file_open_mapped(pid, mapping, id);
	if (file.fd < 0)
		return;
	error = hp_image_id_copy(id, &file.id);
	if (error || !leaves_room(file.fd) || !hp_vector_push(&held->files, file)) {
		hp_error_destroy(error);
		hp_image_id_clear(&file.id);
		close(file.fd);
	}
}

bool held_files_path(const struct held_files *held, const struct hp_image_id *id,
		     char path[static 64])
{
	const struct file_held *file = find(held, id);

	if (file)
		snprintf(path, 64, "/proc/self/fd/%d", file->fd);
	return file;
}
