/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Targets of indirect jumps and calls, predicted as by ITTAGE: the last target by address, and
 * tables of tagged targets by address and history.
 */
#ifndef HPCPROF_SRC_UARCH_INDIRECT_H
#define HPCPROF_SRC_UARCH_INDIRECT_H

#include "history.h"

struct uarch_target {
	uint64_t target;
	uint16_t tag;
	uint16_t newest;    /* of the last targets: where the branch went the last time, a hash */
	uint8_t confidence; /* 0 … 3 */
	uint8_t useful;	    /* 0 … 1 */
	uint8_t seen; /* of the last targets: branches that were here, up to COLD_EXECUTIONS */
};

struct uarch_indirect {
	struct uarch_target *last;   /* by address alone */
	struct uarch_target *tagged; /* table by table */
	uint32_t mask;
	unsigned shift;
	unsigned tables, stride; /* a table has every so many-th length of history */
	uint32_t random;
	uint64_t predicted; /* the last one */
};

bool uarch_indirect_create(struct uarch_indirect *indirect, const struct hp_uarch_predictor *sizes);
void uarch_indirect_destroy(struct uarch_indirect *indirect);
void uarch_indirect_reset(struct uarch_indirect *indirect);

/* Whether the target would have been predicted; learns it. `*is_cold`: the branch was seldom seen;
 * `*is_late`: what is predicted is not where it went the last time. */
bool uarch_indirect_follow(struct uarch_indirect *indirect, const struct uarch_history *history,
			   uint64_t ip, uint64_t target, bool *is_cold, bool *is_late);

/* Where it would be predicted to go; learns nothing. */
uint64_t uarch_indirect_guess(const struct uarch_indirect *indirect,
			      const struct uarch_history *history, uint64_t ip);

#endif
