/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call paths of units' samples: the callers, by names that are the same on both sides.
 *
 * Callers are functions, including inlined ones. A caller that exists on both sides is listed once.
 */
#ifndef COMPARE_CALL_PATHS_H
#define COMPARE_CALL_PATHS_H

#include "sides.h"

struct caller {
	const char *name;
	const char *image; /* the last component of its path; "" if it is in no image */
	bool is_known;	   /* false: it stands for unknown callers */
};

/* Samples of one unit that have the same callers. */
struct caller_path {
	enum hp_side side;
	size_t replicate; /* index of the epoch on its side */
	uint64_t samples;
	double count;  /* in samples of the replicate's mean weight */
	uint32_t node; /* private */
	/* The callers, the innermost first, without the unit's own code. They end at the root, or
	 * after MOST_CALLERS_DEEP. In the arena. */
	const struct caller *const *callers;
	size_t caller_count;
};

struct unit_paths {
	const struct unit *unit;
	HP_VECTOR(struct caller_path) paths; /* owned */
};

/* Reads the paths of all units in one pass over the epochs. Epochs without call paths have none;
 * damaged paths are left out with a note. requires: sides_match_moved. The caller clears the paths
 * with unit_paths_clear, after an error too. */
struct hp_error *call_paths_read(struct sides *sides, struct unit_paths *units, size_t count);
void unit_paths_clear(struct unit_paths *units, size_t count);

#endif
