/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what changed inside a procedure that changed: its lines and its blocks.
 *
 * They are tested only if the procedure is a finding, and then against a stricter limit, so that
 * the false discovery rate of the whole holds: with R findings among m tested procedures, the limit
 * inside is multiplied by R / m (Benjamini and Bogomolov 2014).
 */
#ifndef COMPARE_INSIDE_H
#define COMPARE_INSIDE_H

#include "judge.h"
#include "listing.h"

/* The code of one procedure on both sides. */
struct inside {
	const struct judging *judging;
	const struct code *codes[HP_SIDES];
	const struct listing *listings[HP_SIDES];
	bool is_chosen; /* it is a finding, and all of its code is listed */
};

/* The parts of a procedure: of each instruction the index of its part, or SIZE_MAX. */
struct partition {
	size_t *of[HP_SIDES]; /* by instruction; owned */
	size_t count;
};

struct hp_error *partition_create(const struct inside *inside, struct partition *partition);
void partition_clear(struct partition *partition);

/*
 * Pairs blocks of the two sides that share most of their instructions. What lies between two such
 * blocks is one part on both sides. `partners`: from listing_align.
 */
struct hp_error *partition_blocks(const struct inside *inside, const size_t *partners,
				  struct partition *blocks);

/* Computes the costs of the parts, whose names and places are set. If the procedure is chosen, also
 * tests and findings. */
struct hp_error *inside_judge(const struct inside *inside, const struct partition *partition,
			      struct hp_compared *const *parts);

#endif
