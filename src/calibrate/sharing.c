/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/calibrate/sharing.h>

#ifdef __x86_64__

enum { PRODUCT_CYCLES = 3, PRODUCTS = 5, STORES_BETWEEN = 12 };

/* Rounds of a store, others, a load of the first one, and products that wait for it. */
static void run_rounds(uint64_t rounds)
{
	_Alignas(64) char memory[512];
	uint64_t value = 1;

	__asm__ volatile(
		"1:\n\t"
		"mov %[value], (%[memory])\n\t"
		".rept %c[stores]; mov %[memory], 128(%[memory]); .endr\n\t"
		"mov (%[memory]), %[value]\n\t"
		".rept %c[products]; imul $1, %[value], %[value]; .endr\n\t"
		"dec %[rounds]\n\t"
		"jnz 1b"
		: [value] "+r"(value), [rounds] "+r"(rounds)
		: [memory] "r"(memory), [stores] "i"(STORES_BETWEEN), [products] "i"(PRODUCTS)
		: "cc", "memory");
}

static double time_rounds(uint64_t rounds)
{
	double start_ns = (double)hp_clock_monotonic_ns();

	run_rounds(rounds);
	return (double)hp_clock_monotonic_ns() - start_ns;
}

static bool is_near(double cycles, double expected)
{
	return cycles > (1 - sharing_tolerance) * expected &&
	       cycles < (1 + sharing_tolerance) * expected;
}

enum hp_sharing hp_sharing_measure(const struct hp_core *core, double hz)
{
	const double alone = PRODUCT_CYCLES * PRODUCTS;
	unsigned slow = 0, fast = 0;

	if (!core || core->renamed_stores <= STORES_BETWEEN ||
	    core->renamed_stores / 2 > STORES_BETWEEN || !(hz > 0))
		return HP_SHARING_UNKNOWN;
	for (int i = 0; i < SHARING_TRIES; i++) {
		double short_ns = time_rounds(SHARING_SHORT_ROUNDS);
		double long_ns = time_rounds(SHARING_LONG_ROUNDS);
		double cycles = (long_ns - short_ns) * hz / 1e9 /
				(SHARING_LONG_ROUNDS - SHARING_SHORT_ROUNDS);

		/* Neither: one of the two was interrupted. */
		fast += is_near(cycles, alone);
		slow += is_near(cycles, alone + core->compared_cycles);
	}
	if (fast == slow || fast + slow < SHARING_TRIES / 2)
		return HP_SHARING_UNKNOWN;
	return fast > slow ? HP_CORE_ALONE : HP_CORE_SHARED;
}

#else

enum hp_sharing hp_sharing_measure(const struct hp_core *core, double hz)
{
	(void)core;
	(void)hz;
	return HP_SHARING_UNKNOWN;
}

#endif
