/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "raw_images.h"

#include <hpcprof/base/search.h>

#include <stdio.h>
#include <stdlib.h>

void raw_images_clear(struct raw_images *images)
{
	hp_vector_free(&images->at);
	images->latest = 0;
}

static bool is_of(const struct raw_image *image, uint32_t pid, uint32_t command)
{
	return image->pid == pid && image->command == command;
}

/* Adds an image. The numbers of a tree increase, so the list stays sorted. */
static bool add(struct raw_images *images, struct hp_paths *tree, uint32_t pid, uint32_t command,
		uint32_t *number)
{
	char path[64];
	const struct hp_image_id id = {
		.kind = pid ? HP_IMAGE_ANON : HP_IMAGE_KERNEL,
		.path = path,
	};
	struct hp_error *error;

	snprintf(path, sizeof(path), "%u %u", pid, command);
	error = hp_paths_image(tree, &id, number);
	if (error) {
		hp_error_destroy(error);
		return false;
	}
	images->latest = images->at.count;
	return hp_vector_push(&images->at, (struct raw_image){ *number, pid, command });
}

bool raw_images_of_process(struct raw_images *images, struct hp_paths *tree, uint32_t pid,
			   uint32_t command, uint32_t *number)
{
	for (size_t i = 0; i <= images->at.count; i++) {
		size_t at = i ? i - 1 : images->latest;

		if (at < images->at.count && is_of(&images->at.at[at], pid, command)) {
			images->latest = at;
			*number = images->at.at[at].number;
			return true;
		}
	}
	return add(images, tree, pid, command, number);
}

bool raw_images_of_kernel(struct raw_images *images, struct hp_paths *tree, uint32_t *number)
{
	return raw_images_of_process(images, tree, 0, 0, number);
}

const struct raw_image *raw_images_find(const struct raw_images *images, uint32_t number)
{
	size_t at = hp_bisect(i, images->at.count, images->at.at[i].number < number);

	return at < images->at.count && images->at.at[at].number == number ? &images->at.at[at]
									   : NULL;
}
