/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures of code that no symbol and no unwind table describes: between the others. */
#ifndef HPCPROF_IMAGE_GAPS_H
#define HPCPROF_IMAGE_GAPS_H

#include "extent.h"

#include <hpcprof/image/image.h>

struct gap;

struct gaps {
	struct gap *all;	/* those that were asked for, by start. Owned */
	struct elf_file *file;	/* borrowed, as are the next two; may be NULL */
	struct hp_arena *arena; /* where procedures and names are */
	const char *image_name;
	bool is_all; /* nothing of the image is described: its code has the image's name */
};

void gaps_clear(struct gaps *gaps);

/* The procedure that holds the address, in the code from `start` to `end` (> start). `start` is the same
 * for all of a gap. NULL when memory is short. */
const struct hp_procedure *gaps_at(struct gaps *gaps, uint64_t start, uint64_t end,
				   uint64_t address);

/* "image+0xADDRESS". */
const char *address_name(struct hp_arena *arena, const char *image_name, uint64_t address);

#endif
