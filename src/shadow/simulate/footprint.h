/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How one access of an instruction moves through memory: how far each time, and how many distinct
 * lines and pages it meets.
 *
 * Distinct lines and pages are estimated in constant memory, with an error of about 13 %: Flajolet,
 * Fusy, Gandouet, Meunier, "HyperLogLog", AofA 2007. Small numbers are estimated by the registers
 * that are still empty. Starts no threads.
 */
#ifndef SHADOW_SIMULATE_FOOTPRINT_H
#define SHADOW_SIMULATE_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

enum { DISTINCT_REGISTERS = 64 };

struct distinct {
	uint8_t most[DISTINCT_REGISTERS]; /* per register: leading zeros of a hash, plus one */
};

uint64_t distinct_count(const struct distinct *distinct);

struct footprint {
	uint64_t accesses; /* number of accesses that count */
	uint64_t last;	   /* address of the last access */
	int64_t step;	   /* from the address before it */
	/* The most frequent step (Boyer and Moore's majority vote), and the vote's counter. */
	int64_t stride;
	uint32_t votes, alike;
	struct distinct lines, pages;
};

/* Adds an access that counts. True if its step equals that of the access before. */
bool footprint_add(struct footprint *footprint, uint64_t address);
/* Notes an access that does not count, while the models warm up. */
void footprint_pass(struct footprint *footprint, uint64_t address);

#endif
