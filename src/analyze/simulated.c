/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulated.h"

#include "tuning.h"

#include <hpcprof/base/hash.h>

#include <string.h>

struct simulated {
	UT_hash_handle hh;
	struct hp_schedule_row *rows; /* one row per instruction of the region */
	uint32_t words[];	      /* the key, followed by the rows */
};

struct hp_schedules {
	struct simulated *by_key;
	size_t bytes;
};

struct hp_schedules *hp_schedules_create(void)
{
	return calloc(1, sizeof(struct hp_schedules));
}

static void forget(struct hp_schedules *schedules)
{
	HP_HASH_FREE(schedules->by_key);
	schedules->bytes = 0;
}

void hp_schedules_destroy(struct hp_schedules *schedules)
{
	if (!schedules)
		return;
	forget(schedules);
	free(schedules);
}

static size_t most_words(const struct region *region)
{
	size_t words = 2 + sizeof(const struct hp_core *) / sizeof(uint32_t) +
		       sizeof(double) / sizeof(uint32_t);

	for (uint32_t i = 0; i < region->count; i++)
		words += 3 + 2 * (size_t)region->costs[i].use_count;
	return words + 3 * (size_t)region->first[region->count];
}

static void add(struct simulated_key *key, uint32_t word)
{
	key->words[key->count++] = word;
}

static void add_bytes(struct simulated_key *key, const void *bytes, size_t size)
{
	memcpy(key->words + key->count, bytes, size);
	key->count += size / sizeof(uint32_t);
}

static void add_instruction(struct simulated_key *key, const struct region *region, uint32_t at)
{
	const struct hp_cost *cost = &region->costs[at];

	add(key, (uint32_t)cost->slots << 16 | cost->latency);
	add(key, (uint32_t)cost->use_count << 1 | cost->is_serializing);
	for (size_t i = 0; i < cost->use_count; i++) {
		add(key, cost->uses[i].units);
		add(key, cost->uses[i].cycles);
	}
	add(key, region->first[at + 1] - region->first[at]);
	for (uint32_t d = region->first[at]; d < region->first[at + 1]; d++) {
		const struct dependence *one = &region->dependences[d];

		add(key, one->producer);
		add(key, one->distance);
		add(key, (uint32_t)one->cycles);
	}
}

bool simulated_key(const struct region *region, bool is_carried, double cycles,
		   struct hp_arena *arena, struct simulated_key *key)
{
	key->count = 0;
	key->words = hp_arena_array(arena, most_words(region), sizeof(*key->words));
	if (!key->words)
		return false;
	add_bytes(key, &region->options->machine, sizeof(region->options->machine));
	add_bytes(key, &cycles, sizeof(cycles));
	add(key, region->count);
	add(key, is_carried);
	for (uint32_t at = 0; at < region->count; at++)
		add_instruction(key, region, at);
	return true;
}

bool simulated_find(const struct hp_schedules *schedules, const struct simulated_key *key,
		    struct hp_schedule *schedule)
{
	struct simulated *found;

	HASH_FIND(hh, schedules->by_key, key->words, key->count * sizeof(*key->words), found);
	if (found)
		memcpy(schedule->rows, found->rows, schedule->count * sizeof(*schedule->rows));
	return found;
}

void simulated_keep(struct hp_schedules *schedules, const struct simulated_key *key,
		    const struct hp_schedule *schedule)
{
	size_t key_bytes = key->count * sizeof(*key->words);
	size_t padding = -key_bytes % sizeof(double);
	size_t row_bytes = schedule->count * sizeof(*schedule->rows);
	size_t bytes = sizeof(struct simulated) + key_bytes + padding + row_bytes;
	struct simulated *made;

	if (schedules->bytes + bytes > SIMULATED_MOST_BYTES)
		forget(schedules);
	if (bytes > SIMULATED_MOST_BYTES)
		return;
	made = malloc(bytes);
	if (!made)
		return;
	made->rows = (void *)((char *)made->words + key_bytes + padding);
	memcpy(made->words, key->words, key_bytes);
	memcpy(made->rows, schedule->rows, row_bytes);
	HASH_ADD_KEYPTR(hh, schedules->by_key, made->words, key_bytes, made);
	if (made->hh.tbl)
		schedules->bytes += bytes;
	else
		free(made);
}
