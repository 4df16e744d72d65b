/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

#include <math.h>
#include <string.h>

static void prepare(struct uarch_fold *fold, unsigned bits, const struct uarch_history *history)
{
	fold->bits = bits;
	fold->mask = (UINT32_C(1) << bits) - 1;
	for (unsigned i = 0; i < history->count; i++)
		fold->leaving.at[i] = UINT32_C(1) << (history->length[i] % bits);
}

static void forget(struct uarch_fold *fold)
{
	memset(&fold->now, 0, sizeof(fold->now));
}

void uarch_history_reset(struct uarch_history *history)
{
	forget(&history->index);
	forget(&history->tag);
	memset(history->outcomes, 0, sizeof(history->outcomes));
	history->path = 0;
	history->newest = HISTORY_MOST;
}

/* Returns the least prime of the table that is not less than `bits`, or else the largest. If every
 * second or third branch always goes the same way, parts whose length is a multiple of that would
 * have these branches at the same bits and carry less information; a prime length avoids this. */
static unsigned odd_bits(unsigned bits)
{
	static const uint8_t primes[] = { 5, 7, 11, 13, 17, 19 };
	unsigned i = 0;

	while (i + 1 < sizeof(primes) && primes[i] < bits)
		i++;
	return primes[i];
}

void uarch_history_create(struct uarch_history *history, const struct hp_uarch_predictor *sizes)
{
	double ratio = (double)sizes->longest_history / sizes->shortest_history;
	unsigned index_bits;

	*history = (struct uarch_history){ .count = sizes->tagged_tables };
	for (unsigned i = history->count; i < TABLES_MOST; i++)
		history->length[i] = 1; /* computed like the others, but not used */
	for (unsigned i = 0; i < history->count; i++) {
		double exponent = history->count > 1 ? (double)i / (history->count - 1) : 1;

		history->length[i] = (size_t)(sizes->shortest_history * pow(ratio, exponent) + 0.5);
		if (history->length[i] <= AT_ONCE_HISTORY)
			history->short_one = i;
		history->path_mask.at[i] = history->length[i] < PATH_BITS
						   ? (UINT32_C(1) << history->length[i]) - 1
						   : (UINT32_C(1) << PATH_BITS) - 1;
	}
	index_bits = odd_bits((unsigned)__builtin_ctz(sizes->tagged_entries));
	prepare(&history->index, index_bits, history);
	prepare(&history->tag, index_bits == TAG_BITS ? TAG_BITS + 2 : TAG_BITS, history);
	uarch_history_reset(history);
}

/* All bits of the elements of a vector whose bit is set. */
#define ALL(bits, bit) ((bits) >> (bit)&1 ? UINT32_MAX : 0)
#define SPREAD(bits)                                                                               \
	{                                                                                          \
		ALL(bits, 0), ALL(bits, 1), ALL(bits, 2), ALL(bits, 3)                             \
	}
static const uarch_vector spread[16] = {
	SPREAD(0),  SPREAD(1),	SPREAD(2),  SPREAD(3),	SPREAD(4),  SPREAD(5),
	SPREAD(6),  SPREAD(7),	SPREAD(8),  SPREAD(9),	SPREAD(10), SPREAD(11),
	SPREAD(12), SPREAD(13), SPREAD(14), SPREAD(15),
};

/* `leave`: one bit per length whose oldest outcome leaves and was taken. */
static inline void fold_in(struct uarch_fold *fold, bool outcome, uint32_t leave)
{
	uarch_vector enters = spread[15u * outcome] & 1;

	for (unsigned i = 0; i < VECTORS; i++) {
		uarch_vector left = fold->leaving.vector[i] & spread[leave >> 4 * i & 15];
		uarch_vector value = (fold->now.vector[i] << 1 | enters) ^ left;

		fold->now.vector[i] = (value ^ value >> fold->bits) & fold->mask;
	}
}

void uarch_history_add(struct uarch_history *history, bool outcome)
{
	const uint8_t *next = &history->outcomes[history->newest + 1];
	uint32_t leave = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < TABLES_MOST; i++)
		leave |= (uint32_t)next[-(ptrdiff_t)history->length[i]] << i;
	if (history->newest + 1 == HISTORY_ROOM) {
		memcpy(history->outcomes, next - HISTORY_MOST, HISTORY_MOST);
		history->newest = HISTORY_MOST - 1;
	}
	history->outcomes[++history->newest] = outcome;
	fold_in(&history->index, outcome, leave);
	fold_in(&history->tag, outcome, leave);
}
