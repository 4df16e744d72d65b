/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of things counted, on its way from the recorder's images to those of the epoch's evidence.
 */
#ifndef HPCPROF_COLLECT_COUNTED_H
#define HPCPROF_COLLECT_COUNTED_H

#include "images.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/model/evidence.h>

struct counted {
	HP_VECTOR(struct image *) images;   /* references */
	HP_VECTOR(struct hp_counted) items; /* their images are numbers of the above */
};

/* The number of an image, new or known, whose reference is taken over; false when memory is short,
 * or for what is no image at all. */
bool counted_image(struct counted *counted, struct image *image, uint32_t *number);

/* Numbers the images anew, as the list that is made for `evidence`; then sorts the items, and adds
 * up those that are the same. Two images of the recorder may be one to the database: what tells
 * them apart is not kept. */
struct hp_error *counted_finish(struct counted *counted, struct hp_window_evidence *evidence);
void counted_clear(struct counted *counted);

#endif
