/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "branch_log.h"

#include "../translate/x86_expect.h"
#include "../translate/x86_link.h"

/* A branch went to this address. */
static bool count(struct x86_translator *translator, const struct code_went *went)
{
	struct code_cache *cache = translator->cache;
	const struct code_site *site =
		went->site < cache->sites.count ? &cache->sites.at[went->site] : NULL;
	uint32_t block = code_cache_find(cache, went->address);

	/* The program has written to the log. */
	if (!site || block == CODE_NO_NUMBER)
		return true;
	for (size_t i = 0; i < site->targets.count; i++)
		if (site->targets.at[i].block == block) {
			code_counters(&cache->zones[site->zone])[site->targets.at[i].counter]++;
			return true;
		}
	return x86_site_add(cache, (uint32_t)went->site, block,
			    x86_flags_matter(translator, went->address)) &&
	       !code_cache_is_full(cache);
}

bool branch_log_read(struct x86_translator *translator)
{
	struct code_cache *cache = translator->cache;
	bool has_room = true;

	for (size_t i = 0; i < cache->zone_count; i++) {
		struct code_zone *zone = &cache->zones[i];
		uint64_t entries = x86_expect_went(zone);

		for (uint64_t j = 0; has_room && j < entries; j++)
			has_room = count(translator, &code_zone_log(zone)[j]);
		code_zone_empty_log(zone);
	}
	return has_room;
}
