/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code_cache.h"

#include "../tuning.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, SMALLEST_ZONE_BYTES = SMALLEST_ZONE_COPIES * COPIES_BYTES };
/* Spills have a page of their own: they are written all the time, and by every shadow anew. */
enum { COUNTERS_AT = PAGE };

/* A memfd is a file: where files may not be as large as the cache, it is of several. */
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

/* Files, one behind the other in what is reserved for them. */
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

struct hp_error *code_cache_create(struct code_cache *cache, uint64_t wanted)
{
	uint64_t file_bytes = largest_file(wanted);
	uint64_t bytes = file_bytes < wanted / CODE_CACHE_FILES ? file_bytes * CODE_CACHE_FILES
								: wanted;
	uint64_t zone_bytes = bytes / SHADOW_PLACES & ~(uint64_t)(8 * PAGE - 1);
	uint8_t *memory;

	*cache = (struct code_cache){ .file_bytes = file_bytes, .zone_bytes = zone_bytes };
	if (zone_bytes < SMALLEST_ZONE_BYTES)
		return too_small(bytes, wanted);
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
	free(cache->blocks.at);
	free(cache->exits.at);
	free(cache->sites.at);
	free(cache->pending.at);
	free(cache->moving.at);
	shadow_table_free(&cache->by_address);
	shadow_table_free(&cache->by_page);
}

static void empty_zone(const struct code_cache *cache, struct code_zone *zone)
{
	uint64_t shift = zone->address - (uint64_t)(uintptr_t)zone->code;
	uint64_t half = (cache->code_bytes - COPIES_BYTES) / 2;
	uint8_t *side = zone->code + half;

	zone->copies_start = side + half;
	zone->blocks = (struct x86_emitter){ .at = zone->code, .end = side, .shift = shift };
	zone->side = (struct x86_emitter){ .at = side, .end = zone->copies_start, .shift = shift };
	zone->copies =
		(struct x86_emitter){ .at = zone->copies_start,
				      .end = zone->code + cache->code_bytes - CODE_GUARD_BYTES,
				      .shift = shift };
	zone->constants_address = zone->address + cache->code_bytes;
	zone->data_address = zone->constants_address + cache->constants_bytes;
	zone->counter_count = zone->constant_count = 0;
}

void code_cache_forget(struct code_cache *cache)
{
	code_cache_zero_counters(cache);
	for (size_t i = 0; i < cache->sites.count; i++)
		free(cache->sites.at[i].targets.at);
	cache->blocks.count = cache->exits.count = 0;
	cache->sites.count = cache->pending.count = cache->moving.count = 0;
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
	for (size_t i = 0; i < cache->zone_count; i++)
		memset(cache->zones[i].data + COUNTERS_AT, 0,
		       cache->zones[i].counter_count * sizeof(uint64_t));
}

/* --- finding
 * ---------------------------------------------------------------------------------------
 */

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

/* Where the block `number` is found from now on. */
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

/* --- moving
 * ----------------------------------------------------------------------------------------
 */

static void move_zone(struct code_zone *zone, uint64_t by)
{
	zone->address += by;
	zone->constants_address += by;
	zone->data_address += by;
	zone->blocks.shift += by;
	zone->side.shift += by;
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
		has_memory = enter(cache, i);
	}
	return has_memory;
}

/* --- data
 * ------------------------------------------------------------------------------------------
 */

/* Of a part of so many bytes, `used` of them. */
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

	if (!has_room(zone, cache->data_bytes, offset, 8))
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

void code_block_disarm(struct code_block *block)
{
	if (block->is_armed)
		memcpy(block->code, block->unarmed, sizeof(block->unarmed));
	block->is_armed = false;
}

bool code_zone_is_full(const struct code_zone *zone)
{
	return zone->blocks.is_full || zone->side.is_full;
}

uint64_t code_counter_address(const struct code_zone *zone, uint32_t counter)
{
	return zone->data_address + COUNTERS_AT + (uint64_t)counter * 8;
}

uint64_t *code_spilled(const struct code_zone *zone, enum code_spill spill)
{
	return (uint64_t *)(void *)zone->data + spill;
}

uint64_t *code_counters(const struct code_zone *zone)
{
	return (uint64_t *)(void *)(zone->data + COUNTERS_AT);
}
