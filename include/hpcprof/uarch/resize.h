/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cores with other sizes: "l2:2M,dtlb:4096". A cache keeps its number of ways and its size of
 * lines, a TLB its number of ways; only the number of sets changes. Latencies do not change.
 */
#ifndef HPCPROF_UARCH_RESIZE_H
#define HPCPROF_UARCH_RESIZE_H

#include <hpcprof/uarch/geometry.h>

#include <stddef.h>

enum hp_part {
	HP_PART_L1I, /* bytes */
	HP_PART_L1D,
	HP_PART_L2,
	HP_PART_ITLB, /* entries */
	HP_PART_DTLB, /* of the last level, which code shares on many cores */
	HP_PART_ROB,  /* instructions in flight */
	HP_PART_STORES,
	HP_PART_COUNT,
};

enum { HP_MOST_RESIZES = 3 };

struct hp_resizes {
	struct hp_resize {
		uint8_t part; /* enum hp_part */
		uint64_t size;
	} at[HP_MOST_RESIZES]; /* by part, each at most once */
	size_t count;
};

/* Parses a list. False if it is malformed or has a part twice. Sizes have 11 significant bits; the
 * rest is 0. */
bool hp_resizes_parse(const char *text, struct hp_resizes *resizes);
/* Adds a size; false: too many, or the part is there already. */
bool hp_resizes_add(struct hp_resizes *resizes, enum hp_part part, uint64_t size);

uint64_t hp_part_size(enum hp_part part, const struct hp_uarch_geometry *geometry,
		      const struct hp_core *core);
/* Applies the sizes; false if no models of these sizes can be made, then nothing is changed. */
bool hp_resizes_apply(const struct hp_resizes *resizes, struct hp_uarch_geometry *geometry,
		      struct hp_core *core);

/* The list as a number, which is part of the database's format: 0 for none. */
uint64_t hp_resizes_code(const struct hp_resizes *resizes);

#endif
