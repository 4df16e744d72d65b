/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placeholders for images of a tree whose addresses are still raw: a process's memory outside of
 * files, and the kernel. They are replaced by the images of the addresses when the tree is written.
 */
#ifndef COLLECT_PATHS_RAW_IMAGES_H
#define COLLECT_PATHS_RAW_IMAGES_H

#include <hpcprof/base/vector.h>
#include <hpcprof/model/paths.h>

struct raw_image {
	uint32_t number; /* in the tree */
	uint32_t pid;	 /* 0: the kernel */
	uint32_t command;
};

struct raw_images {
	HP_VECTOR(struct raw_image) at;
	size_t latest; /* the latest one: the same often comes again */
};

void raw_images_clear(struct raw_images *images);

/* Finds or adds the image of a process; false when memory is short. */
bool raw_images_of_process(struct raw_images *images, struct hp_paths *tree, uint32_t pid,
			   uint32_t command, uint32_t *number);
bool raw_images_of_kernel(struct raw_images *images, struct hp_paths *tree, uint32_t *number);

/* Returns the placeholder with this number, or NULL for other images. */
const struct raw_image *raw_images_find(const struct raw_images *images, uint32_t number);

#endif
