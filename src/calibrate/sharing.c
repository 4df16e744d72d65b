/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/calibrate/sharing.h>

#ifdef __x86_64__

enum { PRODUCT_CYCLES = 3 };

/* --- among how many stores memory is renamed ---------------------------------------------------- */

enum { PRODUCTS = 5, STORES_BETWEEN = 12 };

/* Rounds of a store, others, a load of the first one, and products that wait for it. */
static void run_stores(uint64_t rounds)
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

/* --- how far ahead instructions begin ----------------------------------------------------------- */

enum { CHAINED = 60, NOPS_BETWEEN = 300, BETWEEN = CHAINED + NOPS_BETWEEN };

/* Rounds of two chains of products. The second one begins beside the first if the core has room for all
 * before it, else behind it. */
static void run_chains(uint64_t rounds)
{
	uint64_t first = 1, second = 1;

	__asm__ volatile("1:\n\t"
			 ".rept %c[chained]; imul $1, %[first], %[first]; .endr\n\t"
			 ".rept %c[nops]; nop; .endr\n\t"
			 ".rept %c[chained]; imul $1, %[second], %[second]; .endr\n\t"
			 "lfence\n\t"
			 "dec %[rounds]\n\t"
			 "jnz 1b"
			 : [first] "+r"(first), [second] "+r"(second), [rounds] "+r"(rounds)
			 : [chained] "i"(CHAINED), [nops] "i"(NOPS_BETWEEN)
			 : "cc");
}

/* --- which of these tells ------------------------------------------------------------------------ */

struct probe {
	void (*run)(uint64_t rounds);
	uint64_t short_rounds, long_rounds;
	double alone, shared; /* cycles per round */
};

static struct probe probe_of(const struct hp_core *core)
{
	const double chain = PRODUCT_CYCLES * CHAINED;

	/* All of them suffice, and half of them do not. */
	if (core->renamed_stores > STORES_BETWEEN && core->renamed_stores / 2 <= STORES_BETWEEN)
		return (struct probe){ run_stores, SHARING_SHORT_STORES, SHARING_LONG_STORES,
				       PRODUCT_CYCLES * PRODUCTS,
				       PRODUCT_CYCLES * PRODUCTS + core->compared_cycles };
	if (core->reorder_slots > BETWEEN + CHAINED && core->reorder_slots / 2 < BETWEEN)
		return (struct probe){ run_chains, SHARING_SHORT_CHAINS, SHARING_LONG_CHAINS,
				       (double)BETWEEN / core->issue_width + chain + SHARING_FENCE,
				       2 * chain + SHARING_FENCE };
	return (struct probe){ 0 };
}

static double time_rounds(const struct probe *probe, uint64_t rounds)
{
	double start_ns = (double)hp_clock_monotonic_ns();

	probe->run(rounds);
	return (double)hp_clock_monotonic_ns() - start_ns;
}

static bool is_near(double cycles, double expected)
{
	return cycles > (1 - sharing_tolerance) * expected &&
	       cycles < (1 + sharing_tolerance) * expected;
}

enum hp_sharing hp_sharing_measure(const struct hp_core *core, double hz)
{
	const struct probe probe = core ? probe_of(core) : (struct probe){ 0 };
	unsigned slow = 0, fast = 0;

	if (!probe.run || !(hz > 0))
		return HP_SHARING_UNKNOWN;
	for (int i = 0; i < SHARING_TRIES; i++) {
		double short_ns = time_rounds(&probe, probe.short_rounds);
		double long_ns = time_rounds(&probe, probe.long_rounds);
		double cycles = (long_ns - short_ns) * hz / 1e9 /
				(double)(probe.long_rounds - probe.short_rounds);

		/* Neither: one of the two was interrupted. */
		fast += is_near(cycles, probe.alone);
		slow += is_near(cycles, probe.shared);
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
