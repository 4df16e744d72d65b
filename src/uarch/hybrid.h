/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Predicts the direction of conditional branches with two tables of counters, one by address and
 * one by address and history (gshare), and a third table that chooses between them: McFarling,
 * "Combining branch predictors", DEC WRL TN-36, 1993. Cores had this before TAGE.
 */
#ifndef HPCPROF_SRC_UARCH_HYBRID_H
#define HPCPROF_SRC_UARCH_HYBRID_H

#include "history.h"

struct uarch_hybrid {
	uint8_t *by_address; /* counters, 0 … 3; taken from 2 on */
	uint8_t *by_history;
	uint8_t *choice; /* 2 and more: use the history */
	uint8_t *seen;	 /* by address: number of branches seen, up to COLD_EXECUTIONS */
	uint32_t mask;
	uint64_t history; /* the newest outcome is the lowest bit */
	/* indices for the branch that was predicted last. */
	uint32_t address, both;
};

bool uarch_hybrid_create(struct uarch_hybrid *hybrid, const struct hp_uarch_predictor *sizes);
void uarch_hybrid_destroy(struct uarch_hybrid *hybrid);
void uarch_hybrid_reset(struct uarch_hybrid *hybrid);

/* Predicts whether the branch is taken. */
bool uarch_hybrid_predict(struct uarch_hybrid *hybrid, uint64_t ip);
/* Learns the outcome of the branch that was predicted. `*is_cold`: it was seldom seen. */
void uarch_hybrid_learn(struct uarch_hybrid *hybrid, bool taken, bool *is_cold);

#endif
