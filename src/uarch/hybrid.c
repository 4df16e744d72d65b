/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hybrid.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3, TAKEN = 2 };

bool uarch_hybrid_create(struct uarch_hybrid *hybrid, const struct hp_uarch_predictor *sizes)
{
	size_t entries = sizes->base_entries;

	*hybrid = (struct uarch_hybrid){
		.mask = sizes->base_entries - 1,
		.by_address = calloc(entries, 1),
		.by_history = calloc(entries, 1),
		.choice = calloc(entries, 1),
		.seen = calloc(entries, 1),
	};
	if (!hybrid->by_address || !hybrid->by_history || !hybrid->choice || !hybrid->seen)
		return false;
	uarch_hybrid_reset(hybrid);
	return true;
}

void uarch_hybrid_destroy(struct uarch_hybrid *hybrid)
{
	free(hybrid->by_address);
	free(hybrid->by_history);
	free(hybrid->choice);
	free(hybrid->seen);
	*hybrid = (struct uarch_hybrid){ 0 };
}

void uarch_hybrid_reset(struct uarch_hybrid *hybrid)
{
	size_t entries = hybrid->mask + 1U;

	if (!hybrid->by_address)
		return;
	memset(hybrid->by_address, TAKEN - 1, entries);
	memset(hybrid->by_history, TAKEN - 1, entries);
	memset(hybrid->choice, TAKEN - 1, entries);
	memset(hybrid->seen, 0, entries);
	hybrid->history = 0;
}

bool uarch_hybrid_predict(struct uarch_hybrid *hybrid, uint64_t ip)
{
	uint32_t hash = uarch_hash(ip) >> 7;

	hybrid->address = hash & hybrid->mask;
	hybrid->both = (hash ^ (uint32_t)hybrid->history) & hybrid->mask;
	return (hybrid->choice[hybrid->both] >= TAKEN
			? hybrid->by_history[hybrid->both]
			: hybrid->by_address[hybrid->address]) >= TAKEN;
}

static void count(uint8_t *counter, bool up)
{
	*counter = (uint8_t)(*counter + (up & (*counter < MOST)) - (!up & (*counter > 0)));
}

void uarch_hybrid_learn(struct uarch_hybrid *hybrid, bool taken, bool *is_cold)
{
	uint8_t *by_address = &hybrid->by_address[hybrid->address];
	uint8_t *by_history = &hybrid->by_history[hybrid->both];
	uint8_t *seen = &hybrid->seen[hybrid->address];

	if ((*by_address >= TAKEN) != (*by_history >= TAKEN))
		count(&hybrid->choice[hybrid->both], (*by_history >= TAKEN) == taken);
	count(by_address, taken);
	count(by_history, taken);
	hybrid->history = hybrid->history << 1 | taken;
	*is_cold = *seen < COLD_EXECUTIONS;
	*seen = (uint8_t)(*seen + *is_cold);
}
