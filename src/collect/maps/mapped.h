/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classifies a mapping by the name that the kernel gives it. */
#ifndef COLLECT_MAPS_MAPPED_H
#define COLLECT_MAPS_MAPPED_H

#include "../images/images.h"

/* The image (a reference), or NULL for memory without a file. False: out of memory. */
bool mapped_image(struct images *images, uint32_t pid, const struct hp_record_mmap *mapping,
		  struct image **image);

#endif
