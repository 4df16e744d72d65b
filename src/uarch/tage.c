/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tage.h"

#include <stdlib.h>
#include <string.h>

bool uarch_tage_create(struct uarch_tage *tage, const struct hp_uarch_predictor *sizes)
{
	*tage = (struct uarch_tage){
		.base_mask = sizes->base_entries - 1,
		.tagged_mask = sizes->tagged_entries - 1,
		.tables = sizes->tagged_tables,
		.tagged_shift = (unsigned)__builtin_ctz(sizes->tagged_entries),
	};
	for (unsigned i = 0; i < tage->tables; i++)
		tage->first.at[i] = i << tage->tagged_shift;
	tage->base = calloc(sizes->base_entries, sizeof(*tage->base));
	tage->tagged =
		calloc((size_t)sizes->tagged_entries * sizes->tagged_tables, sizeof(*tage->tagged));
	uarch_tage_reset(tage);
	return tage->base && tage->tagged;
}

void uarch_tage_destroy(struct uarch_tage *tage)
{
	free(tage->base);
	free(tage->tagged);
	tage->base = NULL;
	tage->tagged = NULL;
}

static size_t tagged_count(const struct uarch_tage *tage)
{
	return (size_t)tage->tables << tage->tagged_shift;
}

void uarch_tage_reset(struct uarch_tage *tage)
{
	if (tage->base)
		memset(tage->base, 0, ((size_t)tage->base_mask + 1) * sizeof(*tage->base));
	if (tage->tagged)
		memset(tage->tagged, 0, tagged_count(tage) * sizeof(*tage->tagged));
	memset(tage->at_once, 0, sizeof(tage->at_once));
	tage->trust_new = 0;
	tage->random = 1;
	tage->aging = 0;
}

/* --- asked ------------------------------------------------------------------------------------ */

/* Finds the branch's index in each table. No tag is 0, the tag of empty entries. */
static void find_places(struct uarch_tage *tage, const struct uarch_history *history, uint32_t hash)
{
	uint32_t place = hash ^ hash >> tage->tagged_shift;

	for (unsigned i = 0; i < VECTORS; i++) {
		uarch_vector path = history->hash.vector[i];

		tage->index.vector[i] = ((path ^ place) & tage->tagged_mask) + tage->first.vector[i];
		tage->tag.vector[i] = ((path >> (32 - TAG_BITS) ^ hash >> 12) & TAG_MASK) + 1;
	}
}

static struct uarch_tagged *entry_of(const struct uarch_tage *tage, unsigned table)
{
	return &tage->tagged[tage->index.at[table]];
}

/* The entry with the longest history in these tables; NULL: none. */
static struct uarch_tagged *longest_of(const struct uarch_tage *tage, uint32_t tables)
{
	return tables ? entry_of(tage, 31 - (unsigned)__builtin_clz(tables)) : NULL;
}

static bool is_new(const struct uarch_tagged *entry)
{
	return entry->useful == 0 && (entry->counter == 0 || entry->counter == -1);
}

static void predict_at_once(struct uarch_tage *tage, unsigned table)
{
	tage->in_at_once = &tage->at_once[tage->index.at[table] & (AT_ONCE_ENTRIES - 1)];
	tage->at_once_tag = (uint16_t)tage->tag.at[table];
	tage->soon_says = (tage->in_at_once->tag == tage->at_once_tag
				   ? tage->in_at_once->counter
				   : tage->in_base->at_once) >= 0;
}

/* This code has no branches: which tables have an entry is hard to predict for the host's CPU. */
bool uarch_tage_predict(struct uarch_tage *tage, const struct uarch_history *history, uint64_t ip)
{
	uint32_t hash = uarch_hash(ip);
	uint32_t found = 0;

	find_places(tage, history, hash);
#pragma GCC unroll 8
	for (unsigned i = 0; i < TABLES_MOST; i++)
		found |= (uint32_t)(entry_of(tage, i)->tag == tage->tag.at[i]) << i;
	found &= (1u << tage->tables) - 1;
	tage->in_base = &tage->base[hash >> 7 & tage->base_mask];
	tage->above = found ? 32 - (unsigned)__builtin_clz(found) : 0;
	tage->provider = longest_of(tage, found);
	tage->next = longest_of(tage, found & ((1u << tage->above >> 1) - 1));
	tage->next_says = (tage->next ? tage->next->counter : tage->in_base->counter) >= 0;
	tage->provider_says = tage->provider ? tage->provider->counter >= 0 : tage->next_says;
	tage->is_taken = tage->provider && tage->trust_new > 0 && is_new(tage->provider)
				 ? tage->next_says
				 : tage->provider_says;
	predict_at_once(tage, history->short_one);
	return tage->is_taken;
}

