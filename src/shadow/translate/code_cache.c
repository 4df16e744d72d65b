/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code_cache.h"

#include "../tuning.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = CODE_PAGE_BYTES, SMALLEST_ZONE_BYTES = SMALLEST_ZONE_COPIES * COPIES_BYTES };
/* Spill words have a page of their own, since they are written all the time, by each shadow. */
enum { EXPECTED_LOG_AT = PAGE, COUNTERS_AT = EXPECTED_LOG_AT + CODE_EXPECTED_LOG_BYTES };

/* A memfd is a file. If the limit of file sizes is below the cache's size, several files are
 * used. */
static uint64_t largest_file(uint64_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur >= wanted)
		return wanted;
	return limit.rlim_cur & ~(uint64_t)(PAGE - 1);
}

static struct hp_error *too_small(uint64_t bytes, uint64_t wanted)
{
	struct hp_error *error =
		hp_error_create(bytes < wanted ? HP_ERROR_INSUFFICIENT : HP_ERROR_USAGE,
				"no shadow windows: %llu bytes are too few for translated code",
				(unsigned long long)bytes);

	if (bytes == wanted)
		return error;
	return hp_error_advise(error,
			       "the limit on file size is below the %d KiB that hpcprof needs: "
			       "ulimit -f unlimited",
			       (SHADOW_PLACES * SMALLEST_ZONE_BYTES / CODE_CACHE_FILES) >> 10);
}

/* Maps the files one after the other into the reserved range. */
static struct hp_error *map_files(struct code_cache *cache, uint8_t *memory, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += cache->file_bytes) {
		uint64_t left = bytes - at;
		uint64_t size = left < cache->file_bytes ? left : cache->file_bytes;
		int fd = memfd_create(CODE_CACHE_NAME, MFD_CLOEXEC);

		if (fd >= 0)
			cache->files[cache->file_count++] = fd;
		if (fd < 0 || ftruncate(fd, (off_t)size) < 0 ||
		    mmap(memory + at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			 0) == MAP_FAILED)
			return hp_error_create_errno(errno, "memory for translated code");
	}
	return NULL;
}

struct hp_error *code_cache_create(struct code_cache *cache, uint64_t wanted, bool logs)
{
	uint64_t file_bytes = largest_file(wanted);
	uint64_t bytes = file_bytes < wanted / CODE_CACHE_FILES ? file_bytes * CODE_CACHE_FILES
								: wanted;
	uint64_t zone_bytes = bytes / SHADOW_PLACES & ~(uint64_t)(8 * PAGE - 1);
	uint8_t *memory;

