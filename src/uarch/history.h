/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path to a branch, for predictors: the branches that were taken before it, in order. What was not taken
 * leaves no trace. On Zen 5 a branch that follows from another is foretold whatever number of branches lies
 * between that are not taken, and some 130 that are (scripts/machine/measure_core); Intel's cores remember
 * 93 or 194 taken ones, by where they are and go: Yavarzadeh et al., "Half&Half: Demystifying Intel's
 * Directional Branch Predictors", IEEE S&P 2023.
 */
#ifndef HPCPROF_SRC_UARCH_HISTORY_H
#define HPCPROF_SRC_UARCH_HISTORY_H

#include "tuning.h"

#include <hpcprof/uarch/geometry.h>

enum { HISTORY_ROOM = 512 }; /* a power of two, more than HISTORY_MOST */

/* One number per length; operations on all of them handle four at a time. */
typedef uint32_t uarch_vector __attribute__((vector_size(16)));
enum { VECTORS = TABLES_MOST / 4 };

union uarch_lanes {
	uarch_vector vector[VECTORS];
	uint32_t at[TABLES_MOST];
};

struct uarch_history {
	unsigned count; /* number of lengths, a geometric series */
	uint32_t length[TABLES_MOST];
	unsigned short_one; /* index of the length that a fast predictor uses */
	/* A hash of the newest `length` branches; all of its bits depend on all of them. */
	union uarch_lanes hash;

	uint32_t newest; /* number of the newest branch */
	/* By number: the polynomial of all branches up to there, the oldest with the highest power. That of the
	 * newest ones is the last sum less an older one, which is to be multiplied by this power. */
	uint64_t sums[HISTORY_ROOM];
	uint64_t power[TABLES_MOST];
};

void uarch_history_create(struct uarch_history *history, const struct hp_uarch_predictor *sizes);
void uarch_history_reset(struct uarch_history *history);

/* Adds a branch that is taken. */
void uarch_history_add(struct uarch_history *history, uint64_t ip, uint64_t target);

/* A hash of an address of code; its low bits are as good as its high ones. */
static inline uint32_t uarch_hash(uint64_t ip)
{
	return (uint32_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#endif
