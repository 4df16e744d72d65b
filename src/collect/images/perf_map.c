/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_map.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	return symbol->size && symbol->size <= PERF_MAP_LONGEST_BYTES &&
	       symbol->start + symbol->size > symbol->start;
}

HP_ORDER_BY_TWO(compare_symbols, struct perf_map_symbol, start, order);

/* --- who holds which addresses: one sweep over all starts and ends
 * -------------------------------- */

/* The symbols that cover the current address, the latest line on top. Those that have ended are
 * removed when they reach the top. */
struct heap {
	size_t *at;
	size_t count;
};

static void push(struct heap *heap, const struct perf_map_symbol *symbols, size_t symbol)
{
	size_t at = heap->count++;

	for (; at && symbols[heap->at[(at - 1) / 2]].order < symbols[symbol].order;
	     at = (at - 1) / 2)
		heap->at[at] = heap->at[(at - 1) / 2];
	heap->at[at] = symbol;
}

static void pop(struct heap *heap, const struct perf_map_symbol *symbols)
{
	size_t moving = heap->at[--heap->count];
	size_t at = 0;

	for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
		if (child + 1 < heap->count &&
		    symbols[heap->at[child + 1]].order > symbols[heap->at[child]].order)
			child++;
		if (symbols[moving].order > symbols[heap->at[child]].order)
			break;
		heap->at[at] = heap->at[child];
		at = child;
	}
	heap->at[at] = moving;
}

static bool append_range(struct perf_map *map, uint64_t start, uint64_t end, size_t symbol)
{
	struct perf_map_range *last = map->range_count ? &map->ranges[map->range_count - 1] : NULL;

	if (last && last->symbol == symbol && last->end == start) {
		last->end = end;
		return true;
	}
	if (!hp_grow((void **)&map->ranges, &map->range_capacity, map->range_count + 1,
		     sizeof(*map->ranges)))
		return false;
	map->ranges[map->range_count++] =
		(struct perf_map_range){ .start = start, .end = end, .symbol = symbol };
	return true;
}

static bool find_ranges(struct perf_map *map)
{
	const struct perf_map_symbol *symbols = map->symbols;
	_cleanup_free_ size_t *room = calloc(map->count + 1, sizeof(*room));
	struct heap heap = { .at = room };
	uint64_t at = 0;
	size_t next = 0;

	while (room && (heap.count || next < map->count)) {
		const struct perf_map_symbol *top;
		uint64_t end;

		if (!heap.count)
			at = symbols[next].start;
		while (next < map->count && symbols[next].start == at)
			push(&heap, symbols, next++);
		top = &symbols[heap.at[0]];
		end = top->start + top->size;
		if (end <= at) {
			pop(&heap, symbols);
			continue;
		}
		if (next < map->count && symbols[next].start < end)
			end = symbols[next].start;
		if (!append_range(map, at, end, heap.at[0]))
			return false;
		at = end;
	}
	return room != NULL;
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
		if (map->count >= PERF_MAP_SYMBOLS) {
			map->is_cut = true;
			break;
		}
		if (!hp_grow((void **)&map->symbols, &map->capacity, map->count + 1,
			     sizeof(symbol))) {
			perf_map_clear(map);
			return false;
		}
		map->symbols[map->count++] = symbol;
	}
	if (map->count)
		qsort(map->symbols, map->count, sizeof(*map->symbols), compare_symbols);
	if (find_ranges(map))
		return true;
	perf_map_clear(map);
	return false;
}

void perf_map_clear(struct perf_map *map)
{
	free(map->text);
	free(map->symbols);
	free(map->ranges);
	*map = (struct perf_map){ 0 };
}

const struct perf_map_symbol *perf_map_find(const struct perf_map *map, uint64_t address)
{
	size_t first = hp_bisect(i, map->range_count, map->ranges[i].end <= address);

	if (first == map->range_count || map->ranges[first].start > address)
		return NULL;
	return &map->symbols[map->ranges[first].symbol];
}
