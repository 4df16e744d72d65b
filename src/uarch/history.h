/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outcomes of earlier branches, for predictors: up to HISTORY_MOST outcomes, and hashes of the
 * latest outcomes for a geometric series of lengths, updated with each branch.
 */
#ifndef HPCPROF_SRC_UARCH_HISTORY_H
#define HPCPROF_SRC_UARCH_HISTORY_H

#include "tuning.h"

#include <hpcprof/uarch/geometry.h>

enum { HISTORY_ROOM = 4 * HISTORY_MOST };

/* One number per length; operations on all of them handle four at a time. */
typedef uint32_t uarch_vector __attribute__((vector_size(16)));
enum { VECTORS = TABLES_MOST / 4 };

union uarch_lanes {
	uarch_vector vector[VECTORS];
	uint32_t at[TABLES_MOST];
};

/* The newest `length` outcomes, folded to so many bits by exclusive or of the parts. */
struct uarch_fold {
	unsigned bits;
	uint32_t mask;
	union uarch_lanes now;
	union uarch_lanes leaving; /* the bit at which an outcome leaves */
};

struct uarch_history {
	unsigned count; /* number of lengths */
	size_t length[TABLES_MOST];
	unsigned short_one; /* index of the length that a fast predictor uses */
	struct uarch_fold index, tag;
	/* one bit of each branch's address; the newest is the lowest */
	uint32_t path;
	union uarch_lanes path_mask; /* the part of it that each length uses */
	/* Index of the newest outcome, which has at least HISTORY_MOST before it. When the buffer
	 * is full, these are moved to its beginning. */
	size_t newest;
	uint8_t outcomes[HISTORY_ROOM];
};

void uarch_history_create(struct uarch_history *history, const struct hp_uarch_predictor *sizes);
void uarch_history_reset(struct uarch_history *history);

/* Adds an outcome on which later branches may depend. */
void uarch_history_add(struct uarch_history *history, bool outcome);

/* Notes a branch that was taken, or might have been. */
static inline void uarch_history_pass(struct uarch_history *history, uint64_t ip)
{
	history->path = history->path << 1 | ((ip ^ ip >> 3) & 1);
}

/* A hash of an address of code; its low bits are as good as its high ones. */
static inline uint32_t uarch_hash(uint64_t ip)
{
	return (uint32_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#endif
