/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a procedure on both sides, aligned: pairs of equal instructions, and the lines that
 * they are on.
 *
 * Editing moves lines. So lines of the two sides are matched by their instructions, not by their
 * numbers.
 */
#ifndef COMPARE_PAIRED_H
#define COMPARE_PAIRED_H

#include "judge.h"
#include "listing.h"

#include <hpcprof/base/vector.h>

/* One instruction of either side, or of both. */
struct pair {
	const struct listed *side[HP_SIDES]; /* or NULL */
};

/* A line of either side, or of both. */
struct lined {
	const char *file;
	uint32_t line[HP_SIDES];
	double cost[HP_SIDES];
	uint64_t samples[HP_SIDES];
	bool is_changed;
};

struct paired {
	HP_VECTOR(struct pair) pairs;  /* in order of addresses */
	HP_VECTOR(struct lined) lines; /* those with the largest change of cost first */
};

/* `partners` is listing_align's of these listings, which must outlive the pairs. Without memory
 * there may be something to free, too. */
struct hp_error *paired_create(const struct judging *judging, const struct listing *listings,
			       const size_t *partners, struct paired *paired);
void paired_clear(struct paired *paired);

/* What an instruction costs on its side, as the comparison gives it: 0 of none (NULL). */
double paired_cost(const struct judging *judging, const struct listed *listed, size_t side);

/* The instruction that says where a pair is: the candidate's, unless the base's alone has a
 * line. */
const struct listed *pair_place(const struct pair *pair);
bool pair_is_on(const struct pair *pair, const struct lined *line);
/* The line a pair is on, or NULL. */
const struct lined *paired_line(const struct paired *paired, const struct pair *pair);

/* The candidate's number of it, where it has one. */
uint32_t lined_number(const struct lined *line);
bool lined_is_sampled(const struct lined *line);
/* By how much it became dearer. */
double lined_lost(const struct lined *line);

#endif
