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

/* An instruction on either side, or on both. */
struct pair {
	const struct listed *side[HP_SIDES]; /* may be NULL */
};

/* A line on either side, or on both. */
struct lined {
	const char *file;
	uint32_t line[HP_SIDES];
	double cost[HP_SIDES];
	uint64_t samples[HP_SIDES];
	bool is_changed;
};

struct paired {
	HP_VECTOR(struct pair) pairs;  /* in order of addresses */
	HP_VECTOR(struct lined) lines; /* sorted by change of cost, the largest first */
};

/* `partners`: from listing_align for these listings, which must outlive the pairs. After an error,
 * too, the pairs must be cleared. */
struct hp_error *paired_create(const struct judging *judging, const struct listing *listings,
			       const size_t *partners, struct paired *paired);
void paired_clear(struct paired *paired);

/* An instruction's cost on its side, in the comparison's units; 0 for NULL. */
double paired_cost(const struct judging *judging, const struct listed *listed, size_t side);

/* The instruction that gives the pair's place: the candidate's, unless only the base's has a
 * line. */
const struct listed *pair_place(const struct pair *pair);
bool pair_is_on(const struct pair *pair, const struct lined *line);
/* The pair's line, or NULL. */
const struct lined *paired_line(const struct paired *paired, const struct pair *pair);

/* The candidate's line number, if it has one. */
uint32_t lined_number(const struct lined *line);
bool lined_is_sampled(const struct lined *line);
/* By how much its cost has increased. */
double lined_lost(const struct lined *line);

#endif
