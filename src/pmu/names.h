/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event names that are the same on every machine: generic hardware events, software events, and
 * the matrix of hardware caches. Static tables.
 */
#ifndef HPCPROF_PMU_NAMES_H
#define HPCPROF_PMU_NAMES_H

#include <hpcprof/model/profile.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_event_name {
	const char *name;    /* canonical */
	const char *aliases; /* separated by blanks; "" if there are none */
	uint32_t type;
	uint64_t config;
	enum hp_unit unit;
	bool in_kernel; /* it only happens in the kernel, so it counts nothing with :u */
	const char *description;
};
extern const struct hp_event_name hp_event_names[];
extern const size_t hp_event_name_count;

/* By name or alias, ignoring case; NULL: none. */
const struct hp_event_name *hp_event_name_find(const char *name);

/* A cell of the cache matrix: "L1-dcache-load-misses", "LLC-loads", "dTLB-stores", … False when
 * the name is none, or a cell that the kernel does not define. */
bool hp_event_cache_find(const char *name, uint64_t *config);

/* The canonical name and what the `index`-th existing cell means; false past the last. */
struct hp_event_cache_cell {
	char name[48];
	char description[96];
	uint64_t config;
};
bool hp_event_cache_cell(size_t index, struct hp_event_cache_cell *cell);

#endif
