/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of a procedure, and the alignment of two procedures' instructions.
 *
 * Two instructions are the same if they differ in addresses only: targets of jumps and calls, and
 * places of data relative to the code.
 */
#ifndef COMPARE_LISTING_H
#define COMPARE_LISTING_H

#include "sides.h"

struct listed {
	uint64_t address;
	size_t size; /* in bytes */
	const char *text;
	uint64_t hash;	   /* equal for the same instruction in another build */
	uint64_t target;   /* address that it jumps to or calls; 0: none */
	bool begins_block; /* an instruction of the listing jumps here */
	bool ends_block;
	const char *file; /* may be NULL */
	uint32_t line;
	uint64_t samples;
	double cost; /* summed over all replicates, in units of the comparison */
};

struct listing {
	struct listed *at; /* sorted by address; in the arena */
	size_t count;
};

/* Lists the procedure's own extent and all of its parts that have samples. Empty if the code cannot
 * be read, or is too large. */
struct hp_error *listing_create(struct hp_arena *arena, const struct code *code,
				struct listing *listing);

/* Sets, for each instruction of the candidate, the equal one of the base, or SIZE_MAX: a longest
 * common subsequence (Myers 1986), unless there are too many differences. */
struct hp_error *listing_align(const struct listing *base, const struct listing *candidate,
			       size_t **partners);

#endif
