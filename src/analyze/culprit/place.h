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
	PLACE_FIXED,   /* the same address in the whole program */
	PLACE_SAME,    /* the same address during one run of the loop */
	PLACE_STRIDE,  /* moves by a constant number of bytes per iteration */
	PLACE_BOUNDED, /* stays within a constant range during one run of the loop */
	PLACE_CHASED,  /* its address was loaded */
	PLACE_ANY,
};

struct place {
	uint8_t kind;	/* enum place_kind */
	uint64_t bytes; /* STRIDE: the step without its sign; BOUNDED: the size of the range */
	double fresh;	/* share of executions that may be the first access to it in a while */
};

struct hp_error *place_prepare(struct facts *facts, struct hp_arena *arena);
struct place place_of(const struct facts *facts, const struct path *path, uint32_t position,
		      const struct hp_memory *memory);
/* The share of executions that touch another of these units than the execution before. */
double place_crossings(const struct place *place, uint64_t unit_bytes);

#endif
