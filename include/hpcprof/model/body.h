/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fingerprint of a procedure's code, small enough to store in the database. With it a procedure
 * can be matched that has another name or another address, after its file is gone.
 *
 * The fingerprint has the smallest hashes of all runs of a few instructions. They are a random
 * sample of all runs (Broder 1997): the share of hashes that two fingerprints have in common
 * estimates the share of runs that the bodies have in common. The hashed instructions omit
 * addresses of code and data. `shape` also omits registers and numbers, which a small edit nearby
 * may change.
 */
#ifndef HPCPROF_MODEL_BODY_H
#define HPCPROF_MODEL_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_BODY_MOST_HASHES = 64 };

/* Procedures with a smaller share of all samples are not matched in another build. */
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

/* Adds the hash if it is one of the smallest so far. */
void hp_hashes_add(struct hp_hashes *hashes, uint32_t hash);

/* The similarity of two procedures, from 0 to 1; 0 if either has too few instructions. Different
 * procedures are hardly ever more similar than 0.2. */
double hp_body_similarity(const struct hp_body *a, const struct hp_body *b);

#endif
