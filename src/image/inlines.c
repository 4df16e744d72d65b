/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the inlined functions around addresses. DIEs are visited in file order: each must lie
 * behind the one before. This rule keeps damaged sibling pointers from making the walk long or
 * endless.
 */
#include "inlines.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 256 };

struct walk {
	const uint64_t *addresses;
	size_t count;
	struct inline_nodes *found;
	const size_t *open; /* second pass: only addresses that were INLINE_NONE here */
	const void *last;   /* the DIE visited before */
	bool everywhere;    /* second pass: look into functions without hits, too */
	bool out_of_memory;
};

static size_t lower_bound(const struct walk *walk, uint64_t address)
{
	return hp_bisect(i, walk->count, walk->addresses[i] < address);
}

enum hits {
	HITS_NO_RANGES,
	HITS_NONE,
	HITS_SOME,
};

/* Makes `node` the innermost node of the addresses in the DIE's ranges. With INLINE_NONE it only
 * tests whether there are such addresses. */
static enum hits mark_ranges(struct walk *walk, Dwarf_Die *die, size_t node)
{
	enum hits hits = HITS_NO_RANGES;
	Dwarf_Addr base;
	Dwarf_Addr start;
	Dwarf_Addr end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		if (hits == HITS_NO_RANGES)
			hits = HITS_NONE;
		for (size_t i = lower_bound(walk, start);
		     i < walk->count && walk->addresses[i] < end; i++) {
			hits = HITS_SOME;
			if (node == INLINE_NONE)
				break;
			if (!walk->open || walk->open[i] == INLINE_NONE)
				walk->found->innermost[i] = node;
		}
	}
	return hits;
}

static void walk_children(struct walk *walk, Dwarf_Die *parent, size_t function, unsigned depth);

static void visit_function(struct walk *walk, Dwarf_Die *die, size_t function, unsigned depth)
{
	enum hits hits = mark_ranges(walk, die, INLINE_NONE);
	bool is_inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
	size_t node = walk->found->nodes.count;

	if (hits == HITS_SOME) {
		struct inline_node added = { *die, is_inlined ? function : INLINE_NONE };

		if (!hp_vector_push(&walk->found->nodes, added)) {
			walk->out_of_memory = true;
			return;
		}
		mark_ranges(walk, die, node);
		walk_children(walk, die, node, depth);
	} else if (walk->everywhere) {
		walk_children(walk, die, function, depth);
	}
}

static void visit(struct walk *walk, Dwarf_Die *die, size_t function, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		visit_function(walk, die, function, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		if (walk->everywhere || mark_ranges(walk, die, INLINE_NONE) != HITS_NONE)
			walk_children(walk, die, function, depth);
		break;
	/* Rust defines methods inside its types, C++ at least declares them there. */
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		walk_children(walk, die, INLINE_NONE, depth);
		break;
	default:
		if (walk->everywhere)
			walk_children(walk, die, function, depth);
		break;
	}
}

static void walk_children(struct walk *walk, Dwarf_Die *parent, size_t function, unsigned depth)
{
	Dwarf_Die die;

	if (depth >= DEPTH_LIMIT || dwarf_haschildren(parent) != 1 ||
	    dwarf_child(parent, &die) != 0)
		return;
	do {
		Dwarf_Die next;

		if (walk->out_of_memory || (const char *)die.addr <= (const char *)walk->last)
			return;
		walk->last = die.addr;
		visit(walk, &die, function, depth + 1);
		if (dwarf_siblingof(&die, &next) != 0)
			return;
		die = next;
	} while (true);
}

bool inlines_collect(Dwarf_Die *unit, const uint64_t *addresses, size_t count,
		     struct inline_nodes *found)
{
	struct walk walk = { .addresses = addresses, .count = count, .found = found };
	_cleanup_free_ size_t *open = NULL;
	bool complete = true;

	*found = (struct inline_nodes){ 0 };
	found->innermost = calloc(count + 1, sizeof(*found->innermost));
	open = calloc(count + 1, sizeof(*open));
	if (!found->innermost || !open)
		return false;
	for (size_t i = 0; i < count; i++)
		found->innermost[i] = INLINE_NONE;
	walk_children(&walk, unit, INLINE_NONE, 0);
	for (size_t i = 0; i < count; i++) {
		open[i] = found->innermost[i];
		complete = complete && open[i] != INLINE_NONE;
	}
	if (complete || walk.out_of_memory)
		return !walk.out_of_memory;
	/* Functions defined inside functions (nested ones, methods of local classes) have code of
	 * their own, outside of the function around them. */
	walk.open = open;
	walk.everywhere = true;
	walk.last = NULL;
	walk_children(&walk, unit, INLINE_NONE, 0);
	return !walk.out_of_memory;
}

void inlines_clear(struct inline_nodes *found)
{
	hp_vector_free(&found->nodes);
	free(found->innermost);
	found->innermost = NULL;
}
