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
 * Units that one side alone has become one unit with what they are on the other: the same
 * instructions, block by block, under another name; or the procedure that they were inlined into.
 */
struct hp_error *sides_match_moved(struct sides *sides);

/* What is known of the code, if anything is: from its file, or kept in the epochs. */
void moved_body(const struct code *code, struct hp_body *body);

#endif
