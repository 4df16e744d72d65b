/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels with one cause each. A kernel is a loop over rounds with a loop over steps in it, as
 * compiled, and one instruction at fault, in assembly. What has a twin "not_" is the same with that
 * instruction replaced by one that takes a cycle and waits for the same operands; the others are their
 * own control, on other data.
 */
#include "work.h"

/* Dependent loads: how far they go is a matter of how large the list is. */
KERNEL uint64_t chase(const struct work *work)
{
	void **at = work->start;
	uint64_t sum = 0;

	for (uint64_t round = 0; round < work->rounds; round++) {
		uint64_t seen = 0;

		for (uint64_t i = 0; i < work->steps; i++) {
			__asm__ volatile("77: movq (%0), %0" MARK("chase") : "+r"(at)::"memory");
			seen += (uintptr_t)at >> 6 ^ i;
		}
		sum += seen & work->mask;
	}
	return sum;
}

/* Loads that do not wait for each other, from anywhere. */
KERNEL uint64_t gather(const struct work *work)
{
	uint64_t sum = 0;

	for (uint64_t round = 0; round < work->rounds; round++) {
		uint64_t from = round * 7919;

		for (uint64_t i = 0; i < work->steps; i++) {
			uint64_t at = ((uint64_t)work->indices[i] * 8 + from) & work->mask;
			uint64_t value;

			__asm__ volatile("77: movq (%1,%2,8), %0" MARK("gather")
					 : "=r"(value)
					 : "r"(work->words), "r"(at)
					 : "memory");
			if (value > work->divisor)
				sum += value;
			else
				sum ^= value;
		}
	}
	return sum;
}

/* A line of each page; few lines, many pages. */
KERNEL uint64_t pages(const struct work *work)
{
	uint64_t sum = 0;

	for (uint64_t round = 0; round < work->rounds; round++) {
		const uint8_t *at = work->bytes + (round & 7) * 8;

		for (uint64_t i = 0; i < work->steps; i++) {
			uint64_t value;

			__asm__ volatile("77: movq (%1), %0" MARK("pages")
					 : "=r"(value)
					 : "r"(at)
					 : "memory");
			sum += value;
			at += 4096 + 64;
		}
	}
	return sum;
}

/* Stores to lines that are in no cache, faster than they can be written. */
KERNEL uint64_t scatter(const struct work *work)
{
	uint64_t line = 1;

	for (uint64_t round = 0; round < work->rounds; round++) {
		for (uint64_t i = 0; i < work->steps; i++) {
			line = (line * 5 + 12345) & work->mask;
			__asm__ volatile("77: movq %0, (%1,%2,8)" MARK("scatter")
					 :
					 : "r"(i), "r"(work->words), "r"(line * 8)
					 : "memory");
		}
	}
	return line;
}

/* A byte is stored and the word around it loaded. */
#define STORE_AND_LOAD(name, store)                                                                \
	KERNEL uint64_t name(const struct work *work)                                              \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
		uint64_t value = 1;                                                                \
                                                                                                   \
		for (uint64_t round = 0; round < work->rounds; round++) {                          \
			uint8_t *at = work->bytes + (round & 31) * 64;                             \
                                                                                                   \
			for (uint64_t i = 0; i < work->steps; i++) {                               \
				__asm__ volatile("77: " store "\n\tmovq (%1), %0" MARK(#name)      \
						 : "+q"(value)                                     \
						 : "r"(at)                                         \
						 : "memory");                                      \
				value = (value >> 3) + i;                                          \
			}                                                                          \
			sum += value;                                                              \
		}                                                                                  \
		return sum;                                                                        \
	}
STORE_AND_LOAD(narrow_store, "movb %b0, 3(%1)")
STORE_AND_LOAD(whole_store, "movq %q0, (%1)")

#define DIVIDE(name, instruction)                                                                  \
	KERNEL uint64_t name(const struct work *work)                                              \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
		uint64_t value = ~UINT64_C(0);                                                     \
                                                                                                   \
		for (uint64_t round = 0; round < work->rounds; round++) {                          \
			uint64_t divisor = work->divisor + (round & 3);                            \
                                                                                                   \
			for (uint64_t i = 0; i < work->steps; i++) {                               \
				uint64_t rest = 0;                                                 \
                                                                                                   \
				__asm__ volatile("77: " instruction MARK(#name)                    \
						 : "+a"(value), "+d"(rest)                         \
						 : "r"(divisor));                                  \
				sum += rest ^ i;                                                   \
				value |= UINT64_C(1) << 62;                                        \
			}                                                                          \
		}                                                                                  \
		return sum;                                                                        \
	}
