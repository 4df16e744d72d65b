/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "relocate.h"

#include "../tuning.h"
#include "x86_link.h"

struct moves {
	const struct code_cache *cache;
	struct {
		uint64_t by;
		size_t pages;
	} ways[SHADOW_PLACES][RELOCATE_WAYS];
	size_t pages[SHADOW_PLACES];
	uint64_t by[SHADOW_PLACES]; /* the distance that most pages have moved */
};

static bool count_ways(void *context, uint64_t from, uint64_t by, bool is_there)
{
	struct moves *moves = context;
	uint8_t zone = code_cache_zone_near(moves->cache, from);

	moves->pages[zone]++;
	for (size_t i = 0; is_there && i < RELOCATE_WAYS; i++)
		if (!moves->ways[zone][i].pages || moves->ways[zone][i].by == by) {
			moves->ways[zone][i].by = by;
			moves->ways[zone][i].pages++;
			break;
		}
	return true;
}

static bool goes_along(void *context, uint64_t from, uint64_t by, bool is_there)
{
	const struct moves *moves = context;

	return is_there && by == moves->by[code_cache_zone_near(moves->cache, from)];
}

/* It is worthwhile when most of each zone stays usable. A zone that is empty cannot be placed. */
static bool decide(struct moves *moves)
{
	bool is_elsewhere = false;

	for (size_t i = 0; i < moves->cache->zone_count; i++) {
		const struct code_zone *zone = &moves->cache->zones[i];
		size_t most = 0;

		for (size_t j = 0; j < RELOCATE_WAYS; j++)
			if (moves->ways[i][j].pages > most) {
				most = moves->ways[i][j].pages;
				moves->by[i] = moves->ways[i][j].by;
			}
		if (!most || 2 * most < moves->pages[i])
			return false;
		if (moves->by[i] &&
		    (zone->blocks.is_fixed || zone->side.is_fixed || zone->logged.is_fixed))
			return false;
		is_elsewhere |= moves->by[i] != 0;
	}
	return is_elsewhere;
}

static bool stays(void *context, uint64_t address)
{
	return shadow_text_stays(context, address);
}

bool code_relocate(struct code_cache *cache, struct shadow_text *text, const struct areas *areas)
{
	struct moves moves = { .cache = cache };

	shadow_text_find(text, areas, count_ways, &moves);
	if (!decide(&moves))
		return true;
	shadow_text_find(text, areas, goes_along, &moves);
	return code_cache_move(cache, moves.by, stays, text) && x86_sites_move(cache, moves.by) &&
	       shadow_text_move(text);
}
