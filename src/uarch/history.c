/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

#include <math.h>
#include <string.h>

_Static_assert((int)HISTORY_MOST < (int)HISTORY_KEPT, "an outcome leaves before it is overwritten");

static void prepare(struct uarch_fold *fold, unsigned bits, const struct uarch_history *history)
{
	fold->bits = bits;
	for (unsigned i = 0; i < history->count; i++)
		fold->leaving[i] = UINT32_C(1) << (history->length[i] % bits);
}

void uarch_history_create(struct uarch_history *history, const struct hp_uarch_predictor *sizes)
{
	double ratio = (double)sizes->longest_history / sizes->shortest_history;

	*history = (struct uarch_history){ .count = sizes->tagged_tables };
	for (unsigned i = 0; i < history->count; i++) {
		double exponent = history->count > 1 ? (double)i / (history->count - 1) : 1;

		history->length[i] =
			(uint32_t)(sizes->shortest_history * pow(ratio, exponent) + 0.5);
	}
	prepare(&history->index, (unsigned)__builtin_ctz(sizes->tagged_entries), history);
	prepare(&history->tag, TAG_BITS, history);
	prepare(&history->tag_too, TAG_BITS - 1, history);
}

static void forget(struct uarch_fold *fold)
{
	memset(fold->at, 0, sizeof(fold->at));
}

void uarch_history_reset(struct uarch_history *history)
{
	forget(&history->index);
	forget(&history->tag);
	forget(&history->tag_too);
	memset(history->outcomes, 0, sizeof(history->outcomes));
	history->path = 0;
	history->newest = 0;
}

/* For all lengths alike, so that a compiler may do several at once. */
static inline void fold_in(struct uarch_fold *fold, uint32_t outcome, const uint32_t *left)
{
	unsigned bits = fold->bits;
	uint32_t mask = (UINT32_C(1) << bits) - 1;

	for (unsigned i = 0; i < TABLES_MOST; i++) {
		uint32_t value = (fold->at[i] << 1 | outcome) ^ (fold->leaving[i] & left[i]);

		fold->at[i] = (value ^ value >> bits) & mask;
	}
}

void uarch_history_add(struct uarch_history *history, bool outcome)
{
	uint32_t left[TABLES_MOST] = { 0 }; /* all bits set where a set one leaves */

	for (unsigned i = 0; i < history->count; i++)
		left[i] = -(uint32_t)history->outcomes[(history->newest - history->length[i] + 1) &
						       (HISTORY_KEPT - 1)];
	history->newest = (history->newest + 1) & (HISTORY_KEPT - 1);
	history->outcomes[history->newest] = outcome;
	fold_in(&history->index, outcome, left);
	fold_in(&history->tag, outcome, left);
	fold_in(&history->tag_too, outcome, left);
}
