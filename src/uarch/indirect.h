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
	uint16_t newest;    /* last targets: a hash of where the branch went last */
	uint8_t confidence; /* 0 … 3 */
	uint8_t useful;	    /* 0 … 1 */
	bool has_several;   /* last targets: the branch has gone to more than one place */
	uint8_t seen;	    /* last targets: number of branches seen, up to COLD_EXECUTIONS */
};

struct uarch_indirect {
	struct uarch_target *last;   /* by address only */
	struct uarch_target *tagged; /* of all tables, one after the other */
	uint32_t mask;
	unsigned shift;
	unsigned tables;
	uint32_t random;
	uint64_t predicted; /* the last prediction */
};

bool uarch_indirect_create(struct uarch_indirect *indirect, const struct hp_uarch_predictor *sizes);
void uarch_indirect_destroy(struct uarch_indirect *indirect);
void uarch_indirect_reset(struct uarch_indirect *indirect);

/* Whether the target would have been predicted; learns it. `*is_cold`: the branch was seldom seen.
 * `*is_late`: it has gone to several places, so that its address alone does not tell. */
bool uarch_indirect_follow(struct uarch_indirect *indirect, const struct uarch_history *history,
			   uint64_t ip, uint64_t target, bool *is_cold, bool *is_late);

/* The target that would be predicted; learns nothing. */
uint64_t uarch_indirect_guess(const struct uarch_indirect *indirect,
			      const struct uarch_history *history, uint64_t ip);

#endif