DIVIDE(divide, "divq %2")
DIVIDE(not_divide, "addq %2, %0")

#define ROOT(name, instruction)                                                                    \
	KERNEL uint64_t name(const struct work *work)                                              \
	{                                                                                          \
		double value = 2;                                                                  \
		uint64_t high = 0;                                                                 \
                                                                                                   \
		for (uint64_t round = 0; round < work->rounds; round++) {                          \
			double by = work->reals[round & 63];                                       \
                                                                                                   \
			for (uint64_t i = 0; i < work->steps; i++) {                               \
				__asm__ volatile("77: " instruction MARK(#name) : "+x"(value));    \
				value = value + by;                                                \
			}                                                                          \
			high += value > 3;                                                         \
		}                                                                                  \
		return high + (uint64_t)value;                                                     \
	}
ROOT(root, "sqrtsd %0, %0")
ROOT(not_root, "andpd %0, %0")

#define MULTIPLY(name, instruction)                                                                \
	KERNEL uint64_t name(const struct work *work)                                              \
	{                                                                                          \
		uint64_t hash = 14695981039346656037u;                                             \
                                                                                                   \
		for (uint64_t round = 0; round < work->rounds; round++) {                          \
			uint64_t prime = work->divisor | 1;                                        \
                                                                                                   \
			for (uint64_t i = 0; i < work->steps; i++) {                               \
				__asm__ volatile("77: " instruction MARK(#name)                    \
						 : "+r"(hash)                                      \
						 : "r"(prime));                                    \
				hash ^= work->bytes[i & 4095];                                     \
			}                                                                          \
		}                                                                                  \
		return hash;                                                                       \
	}
MULTIPLY(multiply, "imulq %1, %0")
MULTIPLY(not_multiply, "addq %1, %0")

#define SUM(name, instruction)                                                                     \
	KERNEL uint64_t name(const struct work *work)                                              \
	{                                                                                          \
		double sum = 0;                                                                    \
                                                                                                   \
		for (uint64_t round = 0; round < work->rounds; round++) {                          \
			double part = 0;                                                           \
                                                                                                   \
			for (uint64_t i = 0; i < work->steps; i++)                                 \
				__asm__ volatile("77: " instruction MARK(#name)                    \
						 : "+x"(part)                                      \
						 : "r"(work->reals), "r"(i & 1023));               \
			sum += part;                                                               \
		}                                                                                  \
		return (uint64_t)sum;                                                              \
	}
SUM(sum_reals, "addsd (%1,%2,8), %0")
SUM(not_sum_reals, "movlpd (%1,%2,8), %0")

/* Counts by kind, as a histogram does. */
#define COUNT(name, instruction)                                                                   \
	KERNEL uint64_t name(const struct work *work)                                              \
	{                                                                                          \
		uint64_t largest = 0;                                                              \
                                                                                                   \
		for (uint64_t round = 0; round < work->rounds; round++) {                          \
			for (uint64_t i = 0; i < work->steps; i++) {                               \
				uint64_t *at = work->words + (work->bytes[i & 4095] & 63) * 8;     \
                                                                                                   \
				__asm__ volatile("77: " instruction MARK(#name)::"r"(at)           \
						 : "memory");                                      \
			}                                                                          \
			if (work->words[0] > largest)                                              \
				largest = work->words[0];                                          \
		}                                                                                  \
		return largest;                                                                    \
	}
COUNT(locked, "lock addq $1, (%0)")
COUNT(not_locked, "addq $1, (%0)")
COUNT(fenced, "mfence")
COUNT(not_fenced, "nop")
COUNT(paused, "pause")
COUNT(not_paused, "nop")

/* Nothing waits for anything. */
KERNEL uint64_t adds(const struct work *work)
{
	uint64_t sum = 0;

	for (uint64_t round = 0; round < work->rounds; round++) {
		uint64_t a = 0;
		uint64_t b = 0;
		uint64_t c = 0;
		uint64_t d = 0;

		for (uint64_t i = 0; i < work->steps; i++) {
			__asm__ volatile("addq %4, %0\n\taddq %4, %1\n\taddq %4, %2\n\taddq %4, %3"
					 : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
					 : "r"(i));
			__asm__ volatile("xorq %4, %0\n\txorq %4, %1\n\txorq %4, %2\n\txorq %4, %3"
					 : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
					 : "r"(round));
		}
		sum += a ^ b ^ c ^ d;
	}
	return sum;
}
