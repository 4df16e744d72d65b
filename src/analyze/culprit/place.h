/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known about the address of a memory operand, from how it is computed: on the stack,
 * constant, moving by a constant, masked to a small table, loaded from memory, or unknown.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_PLACE_H
#define HPCPROF_ANALYZE_CULPRIT_PLACE_H

#include "path.h"

enum place_kind {
	PLACE_STACK,
	PLACE_FIXED,   /* one address of the program */
	PLACE_SAME,    /* one address as long as the loop runs */
	PLACE_STRIDE,  /* moves by so many bytes an iteration */
	PLACE_BOUNDED, /* within so many bytes as long as the loop runs */
	PLACE_CHASED,  /* its address was loaded */
	PLACE_ANY,
};

struct place {
	uint8_t kind;	/* enum place_kind */
	uint64_t bytes; /* of STRIDE, without its sign, and of BOUNDED */
	double fresh;	/* share of executions that can be the first in a while to look there */
};

struct hp_error *place_prepare(struct facts *facts, struct hp_arena *arena);
struct place place_of(const struct facts *facts, const struct path *path, uint32_t position,
		      const struct hp_memory *memory);
/* The share of executions that touch another one of these units than the one before. */
double place_crossings(const struct place *place, uint64_t unit_bytes);

#endif
