/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf-PID.map files, in which just-in-time compilers name their code: one line per symbol, "START
 * SIZE NAME" in hexadecimal; where symbols overlap the later line holds. Any user may have written
 * the file.
 */
#ifndef COLLECT_IMAGES_PERF_MAP_H
#define COLLECT_IMAGES_PERF_MAP_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of the map. At most PERF_MAP_SYMBOLS are kept. */
struct perf_map_symbol {
	uint64_t start;
	uint64_t size;
	const char *name; /* points into the text */
	size_t order;	  /* number of its line in the file */
};

/* Addresses for which one symbol is the latest. */
struct perf_map_range {
	uint64_t start;
	uint64_t end;
	size_t symbol;
};

struct perf_map {
	char *text;			 /* owned */
	struct perf_map_symbol *symbols; /* sorted by start, then order */
	size_t count;
	size_t capacity;
	struct perf_map_range *ranges; /* sorted, without overlaps; at most two per symbol */
	size_t range_count;
	size_t range_capacity;
	size_t skipped; /* number of lines that could not be parsed */
	bool is_cut;	/* there were more than PERF_MAP_SYMBOLS */
};

/* Takes over `text` (NUL-terminated, malloc'ed). False: out of memory. */
bool perf_map_parse(char *text, struct perf_map *map);
void perf_map_clear(struct perf_map *map);

/* The latest symbol that contains the address, or NULL. */
const struct perf_map_symbol *perf_map_find(const struct perf_map *map, uint64_t address);

#endif
