/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where addresses were found before: most frames of a path are those of earlier ones.
 *
 * A place is of one address of one address space, in a file. It is valid as long as the space lives
 * and tables are neither released nor renumbered: known_forget in time. Others overwrite it. A rule is
 * of one offset of a file, whichever process it is in: programs of builds are many and short.
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
};

struct known_rule {
	const struct unwinding *unwinding; /* NULL: free */
	uint64_t offset;
	const struct hp_unwind_recipe *recipe;
};

/* Zeroed: empty. */
struct known {
	struct known_place at[KNOWN_PLACES];
	struct known_rule rules[KNOWN_PLACES];
	uint64_t changes; /* of the tables, when the oldest entry was made */
};

/* Forgets places. */
void known_forget(struct known *known);

/* The one entry that the address may have: it is known if space and address agree. */
struct known_place *known_slot(struct known *known, const struct tables *tables,
			       const struct space *space, uint64_t address);

/* The rule of an offset, from the image's table if it is not known; NULL: none. The slot of the place
 * was asked for before. */
const struct hp_unwind_recipe *known_recipe(struct known *known, const struct unwinding *unwinding,
					    uint64_t offset);

static inline bool known_is(const struct known_place *place, const struct space *space,
			    uint64_t address)
{
	return place->space == space && place->address == address;
}

#endif
