/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes parts that do not overlap from symbols, PLT entries and unwind extents, which do. */
#ifndef HPCPROF_IMAGE_RESOLVE_H
#define HPCPROF_IMAGE_RESOLVE_H

#include "extent.h"

struct resolved {
	uint64_t address;
	uint64_t end;	  /* > address */
	const char *name; /* NULL for an FDE without symbol */
	bool is_plt;
	size_t first; /* index of the first part of the same procedure */
};
typedef HP_VECTOR(struct resolved) resolved_parts;

/* Sorts by address, the preferred name first. */
void resolve_sort(symbols *found);

/* Makes the parts. `found` and `plt` are sorted, and are consumed. False when memory is short. */
bool resolve_parts(symbols *found, const symbols *plt, const extents *unwind,
		   resolved_parts *parts);

#endif
