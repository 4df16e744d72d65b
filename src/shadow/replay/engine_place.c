/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the cache of translated code is in a shadow. */
#include "../translate/place.h"
#include "../translate/relocate.h"
#include "engine_state.h"

#include <hpcprof/base/number.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert((int)HP_ENGINE_MEMORIES == (int)CODE_CACHE_FILES, "the files of the cache");
_Static_assert(HP_ENGINE_MAPPINGS == 3 * SHADOW_PLACES + HP_ENGINE_MEMORIES,
	       "the parts of the zones, and where files end");

/* Free, or ours already, since a shadow may be prepared twice. */
static bool places_are_free(const struct hp_engine *engine)
{
	const struct code_cache *cache = &engine->cache;

	for (size_t i = 0; i < cache->zone_count; i++) {
		uint64_t start = cache->zones[i].address, end = start + cache->zone_bytes;

		for (size_t j = 0; j < engine->areas.count; j++) {
			const struct area *area = &engine->areas.at[j];

			if (area->start < end && start < area->end &&
			    !strstr(area->path, CODE_CACHE_NAME))
				return false;
		}
	}
	return cache->zone_count > 0;
}

static void map_part(struct hp_engine *engine, size_t zone, uint64_t address, uint64_t bytes,
		     int protection)
{
	const struct code_cache *cache = &engine->cache;
	uint64_t start = zone * cache->zone_bytes + (address - cache->zones[zone].address);
	uint64_t end = start + bytes - CODE_GUARD_BYTES;

	for (uint64_t at = start, next; at < end; at = next) {
		uint64_t file = at / cache->file_bytes;

		next = (file + 1) * cache->file_bytes < end ? (file + 1) * cache->file_bytes : end;
		engine->mappings[engine->mapping_count++] = (struct hp_engine_mapping){
			.memory = file,
			.offset = at - file * cache->file_bytes,
			.address = address + (at - start),
			.bytes = next - at,
			.protection = protection,
		};
	}
}

/* Where the processor supports it, translated code is not even readable. */
static void map_zones(struct hp_engine *engine)
{
	const struct code_cache *cache = &engine->cache;

	engine->mapping_count = 0;
	for (size_t i = 0; i < cache->zone_count; i++) {
		const struct code_zone *zone = &cache->zones[i];

		map_part(engine, i, zone->address, cache->code_bytes, PROT_EXEC);
		map_part(engine, i, zone->constants_address, cache->constants_bytes, PROT_READ);
		map_part(engine, i, zone->data_address, cache->data_bytes, PROT_READ | PROT_WRITE);
	}
}

static struct hp_error *place(struct hp_engine *engine, const struct areas *program)
{
	struct code_cache *cache = &engine->cache;
	uint64_t places[SHADOW_PLACES] = { engine->near };
	size_t count = 1;

	if (!engine->near)
		count = shadow_place(program, cache->zone_bytes, hp_unforeseen_u64(), places);
	code_cache_place(cache, places, count);
	if (!places_are_free(engine))
		return hp_error_create(
			HP_ERROR_INSUFFICIENT,
			"the target's address space has no room for translated code");
	map_zones(engine);
	return NULL;
}

static bool is_prepared(const struct hp_engine *engine)
{
	const struct code_cache *cache = &engine->cache;
	const struct area *area =
		cache->zone_count ? areas_find(&engine->areas, cache->zones[0].address) : NULL;

	return area && strstr(area->path, CODE_CACHE_NAME);
}

/* The place near one process's code may be far from another's. A shadow that has the cache mapped
 * keeps it where it is. */
static struct hp_error *start_over(struct hp_engine *engine, const struct areas *program)
{
	shadow_text_forget(engine->text);
	if (!is_prepared(engine) || !places_are_free(engine))
		return place(engine, program);
	code_cache_forget(&engine->cache);
	return NULL;
}

/* Opened now, because it cannot be once the shadow is locked. */
static struct hp_error *open_memory(struct hp_engine *engine, pid_t pid)
{
	char path[64];

	if (engine->memory_fd >= 0)
		close(engine->memory_fd);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	engine->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	return engine->memory_fd < 0 ? hp_error_create_errno(errno, "opening %s", path) : NULL;
}

struct hp_error *hp_engine_prepare(struct hp_engine *engine, pid_t pid, const struct areas *program,
				   const struct hp_engine_mapping **mappings, size_t *count)
{
	struct hp_error *error = areas_read(&engine->areas, pid);
	struct areas *own = program ? NULL : &engine->areas;
	bool changed = false;

	engine->program = program;
	if (!program)
		program = &engine->areas;
	if (!error)
		error = open_memory(engine, pid);
	if (!error && !engine->is_full && !engine->near) {
		engine->is_full = !code_relocate(&engine->cache, engine->text, program);
		map_zones(engine);
	}
	if (!error)
		error = shadow_text_begin(engine->text, pid, engine->memory_fd, program, own,
					  &changed);
	if (!error && (engine->is_full || changed || code_cache_is_full(&engine->cache) ||
		       !places_are_free(engine)))
		error = start_over(engine, program);
	if (error)
		return error;
	engine->is_full = false;
	*mappings = engine->mappings;
	*count = engine->mapping_count;
	return NULL;
}
