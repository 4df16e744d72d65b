/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the uses of a second level whose outcome a model does not know, how many are misses.
 *
 * A use misses if since the block's last use as many others of its set were used as the set has ways. The model has
 * only followed a stretch of the path: of a block that the stretch has not used before it knows no more than that all
 * blocks used so far lie between. Such observations are censored, like those of patients who leave a study, and
 * the probability to get from there past the last way is estimated from all uses that got so far: Kaplan, Meier,
 * "Nonparametric estimation from incomplete observations", Journal of the American Statistical Association 1958.
 * What the level had before the stretch is no guess: what came in since then would count as missing. Starts no
 * threads.
 */
#ifndef SHADOW_SIMULATE_REUSE_H
#define SHADOW_SIMULATE_REUSE_H

#include <hpcprof/uarch/path.h>

enum second_level { SECOND_CACHE, SECOND_TLB, SECOND_LEVELS };

/* Distances are counted in parts of a set: in ways, if it has no more of them. */
enum { REUSE_PARTS = 16 };

/* Uses by one access, or all. */
struct reuse {
	uint32_t found[REUSE_PARTS]; /* by distance */
	uint32_t passed[REUSE_PARTS +
			1]; /* those without the block up to this distance, all that is known */
	uint32_t unknown[REUSE_PARTS + 1]; /* of `passed`, those that wait for reuse_take_misses */
	double left;			   /* part of a miss */
};

/* Adds a use to those of its access and to all. `is_unknown`: it counts, and may have been a miss. */
void reuse_add(struct reuse *reuse, struct reuse *all, const struct hp_uarch_distance *distance,
	       bool is_unknown);
/* The expected number of misses among the unknown uses, which no longer wait. What is left of it beyond a whole
 * number goes to the next access for which this is called. Few uses of an access are judged by all accesses. */
uint32_t reuse_take_misses(struct reuse *reuse, struct reuse *all);

#endif
