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
	struct kept_symbol *by_place; /* hash table */
	bool changed;		      /* since the last kept_save */
};

/* Keeps a name for [offset, offset + size) of an image. Of the same name, the longer extent is
 * kept. False: out of memory, or another name is there already. */
bool kept_add(struct kept *kept, struct image *image, uint64_t offset, uint64_t size,
	      const char *name);
void kept_clear(struct kept *kept);

/* Calls `save` once per image, with its symbols sorted by offset and shortened so that they do not
 * overlap. */
struct hp_error *kept_save(struct kept *kept,
			   struct hp_error *(*save)(struct image *image,
						    const struct hp_symbol *symbols, size_t count,
						    void *context),
			   void *context);

#endif
