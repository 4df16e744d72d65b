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
	size_t size; /* bytes */
	const char *text;
	uint64_t hash;	   /* of what is the same in another build */
	uint64_t target;   /* that it jumps to or calls; 0 none */
	bool begins_block; /* something in the listing jumps here */
	bool ends_block;
	const char *file; /* or NULL */
	uint32_t line;
	uint64_t samples;
	double cost; /* in units of the comparison, all replicates together */
};

struct listing {
	struct listed *at; /* by address; in the arena */
	size_t count;
};

/* The procedure's own extent and all parts of it that have samples. Empty where there is no code
 * to read, or more than is worth looking at. */
struct hp_error *listing_create(struct hp_arena *arena, const struct code *code,
				struct listing *listing);

/* For each instruction of the candidate, the base's that is the same, or SIZE_MAX: a longest common
 * subsequence (Myers 1986), as far as differences are not too many to look for it. */
struct hp_error *listing_align(const struct listing *base, const struct listing *candidate,
			       size_t **partners);

#endif