	*cache = (struct code_cache){ .file_bytes = file_bytes, .zone_bytes = zone_bytes };
	if (zone_bytes < SMALLEST_ZONE_BYTES)
		return too_small(bytes, wanted);
	cache->plans = logs ? calloc(PATH_MOST_BLOCKS, sizeof(struct path_plan *)) : NULL;
	if (logs && !cache->plans)
		return hp_error_create_no_memory();
	cache->code_bytes = zone_bytes / 8 * CODE_EIGHTHS;
	cache->constants_bytes = cache->data_bytes = zone_bytes / 8;
	memory = mmap(NULL, zone_bytes * SHADOW_PLACES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return hp_error_create_errno(errno, "memory for translated code");
	for (size_t i = 0; i < SHADOW_PLACES; i++) {
		cache->zones[i].code = memory + i * zone_bytes;
		cache->zones[i].constants = cache->zones[i].code + cache->code_bytes;
		cache->zones[i].data = cache->zones[i].constants + cache->constants_bytes;
	}
	return map_files(cache, memory, zone_bytes * SHADOW_PLACES);
}

void code_cache_destroy(struct code_cache *cache)
{
	code_cache_forget(cache);
	if (cache->zones[0].code)
		munmap(cache->zones[0].code, cache->zone_bytes * SHADOW_PLACES);
	for (size_t i = 0; i < cache->file_count; i++)
		close(cache->files[i]);
	free(cache->plans);
	free(cache->blocks.at);
	free(cache->exits.at);
	free(cache->sites.at);
	free(cache->pending.at);
	free(cache->moving.at);
	free(cache->expected.at);
	for (size_t i = 0; i < SHADOW_PLACES; i++)
		free(cache->zones[i].landings.at);
	shadow_table_free(&cache->by_address);
	shadow_table_free(&cache->by_page);
}

static void empty_zone(const struct code_cache *cache, struct code_zone *zone)
{
	uint64_t shift = zone->address - (uint64_t)(uintptr_t)zone->code;
	uint64_t bytes = cache->code_bytes - COPIES_BYTES;
	/* Blocks that log take twice the room. */
	uint64_t part = cache->plans ? bytes / 4 : bytes / 2;
	uint8_t *side = zone->code + part, *logged = side + part;

	zone->copies_start = zone->code + bytes;
	zone->blocks = (struct x86_emitter){ .at = zone->code, .end = side, .shift = shift };
	zone->side = (struct x86_emitter){ .at = side, .end = logged, .shift = shift };
	zone->logged =
		(struct x86_emitter){ .at = logged, .end = zone->copies_start, .shift = shift };
	zone->copies =
		(struct x86_emitter){ .at = zone->copies_start,
				      .end = zone->code + cache->code_bytes - CODE_GUARD_BYTES,
				      .shift = shift };
	zone->constants_address = zone->address + cache->code_bytes;
	zone->data_address = zone->constants_address + cache->constants_bytes;
	zone->counter_count = zone->constant_count = 0;
	zone->expected = NULL;
	zone->landings.count = 0;
}

static void forget_plans(struct code_cache *cache)
{
	for (size_t i = 0; cache->plans && i < cache->blocks.count && i < PATH_MOST_BLOCKS; i++) {
		free(cache->plans[i]);
		cache->plans[i] = NULL;
	}
}

void code_cache_forget(struct code_cache *cache)
{
	code_cache_zero_counters(cache);
	for (size_t i = 0; i < cache->sites.count; i++)
		free(cache->sites.at[i].targets.at);
	forget_plans(cache);
	cache->is_logging = cache->is_log_full = false;
	cache->blocks.count = cache->exits.count = 0;
	cache->sites.count = cache->pending.count = cache->moving.count = 0;
	cache->expected.count = 0;
	cache->count_starts = 0;
	shadow_table_empty(&cache->by_address);
	shadow_table_empty(&cache->by_page);
	for (size_t i = 0; i < cache->zone_count; i++)
		empty_zone(cache, &cache->zones[i]);
	cache->forgotten++;
}

void code_cache_place(struct code_cache *cache, const uint64_t *places, size_t count)
{
	cache->zone_count = count < SHADOW_PLACES ? count : SHADOW_PLACES;
	for (size_t i = 0; i < cache->zone_count; i++)
		cache->zones[i].address = places[i];
	code_cache_forget(cache);
}

void code_cache_zero_counters(struct code_cache *cache)
{
	for (size_t i = 0; i < cache->zone_count; i++) {
		memset(cache->zones[i].data + COUNTERS_AT, 0,
		       cache->zones[i].counter_count * sizeof(uint64_t));
		code_zone_empty_log(&cache->zones[i]);
	}
}

/* --- finding ---------------------------------------------------------------------------------- */

uint8_t code_cache_zone_near(const struct code_cache *cache, uint64_t address)
{
	for (uint8_t i = 0; i < cache->zone_count; i++)
		if (shadow_place_reaches(cache->zones[i].address, cache->zone_bytes, address,
					 address))
			return i;
	return 0;
}

struct code_zone *code_cache_zone_at(struct code_cache *cache, uint64_t address)
{
	for (size_t i = 0; i < cache->zone_count; i++)
		if (address - cache->zones[i].address < cache->code_bytes)
			return &cache->zones[i];
	return NULL;
}

uint32_t code_cache_find(const struct code_cache *cache, uint64_t address)
{
	return shadow_table_find(&cache->by_address, address);
}

/* Makes block `number` the one that is found at its address. */
static bool enter(struct code_cache *cache, uint32_t number)
{
	struct code_block *block = &cache->blocks.at[number];
	uint64_t page = block->address / PAGE;

	block->next_on_page = shadow_table_find(&cache->by_page, page);
	return shadow_table_put(&cache->by_address, block->address, number) &&
	       shadow_table_put(&cache->by_page, page, number);
}

uint32_t code_cache_add_block(struct code_cache *cache, const struct code_block *block)
{
	uint32_t number = (uint32_t)cache->blocks.count;

	if (!hp_vector_push(&cache->blocks, *block) || !enter(cache, number))
		return CODE_NO_NUMBER;
	return number;
}

uint32_t code_cache_add_exit(struct code_cache *cache, const struct code_exit *exit)
{
	uint32_t number = (uint32_t)cache->exits.count;

	return hp_vector_push(&cache->exits, *exit) ? number : CODE_NO_NUMBER;
}

/* --- moving ----------------------------------------------------------------------------------- */

static void move_zone(struct code_zone *zone, uint64_t by)
{
	zone->address += by;
	zone->constants_address += by;
	zone->data_address += by;
	zone->blocks.shift += by;
	zone->side.shift += by;
	zone->logged.shift += by;
	zone->copies.shift += by;
}

bool code_cache_move(struct code_cache *cache, const uint64_t by[SHADOW_PLACES],
		     bool (*stays)(void *context, uint64_t address), void *context)
{
	bool has_memory = true;

	for (size_t i = 0; i < cache->zone_count; i++)
		move_zone(&cache->zones[i], by[i]);
	for (size_t i = 0; i < cache->moving.count; i++)
		*cache->moving.at[i].word += by[cache->moving.at[i].zone];
	for (size_t i = 0; i < cache->exits.count; i++)
		cache->exits.at[i].address += by[cache->exits.at[i].zone];
	shadow_table_empty(&cache->by_address);
	shadow_table_empty(&cache->by_page);
	for (uint32_t i = 0; has_memory && i < cache->blocks.count; i++) {
		struct code_block *block = &cache->blocks.at[i];

		block->is_gone = block->is_gone || !stays(context, block->address);
		if (block->is_gone)
			continue;
		block->address += by[block->zone];
		block->last += by[block->zone];
		block->next += by[block->zone];
		block->target += by[block->zone];
		if (cache->plans && i < PATH_MOST_BLOCKS && cache->plans[i]) {
			cache->plans[i]->address += by[block->zone];
			cache->plans[i]->target += by[block->zone];
		}
		has_memory = enter(cache, i);
	}
	return has_memory;
}

/* --- data ------------------------------------------------------------------------------------- */

/* Whether a part of so many bytes, of which `used` are taken, has room. */
static bool has_room(struct code_zone *zone, uint64_t part_bytes, uint64_t used, uint64_t more)
{
	if (used + more > part_bytes - CODE_GUARD_BYTES)
		zone->blocks.is_full = true;
	return !zone->blocks.is_full;
}

uint32_t code_zone_counter(const struct code_cache *cache, struct code_zone *zone)
{
	uint32_t number = zone->counter_count;
	uint64_t offset = COUNTERS_AT + (uint64_t)number * 8;

	if (!has_room(zone, cache->data_bytes - (cache->plans ? PATH_LOG_BYTES : 0), offset, 8))
		return 0;
	zone->counter_count++;
	memset(zone->data + offset, 0, 8);
	return number;
}

uint64_t *code_zone_table(const struct code_cache *cache, struct code_zone *zone, size_t count,
			  uint64_t *address)
{
	uint64_t offset = (uint64_t)zone->constant_count * 8;

	if (!has_room(zone, cache->constants_bytes, offset, count * 8))
		return NULL;
	zone->constant_count += (uint32_t)count;
	*address = zone->constants_address + offset;
	return (uint64_t *)(void *)(zone->constants + offset);
}

uint64_t code_zone_constant(struct code_cache *cache, struct code_zone *zone, uint64_t value,
			    uint8_t with)
{
	struct code_moving moving = { .zone = with };
	uint64_t address = zone->constants_address;

	moving.word = code_zone_table(cache, zone, 1, &address);
	if (!moving.word)
		return address;
	*moving.word = value;
	if (!hp_vector_push(&cache->moving, moving))
		zone->blocks.is_full = true;
	return address;
}

/* --- where blocks go instead ------------------------------------------------------------------ */

void code_block_divert(struct code_block *block, const uint8_t *code)
{
	struct x86_emitter patch = { .at = block->code, .end = block->code + CODE_LINK_BYTES };

	if (!block->is_diverted && code)
		memcpy(block->plain, block->code, sizeof(block->plain));
	if (code)
		x86_patch(x86_jump(&patch), code);
	else if (block->is_diverted)
		memcpy(block->code, block->plain, sizeof(block->plain));
	block->is_diverted = code != NULL;
}

void code_cache_arm(struct code_cache *cache, struct code_block *block, const uint8_t *checks)
{
	if (block->is_gone)
		return;
	block->is_armed = checks != NULL;
	code_block_divert(block, checks ? checks : cache->is_logging ? block->logged : NULL);
}

static uint64_t log_offset(const struct code_cache *cache)
{
	return cache->data_bytes - CODE_GUARD_BYTES - PATH_LOG_BYTES;
}

bool code_cache_log(struct code_cache *cache, bool is_logging)
{
	if (is_logging && (!cache->plans || cache->is_log_full || !cache->zone_count))
		return false;
	if (is_logging)
		code_log_head(cache)[PATH_LOG_NEXT] = code_log_words_address(cache);
	if (cache->is_logging == is_logging)
		return true;
	cache->is_logging = is_logging;
	for (size_t i = 0; i < cache->blocks.count; i++)
		if (!cache->blocks.at[i].is_armed)
			code_cache_arm(cache, &cache->blocks.at[i], NULL);
	return true;
}

uint64_t *code_log_head(const struct code_cache *cache)
{
	return (uint64_t *)(void *)(cache->zones[0].data + log_offset(cache));
}

uint64_t code_log_address(const struct code_cache *cache)
{
	return cache->zones[0].data_address + log_offset(cache);
}

bool code_zone_is_full(const struct code_zone *zone)
{
	return zone->blocks.is_full || zone->side.is_full;
}

bool code_cache_is_full(const struct code_cache *cache)
{
	for (size_t i = 0; i < cache->zone_count; i++) {
		if (code_zone_is_full(&cache->zones[i]))
			return true;
	}
	return false;
}

uint64_t code_counter_address(const struct code_zone *zone, uint32_t counter)
{
	return zone->data_address + COUNTERS_AT + (uint64_t)counter * 8;
}

const struct code_went *code_zone_log(const struct code_zone *zone)
{
	return (const void *)(zone->data + EXPECTED_LOG_AT);
}

void code_zone_empty_log(struct code_zone *zone)
{
	*code_spilled(zone, CODE_EXPECTED_NEXT) = zone->data_address + EXPECTED_LOG_AT;
	*code_spilled(zone, CODE_EXPECTED_ROOM) = CODE_EXPECTED_ENTRIES;
}

uint64_t *code_spilled(const struct code_zone *zone, enum code_spill spill)
{
	return (uint64_t *)(void *)zone->data + spill;
}

uint64_t *code_counters(const struct code_zone *zone)
{
	return (uint64_t *)(void *)(zone->data + COUNTERS_AT);
}
