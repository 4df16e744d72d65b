/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "footprint.h"

#include <math.h>

enum { LINE_BITS = 6, PAGE_BITS = 12, REGISTER_BITS = 6 };

static void distinct_add(struct distinct *distinct, uint64_t number)
{
	uint64_t hash = (number ^ number >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	uint8_t *most, zeros;

	hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	hash ^= hash >> 32;
	most = &distinct->most[hash % DISTINCT_REGISTERS];
	zeros = (uint8_t)(__builtin_clzll(hash | DISTINCT_REGISTERS) + 1);
	if (zeros > *most)
		*most = zeros;
}

uint64_t distinct_count(const struct distinct *distinct)
{
	static const double bias = 0.709; /* for 64 registers, from the paper */
	double sum = 0, estimate;
	unsigned empty = 0;

	for (unsigned i = 0; i < DISTINCT_REGISTERS; i++) {
		sum += ldexp(1, -distinct->most[i]);
		empty += !distinct->most[i];
	}
	estimate = bias * DISTINCT_REGISTERS * DISTINCT_REGISTERS / sum;
	if (empty && estimate < 2.5 * DISTINCT_REGISTERS)
		estimate = DISTINCT_REGISTERS * log((double)DISTINCT_REGISTERS / empty);
	return (uint64_t)(estimate + 0.5);
}

void footprint_pass(struct footprint *footprint, uint64_t address)
{
	footprint->step = (int64_t)(address - footprint->last);
	footprint->last = address;
}

static void vote(struct footprint *footprint, int64_t step)
{
	if (step == footprint->stride) {
		footprint->votes++;
		footprint->alike++;
	} else if (footprint->votes) {
		footprint->votes--;
	} else {
		footprint->stride = step;
		footprint->votes = footprint->alike = 1;
	}
}

bool footprint_add(struct footprint *footprint, uint64_t address)
{
	int64_t step = (int64_t)(address - footprint->last);
	bool is_alike = step == footprint->step;
	bool is_first = !footprint->alike;

	footprint->accesses++;
	vote(footprint, step);
	if (is_first || address >> LINE_BITS != footprint->last >> LINE_BITS)
		distinct_add(&footprint->lines, address >> LINE_BITS);
	if (is_first || address >> PAGE_BITS != footprint->last >> PAGE_BITS)
		distinct_add(&footprint->pages, address >> PAGE_BITS);
	footprint_pass(footprint, address);
	return is_alike;
}
