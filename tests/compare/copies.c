/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program built three times: with -DNEW `callee` is inlined into `host`, and still called by
 * `other`; with -DAGAIN it is another build, and nothing else.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NEW
#define CALLEE static
#define FLAT   __attribute__((flatten))
#else
#define CALLEE static __attribute__((noinline, noclone))
#define FLAT
#endif

static volatile uint64_t sink;

CALLEE uint64_t callee(uint64_t value)
{
	for (int i = 0; i < 5; i++) {
		sink = value;
		value ^= value << 13;
		value ^= value >> 7;
		value ^= sink << 17;
	}
	return value + sink;
}

static uint64_t (*volatile indirectly)(uint64_t) = callee;

FLAT __attribute__((noinline, noclone)) static uint64_t host(uint64_t count)
{
	uint64_t value = count;

	for (uint64_t i = 0; i < count; i++)
		value = callee(value + i);
	return value;
}

__attribute__((noinline, noclone)) static uint64_t other(uint64_t count)
{
	uint64_t value = count;

	for (uint64_t i = 0; i < count; i++) {
		sink = value;
		value += indirectly(value * 3 + i);
	}
	return value;
}

int main(int count, char **words)
{
	(void)words;
#ifdef AGAIN
	sink = 77;
#endif
	printf("%lu\n", (unsigned long)(host((uint64_t)count) + other((uint64_t)count)));
	return EXIT_SUCCESS;
}
