/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds procedures of one side on the other side, where they have another name or are part of
 * another procedure.
 */
#ifndef COMPARE_MOVED_H
#define COMPARE_MOVED_H

#include "sides.h"
#include "tuning.h"

#include <hpcprof/image/body.h>

/*
 * Merges units that exist on one side only with what they are on the other side: the same
 * instructions, block by block, under another name; or the procedure that they were inlined into.
 */
struct hp_error *sides_match_moved(struct sides *sides);

/* The body of the code, from its file or as kept in the epochs, if known. */
void moved_body(const struct code *code, struct hp_body *body);

#endif
