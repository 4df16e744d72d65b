/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks once over a compilation unit, to find which functions, inlined into which others, contain
 * given addresses.
 */
#ifndef HPCPROF_IMAGE_INLINES_H
#define HPCPROF_IMAGE_INLINES_H

#include <hpcprof/base/vector.h>

#include <elfutils/libdw.h>
#include <stdint.h>

struct inline_node {
	Dwarf_Die die; /* DW_TAG_subprogram or DW_TAG_inlined_subroutine */
	size_t parent; /* index, or INLINE_NONE for a subprogram */
};
#define INLINE_NONE SIZE_MAX

struct inline_nodes {
	HP_VECTOR(struct inline_node) nodes;
	size_t *innermost; /* per address: index into nodes, or INLINE_NONE */
};

/* Finds the nodes of `addresses`, which are sorted and relative to the unit's bias. False when
 * memory is short. */
bool inlines_collect(Dwarf_Die *unit, const uint64_t *addresses, size_t count,
		     struct inline_nodes *found);
void inlines_clear(struct inline_nodes *found);

#endif
