/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of images, created when the first path leads through an image.
 *
 * A table keeps its image referenced, so that the next process with that image uses the same table.
 * Memory is bounded: tables that were not used for longest are released, and created again when
 * needed. What took long to create is stored for the next recordings when it is released.
 */
#ifndef COLLECT_PATHS_TABLES_H
#define COLLECT_PATHS_TABLES_H

#include "stored.h"
#include "../images/images.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/unwind/table.h>

struct unwinding {
	struct image *image;
	struct hp_unwind_table *table; /* NULL: there is none to be had */
	uint32_t number;	       /* of the image in the tree of paths; UINT32_MAX: none yet */
	size_t bytes;
	uint64_t used; /* when, by `clock` */
	struct stored_key key;
	bool is_worth_storing; /* as `key` */
};

struct tables {
	struct images *images; /* borrowed */
	HP_VECTOR(struct unwinding *) at;
	size_t bytes;
	uint64_t clock;
	uint64_t changes; /* how often something was released, or numbers forgotten */
	/* Ever made. */
	size_t made;
	uint64_t made_ns; /* CPU time */
};

void tables_clear(struct tables *tables);

/* What there is of the image, looked for if need be through the process; NULL when memory is short.
 * Valid up to the next call for an image that has none yet. */
struct unwinding *tables_of(struct tables *tables, struct image *image, uint32_t pid);

static inline void tables_use(struct tables *tables, struct unwinding *unwinding)
{
	unwinding->used = ++tables->clock;
}

/* Numbers are of a tree that is gone. */
void tables_forget_numbers(struct tables *tables);

#endif
