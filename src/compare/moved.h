/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that only one side has, found again on the other under another name, or in another
 * procedure. */
#ifndef COMPARE_MOVED_H
#define COMPARE_MOVED_H

#include "sides.h"

/*
 * Units that one side alone has become one unit with what they are on the other: the same
 * instructions, block by block, under another name; or the procedure that they were inlined into.
 */
struct hp_error *sides_match_moved(struct sides *sides);

/* How much of two procedures' code is the same, from 0 to 1: of basic blocks, each by the number of
 * its instructions, what they share of the larger one. */
struct hp_error *moved_similarity(const struct code *a, const struct code *b, double *similarity);

#endif
