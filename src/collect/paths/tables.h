/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of images, created when the first path leads through an image.
 *
 * A table keeps its image referenced, so that the next process with that image uses the same table.
 * Memory is bounded: tables that were not used for longest are released, and created again when
 * needed.
 */
#ifndef COLLECT_PATHS_TABLES_H
#define COLLECT_PATHS_TABLES_H

#include "../images/images.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/unwind/table.h>

struct unwinding {
	struct image *image;
	struct hp_unwind_table *table; /* NULL: the file has no table */
	uint32_t number; /* the image's number in the tree of paths; UINT32_MAX: none yet */
	size_t bytes;
	uint64_t used; /* last use, by `clock` */
	bool is_indexed; /* its rows are made when they are asked for, from a file that it holds open */
};

struct tables {
	struct images *images; /* borrowed */
	HP_VECTOR(struct unwinding *) at;
	size_t bytes;
	size_t indexed; /* how many are indexed */
	uint64_t clock;
	uint64_t changes; /* how often tables were released or numbers forgotten */
	/* Number of tables created. */
	size_t made;
	uint64_t made_ns; /* CPU time */
};

void tables_clear(struct tables *tables);

/* Returns the data of the image, which it may create by reading the file through the process; NULL
 * when memory is short. Valid until the next call that creates data. */
struct unwinding *tables_of(struct tables *tables, struct image *image, uint32_t pid);

static inline void tables_use(struct tables *tables, struct unwinding *unwinding)
{
	unwinding->used = ++tables->clock;
}

/* Call when a new tree begins: numbers of the old one are invalid. */
void tables_forget_numbers(struct tables *tables);

#endif
