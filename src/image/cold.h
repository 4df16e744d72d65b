/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compilers move the unlikely part of `f` to a symbol `f.cold`, `f.cold.N` or `f.part.N.cold`:
 * this finds the procedure that such a symbol belongs to.
 */
#ifndef HPCPROF_IMAGE_COLD_H
#define HPCPROF_IMAGE_COLD_H

#include "extent.h"

struct cold_link {
	uint64_t cold;	/* address of the cold part */
	uint64_t owner; /* address of its procedure */
};
typedef HP_VECTOR(struct cold_link) cold_links;

/* Length of the name without its cold suffix; 0 when it has none. */
size_t cold_stem(const char *name);

/* Links of all cold symbols whose procedure is in the image, in no order. Static functions of the
 * same name are told apart by the source file that their symbols follow. False when memory is
 * short. */
bool cold_find_links(const symbols *found, cold_links *links);

#endif
