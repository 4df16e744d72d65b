/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The direction of conditional branches by TAGE: a table of counters by address, and tables of
 * tagged counters by address and by histories of increasing length. The longest history with an
 * entry predicts.
 */
#ifndef HPCPROF_SRC_UARCH_TAGE_H
#define HPCPROF_SRC_UARCH_TAGE_H

#include "history.h"

struct uarch_base {
	int8_t counter; /* -2 … 1; taken from 0 on */
	int8_t at_once; /* the same, over all predictions together */
	uint8_t seen;	/* number of branches seen, up to COLD_EXECUTIONS */
};

struct uarch_tagged {
	uint16_t tag;
	int8_t counter; /* -4 … 3 */
	uint8_t useful; /* 0 … 3 */
};

/* The branch differs, with a short history, from what its address alone predicts. */
struct uarch_at_once {
	uint16_t tag;
	int8_t counter; /* -2 … 1 */
};

struct uarch_tage {
	struct uarch_base *base;
	struct uarch_at_once at_once[AT_ONCE_ENTRIES];
	struct uarch_tagged *tagged; /* of all tables, one after the other */
	union uarch_lanes first;     /* index of each table's first entry; 0 for missing tables */
	uint32_t base_mask, tagged_mask;
	unsigned tables, tagged_shift;
	int trust_new;	 /* how much better the next longest history predicts than a new entry */
	uint32_t random; /* chooses among tables for a new entry */
	uint32_t aging;	 /* failed allocations minus successful ones */

	/* for the branch that was predicted last */
	struct uarch_base *in_base;
	struct uarch_tagged *provider, *next; /* NULL: the base predictor */
	/* index of the first table with a longer history than the provider's */
	unsigned above;
	union uarch_lanes index; /* relative to the first entry of all tables */
	union uarch_lanes tag;
	bool is_taken, provider_says, next_says;
	struct uarch_at_once *in_at_once;
	uint16_t at_once_tag;
	bool soon_says; /* prediction by address and a short history */
};

bool uarch_tage_create(struct uarch_tage *tage, const struct hp_uarch_predictor *sizes);
void uarch_tage_destroy(struct uarch_tage *tage);
void uarch_tage_reset(struct uarch_tage *tage);

/* Predicts whether the branch is taken. Afterwards uarch_tage_learn must be called for it. */
bool uarch_tage_predict(struct uarch_tage *tage, const struct uarch_history *history, uint64_t ip);
void uarch_tage_learn(struct uarch_tage *tage, bool taken);
/* Whether the branch that was predicted was seldom seen. */
static inline bool uarch_tage_is_cold(const struct uarch_tage *tage)
{
	return tage->in_base->seen < COLD_EXECUTIONS;
}

#endif
