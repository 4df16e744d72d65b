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

/* One procedure's code on both sides. */
struct inside {
	const struct judging *judging;
	const struct code *codes[HP_SIDES];
	const struct listing *listings[HP_SIDES];
	bool is_chosen; /* a finding, all of whose code is listed */
};

/* Of each instruction the number of the part that it is in, or SIZE_MAX. */
struct partition {
	size_t *of[HP_SIDES]; /* [instruction]; owned */
	size_t count;
};

struct hp_error *partition_create(const struct inside *inside, struct partition *partition);
void partition_clear(struct partition *partition);

/*
 * Blocks of one side with those of the other that most of their instructions are the same as; what
 * lies between two such blocks is one part on both sides. `partners` is listing_align's.
 */
struct hp_error *partition_blocks(const struct inside *inside, const size_t *partners,
				  struct partition *blocks);

/* Costs of the parts [partition.count], whose names and places are set; where the procedure is
 * chosen also tests and findings. */
struct hp_error *inside_judge(const struct inside *inside, const struct partition *partition,
			      struct hp_compared *const *parts);

#endif
