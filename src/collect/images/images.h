/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The images seen while recording, each listed once.
 *
 * To keep a pointer across images_sweep, hold a reference. An image is identified when it is
 * mapped: by the build-id that the kernel sent, else from the file, which is opened through the
 * process's own view (map_files, root, open descriptors) while the process exists. A file that was
 * identified by its content is examined again at each mapping, and identified anew if it has
 * changed.
 */
#ifndef COLLECT_IMAGES_IMAGES_H
#define COLLECT_IMAGES_IMAGES_H

#include "held_files.h"

#include <hpcprof/base/error.h>
#include <hpcprof/model/image_id.h>
#include <hpcprof/sample/record.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image {
	struct hp_image_id id;
	uint32_t references;
	size_t db_index; /* in the epoch's index; SIZE_MAX before its first sample is written */
	struct image_links *links;
	struct unwinding
		*unwinding; /* of paths/tables.c; it holds a reference. NULL: not asked for */
};

struct images;

struct images *images_create(void); /* NULL when memory is short */
void images_destroy(struct images *images);

/* The image of a file mapping, identified. `pid` is the process to look through. NULL when memory
 * is short, else a reference for the caller. */
struct image *images_of_mapping(struct images *images, pid_t pid,
				const struct hp_record_mmap *mapping);

/* An image without a file to identify: JIT, ANON, KERNEL, MODULE, UNKNOWN, VDSO. A reference for
 * the caller; NULL when memory is short. */
struct image *images_named(struct images *images, enum hp_image_kind kind, const char *path,
			   const struct hp_identity *identity);

/* Files of images that cannot be had by their path later; forgotten with `images` only. */
const struct held_files *images_held_files(const struct images *images);

void image_release(struct image *image);

/* Forgets images without references. */
void images_sweep(struct images *images);
size_t images_count(const struct images *images);

#endif
