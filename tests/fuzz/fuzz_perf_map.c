/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf-PID.map files, and look-ups in them held against a plain search. */
#include "fuzz.h"

#include "../../src/collect/images/perf_map.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKUPS = 64 };

static void check(bool claim)
{
	if (!claim)
		abort();
}

static void look_up(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_symbol *expected = NULL;

	for (size_t i = 0; i < map->count; i++) {
		const struct perf_map_symbol *symbol = &map->symbols[i];

		if (address >= symbol->start && address - symbol->start < symbol->size &&
		    (!expected || symbol->order > expected->order))
			expected = symbol;
	}
	check(perf_map_find(map, address) == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);
	struct perf_map map;

	if (!text)
		return 0;
	if (size)
		memcpy(text, bytes, size);
	text[size] = 0;
	if (!perf_map_parse(text, &map))
		return 0;
	for (size_t i = 0; i < map.count; i++)
		check(map.symbols[i].size > 0 && map.symbols[i].name[0]);
	for (size_t i = 0; i < map.count && i < LOOKUPS; i++) {
		const struct perf_map_symbol *symbol = &map.symbols[i];

		look_up(&map, symbol->start - 1);
		look_up(&map, symbol->start);
		look_up(&map, symbol->start + symbol->size / 2);
		look_up(&map, symbol->start + symbol->size - 1);
		look_up(&map, symbol->start + symbol->size);
	}
	look_up(&map, 0);
	look_up(&map, UINT64_MAX);
	perf_map_clear(&map);
	return 0;
}
