/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds a tree of raw addresses to one of images and offsets. */
#ifndef COLLECT_PATHS_NAMED_H
#define COLLECT_PATHS_NAMED_H

#include "raw_images.h"
#include "../samples/attribute.h"

/* What has no samples is left out. The names that addresses have now are kept
 * with those of samples. */
struct hp_error *paths_name(const struct hp_paths *tree, const struct raw_images *raw,
			    struct attributor *attributor, struct hp_paths *sum);

#endif
