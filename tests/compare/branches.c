/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program built twice, for costs of blocks: with -DNEW `branches` has more to do in another
 * branch than the one that test_inside.c spends on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PROCEDURE __attribute__((noinline, noclone)) static

static volatile uint64_t sink;

PROCEDURE uint64_t branches(const uint64_t *from, uint64_t count)
{
	uint64_t sum = count;

	for (uint64_t i = 0; i < count; i++) {
		if (from[i] & 1) {
			sink = sum + 3;
#ifdef NEW
			sink = (sum ^ 77) * 12345;
			sum += sink >> 3;
#endif
		} else if (from[i] & 2) {
			sink = sum - 5;
			sink = sum * 9 / (i | 1); /* HERE */
			sum += sink;
		} else {
			sink = sum;
			sum -= sink;
		}
	}
	return sum;
}

#define ONE(number)                                                                                \
	case number:                                                                               \
		sink = sum + (number)*3;                                                           \
		sum ^= sink * (number + 11);                                                       \
		sink = sum;                                                                        \
		break

PROCEDURE uint64_t many(const uint64_t *from, uint64_t count)
{
	uint64_t sum = count;

	for (uint64_t i = 0; i < count; i++) {
		switch (from[i] % 16) {
			ONE(0);
			ONE(1);
			ONE(2);
			ONE(3);
			ONE(4);
			ONE(5);
			ONE(6);
			ONE(7);
			ONE(8);
			ONE(9);
			ONE(10);
			ONE(11);
		}
		sum += sink;
	}
	return sum;
}

int main(int count, char **words)
{
	uint64_t numbers[64] = { 0 };

	(void)words;
	printf("%lu\n", (unsigned long)(branches(numbers, (uint64_t)count) +
					many(numbers, (uint64_t)count)));
	return EXIT_SUCCESS;
}
