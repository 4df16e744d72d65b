/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the blocks of a path say of all its stretches together: the cycles that each took on every core,
 * and the footprint of each access. Starts no threads.
 */
#ifndef SHADOW_SIMULATE_TELLING_H
#define SHADOW_SIMULATE_TELLING_H

#include "followed.h"

#include <hpcprof/base/vector.h>

struct told;

struct telling {
	HP_VECTOR(const struct pattern *) patterns; /* borrowed from blocks that were added */
	HP_VECTOR(struct hp_window_timed) timed;    /* the caller takes or frees them */
	bool has_memory;			    /* false: some are missing */
	uint64_t resizes;
};

/* `resizes`: of the models that the cycles are of, as in struct hp_window_timed. */
struct telling telling_of(uint64_t resizes);
/* Adds the accesses of a block, … */
void telling_add_places(struct telling *telling, const struct followed *followed);
/* … and its cycles, if it was timed and ran. */
void telling_add_cycles(struct telling *telling, const struct followed *followed);
/* Adds the footprints to what is told of the window, and frees `patterns`. */
void telling_give_footprints(struct telling *telling, struct told *told);

#endif
