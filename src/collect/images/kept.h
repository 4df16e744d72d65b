/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of sampled code that are not available later (generated code, the kernel), collected for
 * the epoch. Only symbols with samples are kept, so the list stays short.
 */
#ifndef COLLECT_IMAGES_KEPT_H
#define COLLECT_IMAGES_KEPT_H

#include "images.h"

#include <hpcprof/model/profile.h>

struct kept_symbol;

struct kept {
	struct kept_symbol *by_place; /* hash */
	bool changed;		      /* since kept_saved */
};

/* Keeps a name for [offset, offset + size) of an image. A longer extent of the same name wins.
 * False when memory is short, or when another name stands there already. */
bool kept_add(struct kept *kept, struct image *image, uint64_t offset, uint64_t size,
	      const char *name);
void kept_clear(struct kept *kept);

/* Calls `save` once for each image, with its symbols sorted by offset and cut so that they do not
 * overlap. */
struct hp_error *kept_save(struct kept *kept,
			   struct hp_error *(*save)(struct image *image,
						    const struct hp_symbol *symbols, size_t count,
						    void *context),
			   void *context);

#endif
