/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the code of a procedure is like, small enough to be kept: so it is known again under another
 * name, at another address, after its file is gone.
 *
 * Of the set of all runs of a few instructions the smallest hashes are kept, which are a fair sample
 * of it (Broder 1997): what share of them two bodies have in common is about what they have in
 * common of all. Instructions come without what only says where code and data lie; `shape` is
 * also without registers and numbers, which any edit nearby may change.
 */
#ifndef HPCPROF_MODEL_BODY_H
#define HPCPROF_MODEL_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_BODY_MOST_HASHES = 64 };

/* What costs less than this share of all that was recorded is not looked for in another build. */
#define HP_BODY_LEAST_SHARE 0.003

struct hp_hashes {
	uint32_t count;
	uint32_t at[HP_BODY_MOST_HASHES]; /* ascending, distinct */
};

struct hp_body {
	uint32_t instructions; /* without padding; 0: nothing is known */
	struct hp_hashes exact;
	struct hp_hashes shape;
};

/* Takes a hash in, if it is one of the smallest so far. */
void hp_hashes_add(struct hp_hashes *hashes, uint32_t hash);

/* How much two procedures are alike, from 0 to 1; 0 where either has too few instructions to be told
 * from others. What is not the same is hardly ever more than 0.2 alike. */
double hp_body_similarity(const struct hp_body *a, const struct hp_body *b);

#endif
