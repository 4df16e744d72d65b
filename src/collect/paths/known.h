/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of look-ups for frames of call paths, because most frames were seen before.
 *
 * A place caches the file and offset of one address in one address space. known_forget must be
 * called before an address space is released; known_slot empties the cache itself when unwind
 * tables were released or renumbered. A rule caches the unwind rule of one offset in one file, for
 * all processes, because builds run many short ones. New entries overwrite old ones.
 */
#ifndef COLLECT_PATHS_KNOWN_H
#define COLLECT_PATHS_KNOWN_H

#include "tables.h"
#include "../maps/space.h"
#include "../tuning.h"

struct known_place {
	const struct space *space; /* NULL: free */
	uint64_t address;
	uint64_t offset; /* in the image */
	struct unwinding *unwinding;
	const struct hp_unwind_recipe *recipe; /* of its table; NULL: none */
	uint64_t procedure;		       /* offset where it begins */
};

struct known_rule {
	const struct unwinding *unwinding; /* NULL: free */
	uint64_t offset;
	const struct hp_unwind_recipe *recipe; /* NULL: none */
	uint64_t procedure;		       /* offset where it begins */
};

/* Zeroed: empty. */
struct known {
	struct known_place at[KNOWN_PLACES];
	struct known_rule rules[KNOWN_PLACES];
	uint64_t changes;   /* `changes` of the tables when the oldest entry was made */
	uint64_t forgotten; /* how often known_forget was called */
};

/* Empties the cache of places. */
void known_forget(struct known *known);

/* Returns the only entry that the address may have: it is valid if space and address agree. */
struct known_place *known_slot(struct known *known, const struct tables *tables,
			       const struct space *space, uint64_t address);

/* The rule of an offset, from the image's table if it is not known. The slot of the place was asked for
 * before. */
struct known_rule known_rule(struct known *known, const struct unwinding *unwinding,
			     uint64_t offset);

static inline bool known_is(const struct known_place *place, const struct space *space,
			    uint64_t address)
{
	return place->space == space && place->address == address;
}

#endif
