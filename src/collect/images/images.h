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
	size_t db_index; /* in the epoch's index; SIZE_MAX before its first sample was written */
	struct image_links *links;
	struct unwinding
		/* belongs to paths/tables.c, which holds a reference; NULL: not asked for yet */
		*unwinding;
};

struct images;

struct images *images_create(void); /* NULL: out of memory */
void images_destroy(struct images *images);

/* The image of a file mapping, with a reference for the caller. `pid`: the process whose view of
 * files is used. NULL: out of memory. */
struct image *images_of_mapping(struct images *images, pid_t pid,
				const struct hp_record_mmap *mapping);

/* An image without a file to identify: JIT, ANON, KERNEL, MODULE, UNKNOWN, VDSO; with a reference
 * for the caller. NULL: out of memory. */
struct image *images_named(struct images *images, enum hp_image_kind kind, const char *path,
			   const struct hp_identity *identity);

/* Files of images that cannot be found by their path later. They are released with `images`. */
const struct held_files *images_held_files(const struct images *images);

void image_release(struct image *image);

/* Frees images without references. */
void images_sweep(struct images *images);
size_t images_count(const struct images *images);

#endif
