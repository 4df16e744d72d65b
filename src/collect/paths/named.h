/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds a tree of raw addresses to one of images and offsets. */
#ifndef COLLECT_PATHS_NAMED_H
#define COLLECT_PATHS_NAMED_H

#include "raw_images.h"
#include "../samples/attribute.h"

/* Adds the tree to the sum, without nodes that have no samples. Addresses get their present names,
 * which are stored with the names of samples. */
struct hp_error *paths_name(const struct hp_paths *tree, const struct raw_images *raw,
			    struct attributor *attributor, struct hp_paths *sum);

#endif
