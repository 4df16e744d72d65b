/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_map.h"

#include <hpcprof/base/vector.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No real function is longer; keeps one absurd line from making every search a scan. */
enum { LONGEST_SYMBOL_BYTES = 16 << 20 };

static bool take_hex(char **at, uint64_t *value)
{
	char *end;

	if (strncmp(*at, "0x", 2) == 0)
		*at += 2;
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 16);
	if (errno || *end != ' ')
		return false;
	while (*end == ' ')
		end++;
	*at = end;
	return true;
}

static bool parse_line(char *line, struct perf_map_symbol *symbol)
{
	if (!take_hex(&line, &symbol->start) || !take_hex(&line, &symbol->size) || !*line)
		return false;
	symbol->name = line;
	return symbol->size && symbol->size <= LONGEST_SYMBOL_BYTES &&
	       symbol->start + symbol->size > symbol->start;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct perf_map_symbol *a = left;
	const struct perf_map_symbol *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

bool perf_map_parse(char *text, struct perf_map *map)
{
	char *rest = text;
	char *line;

	*map = (struct perf_map){ .text = text };
	while ((line = strsep(&rest, "\n"))) {
		struct perf_map_symbol symbol = { .order = map->count };

		if (!*line)
			continue;
		if (!parse_line(line, &symbol)) {
			map->skipped++;
			continue;
		}
		if (!hp_grow((void **)&map->symbols, &map->capacity, map->count + 1,
			     sizeof(symbol))) {
			perf_map_clear(map);
			return false;
		}
		map->symbols[map->count++] = symbol;
		if (symbol.size > map->longest)
			map->longest = symbol.size;
	}
	if (map->count)
		qsort(map->symbols, map->count, sizeof(*map->symbols), compare_symbols);
	return true;
}

void perf_map_clear(struct perf_map *map)
{
	free(map->text);
	free(map->symbols);
	*map = (struct perf_map){ 0 };
}

/* Index of the first symbol that starts after the address. */
static size_t first_after(const struct perf_map *map, uint64_t address)
{
	size_t low = 0;
	size_t high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct perf_map_symbol *perf_map_find(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_symbol *found = NULL;

	for (size_t i = first_after(map, address); i-- > 0;) {
		const struct perf_map_symbol *symbol = &map->symbols[i];

		if (address - symbol->start >= map->longest)
			break;
		if (address - symbol->start < symbol->size &&
		    (!found || symbol->order > found->order))
			found = symbol;
	}
	return found;
}
