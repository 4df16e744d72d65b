/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

#include <math.h>
#include <string.h>

/* Odd, and otherwise at random. */
#define BASE   UINT64_C(0x9e3779b97f4a7c15)
#define SOURCE UINT64_C(0xd6e8feb86659fd93)

_Static_assert((int)HISTORY_ROOM > (int)HISTORY_MOST, "the sum before the longest history is kept");

void uarch_history_reset(struct uarch_history *history)
{
	memset(&history->hash, 0, sizeof(history->hash));
	memset(history->sums, 0, sizeof(history->sums));
	history->newest = 0;
}

static uint64_t power_of(uint32_t exponent)
{
	uint64_t power = 1;

	while (exponent-- > 0)
		power *= BASE;
	return power;
}

void uarch_history_create(struct uarch_history *history, const struct hp_uarch_predictor *sizes)
{
	double ratio = (double)sizes->longest_history / sizes->shortest_history;

	*history = (struct uarch_history){ .count = sizes->tagged_tables };
	for (unsigned i = 0; i < history->count; i++) {
		double exponent = history->count > 1 ? (double)i / (history->count - 1) : 1;

		history->length[i] = (uint32_t)(sizes->shortest_history * pow(ratio, exponent) + 0.5);
		history->power[i] = power_of(history->length[i]);
		if (history->length[i] <= AT_ONCE_HISTORY)
			history->short_one = i;
	}
	uarch_history_reset(history);
}

void uarch_history_add(struct uarch_history *history, uint64_t ip, uint64_t target)
{
	uint64_t sum = history->sums[history->newest++ % HISTORY_ROOM] * BASE + ip * SOURCE + target;

	history->sums[history->newest % HISTORY_ROOM] = sum;
	for (unsigned i = 0; i < history->count; i++) {
		uint64_t older = history->sums[(history->newest - history->length[i]) % HISTORY_ROOM];

		history->hash.at[i] = (uint32_t)((sum - older * history->power[i]) >> 32);
	}
}
