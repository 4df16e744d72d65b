/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of counted places: keyed by the recorder's images while recording, by the epoch's when
 * written.
 */
#ifndef COLLECT_EVIDENCE_COUNTED_H
#define COLLECT_EVIDENCE_COUNTED_H

#include "../images/images.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/model/evidence.h>

struct counted {
	HP_VECTOR(struct image *) images;   /* references */
	HP_VECTOR(struct hp_counted) items; /* their images are numbers of the above */
	uint64_t dropped;		    /* items that could not be listed */
};

/* The number of an image, new or known, whose reference is taken over; false when memory is short,
 * or for what is no image at all. */
bool counted_image(struct counted *counted, struct image *image, uint32_t *number);

/* Adds what was listed to `sum`, as one of the stratum's lists, empty until now: `list` and `count`
 * are its. The images are numbered anew, as those of the evidence; two of the recorder may be one
 * to the database, what tells them apart is not kept. Items that are the same then are added up.
 * The list goes on owning the items. */
struct hp_error *counted_add(struct counted *counted, struct hp_window_stratum *stratum,
			     struct hp_counted **list, size_t *count,
			     struct hp_window_evidence *sum);
void counted_clear(struct counted *counted);

#endif
