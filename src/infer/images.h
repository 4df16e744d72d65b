/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inference for one image, created on first use and kept. */
#ifndef INFER_IMAGES_H
#define INFER_IMAGES_H

#include "branches.h"
#include "events.h"

#include <hpcprof/infer/counts.h>

struct inferred_image {
	HP_VECTOR(struct hp_evidence) exact; /* counts of blocks, by address */
	struct hp_image_counts *counts;	     /* owned; NULL: not asked for yet, or none */
	struct branches *branches;	     /* likewise owned */
	struct image_events *events;	     /* likewise owned */
};

#endif
