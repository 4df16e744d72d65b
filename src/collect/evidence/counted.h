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
	HP_VECTOR(struct image *) images;	 /* holds references */
	HP_VECTOR(struct hp_counted) items;	 /* their image numbers are indices into `images` */
	HP_VECTOR(struct hp_window_item) window; /* theirs, too */
	uint64_t dropped;			 /* number of items that could not be listed */
};

/* The number of an image, new or known. The reference is taken over. False: out of memory, or the
 * samples belong to no image. */
bool counted_image(struct counted *counted, struct image *image, uint32_t *number);

/* Adds the items to `sum` as one of the stratum's lists, which must be empty: `list` and `count`
 * name it. Images are renumbered as in the evidence, where two images of the recorder may be one.
 * Items that become equal are added up. The items stay owned by the list. */
struct hp_error *counted_add(struct counted *counted, struct hp_window_stratum *stratum,
			     struct hp_counted **list, size_t *count,
			     struct hp_window_evidence *sum);
/* The same, and adds what one window counted, whose parts are the groups from `first` on. */
struct hp_error *counted_add_window(struct counted *counted, struct hp_window_stratum *stratum,
				    struct hp_counted **list, size_t *count,
				    enum hp_window_list which, unsigned first,
				    struct hp_window_evidence *sum);
void counted_clear(struct counted *counted);

#endif
