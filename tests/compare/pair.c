/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program built twice, "old" and "new" (-DNEW, and its procedures in another order): `same` stays
 * as it is, `former` gets another name, `callee` is inlined into `host`. With -DOTHER it says that
 * it is by another compiler, too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef OTHER
__asm__(".ident \"another compiler\"");
#endif

#ifdef NEW
#define former latter
#define CALLEE static inline __attribute__((always_inline))
#else
#define CALLEE static __attribute__((noinline, noclone))
#endif
#define PROCEDURE __attribute__((noinline, noclone)) static

static volatile uint64_t sink;

#define SAME                                                                                       \
	PROCEDURE uint64_t same(const uint64_t *from, uint64_t count)                              \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
                                                                                                   \
		for (uint64_t i = 0; i < count; i++) {                                             \
			sink = sum;                                                                \
			sum += from[i] % (i | 3);                                                  \
		}                                                                                  \
		return sum;                                                                        \
	}
#define FORMER                                                                                     \
	PROCEDURE uint64_t former(uint64_t *into, uint64_t count)                                  \
	{                                                                                          \
		uint64_t hash = 1;                                                                 \
                                                                                                   \
		for (uint64_t i = 0; i < count; i++) {                                             \
			hash = hash * 6364136223846793005u + sink;                                 \
			if (hash % 5 == 1)                                                         \
				into[i] ^= hash >> 29;                                             \
			else                                                                       \
				into[i] += hash % 1000;                                            \
		}                                                                                  \
		return hash;                                                                       \
	}

#ifdef NEW
FORMER
#else
SAME
#endif

CALLEE uint64_t callee(uint64_t value)
{
	sink = value;
	value ^= value << 13;
	value ^= value >> 7;
	value ^= value << 17;
	return value + sink;
}

PROCEDURE uint64_t host(uint64_t count)
{
	uint64_t value = count;

	for (uint64_t i = 0; i < count; i++)
		value = callee(value + i);
	return value;
}

#ifdef NEW
SAME
#else
FORMER
#endif

	int
	main(int count, char **words)
{
	uint64_t numbers[64] = { 0 };

	(void)words;
	printf("%lu\n", (unsigned long)(former(numbers, (uint64_t)count) + host((uint64_t)count) +
					same(numbers, (uint64_t)count)));
	return EXIT_SUCCESS;
}