/* --- learnt ----------------------------------------------------------------------------------- */

static void count(int8_t *counter, bool up, int least, int most)
{
	*counter = (int8_t)(*counter + (up & (*counter < most)) - (!up & (*counter > least)));
}

static void count_tagged(struct uarch_tagged *entry, bool taken)
{
	count(&entry->counter, taken, -4, 3);
}

static uint32_t next_random(struct uarch_tage *tage)
{
	tage->random ^= tage->random << 13;
	tage->random ^= tage->random >> 17;
	tage->random ^= tage->random << 5;
	return tage->random;
}

/* Entries that stay useful forever would leave no room, so all become less useful after many
 * failures. */
static void age(struct uarch_tage *tage, bool found)
{
	if (found && tage->aging > 0)
		tage->aging--;
	else if (!found && ++tage->aging >= AGING_FAILURES) {
		for (size_t i = 0; i < tagged_count(tage); i++)
			tage->tagged[i].useful >>= 1;
		tage->aging = 0;
	}
}

/* Allocates an entry with a longer history than the one that was wrong. */
static void allocate(struct uarch_tage *tage, bool taken)
{
	unsigned table = tage->above;
	bool found = false;

	/* Not always the next table, so that branches that share its entries do not replace each
	 * other alternately. */
	if (table + 1 < tage->tables && (next_random(tage) & 1)) {
		table++;
		if (table + 1 < tage->tables && (next_random(tage) & 1))
			table++;
	}
	for (; table < tage->tables && !found; table++) {
		struct uarch_tagged *entry = entry_of(tage, table);

		if (entry->useful > 0)
			continue;
		*entry = (struct uarch_tagged){ (uint16_t)tage->tag.at[table], taken ? 0 : -1, 0 };
		found = true;
	}
	for (table = tage->above; table < tage->tables && !found; table++)
		if (entry_of(tage, table)->useful > 0)
			entry_of(tage, table)->useful--;
	age(tage, found);
}

static void learn_provider(struct uarch_tage *tage, bool taken)
{
	struct uarch_tagged *provider = tage->provider;

	if (is_new(provider) && tage->provider_says != tage->next_says) {
		if (tage->next_says == taken && tage->trust_new < 7)
			tage->trust_new++;
		else if (tage->next_says != taken && tage->trust_new > -8)
			tage->trust_new--;
	}
	if (provider->useful == 0) {
		if (tage->next)
			count_tagged(tage->next, taken);
		else
			count(&tage->in_base->counter, taken, -2, 1);
	}
	count_tagged(provider, taken);
	if (tage->provider_says != tage->next_says) {
		if (tage->provider_says == taken && provider->useful < 3)
			provider->useful++;
		else if (tage->provider_says != taken && provider->useful > 0)
			provider->useful--;
	}
}

static void learn_at_once(struct uarch_tage *tage, bool taken)
{
	struct uarch_at_once *entry = tage->in_at_once;

	if (entry->tag == tage->at_once_tag)
		count(&entry->counter, taken, -2, 1);
	else if (tage->soon_says != taken)
		*entry = (struct uarch_at_once){ tage->at_once_tag, taken ? 0 : -1 };
	count(&tage->in_base->at_once, taken, -2, 1);
}

void uarch_tage_learn(struct uarch_tage *tage, bool taken)
{
	/* A branch whose entry was right, although it was not used, needs no other entry. */
	if (tage->is_taken != taken && tage->above < tage->tables &&
	    !(tage->provider && tage->provider_says == taken))
		allocate(tage, taken);
	if (tage->provider)
		learn_provider(tage, taken);
	else
		count(&tage->in_base->counter, taken, -2, 1);
	learn_at_once(tage, taken);
	tage->in_base->seen =
		(uint8_t)(tage->in_base->seen + (tage->in_base->seen < COLD_EXECUTIONS));
}
