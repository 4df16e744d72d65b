/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GCC at -O2 makes `work.part.0` of, leaving the test in front to the callers. With -DNEW it
 * stays whole, and everything lies elsewhere.
 */
#include "newcomer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NEW
__attribute__((noinline, noclone))
#endif
static uint64_t
work(const uint64_t *from, uint64_t count)
{
	uint64_t sum = 0;

	if (!from)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		sink = sum;
		sum += from[i] % (i | 3);
		sink ^= sum * 3;
		if (__builtin_expect(sum == 12345, 0)) {
			printf("odd: %lu\n", (unsigned long)sum);
			sink = 5;
			puts("very");
			abort();
		}
	}
	for (uint64_t i = 0; i < count; i++) {
		sink = sum;
		sum ^= from[i] / (i | 5);
		sink += sum * 13;
	}
	return sum;
}

__attribute__((noinline, noclone)) uint64_t one(const uint64_t *from, uint64_t count);
__attribute__((noinline, noclone)) uint64_t two(const uint64_t *from, uint64_t count);

uint64_t one(const uint64_t *from, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		sink = sum >> 3;
		sum += work(from, count) + 1;
	}
	return sum;
}

uint64_t two(const uint64_t *from, uint64_t count)
{
	uint64_t sum = count;

	for (uint64_t i = 0; i < count; i++) {
		sink = sum * 77;
		sum ^= work(from, i) * 2;
		sink ^= sum;
	}
	return sum;
}

int main(int count, char **words)
{
	uint64_t numbers[64] = { 0 };

	(void)words;
	printf("%lu\n",
	       (unsigned long)(one(numbers, (uint64_t)count) + two(numbers, (uint64_t)count)));
	return EXIT_SUCCESS;
}
