/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GCC at -O2 makes `work` and `work.cold` of: two loops apart from each other. With -DNEW it
 * is `labour`, and whole, and what comes before it lies where it was.
 */
#include "newcomer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NEW
#define work labour
#endif

/* Which lie in the same section as what is hot, where nothing is apart. */
__attribute__((noinline, noclone, cold)) static void complain(uint64_t sum)
{
	printf("odd: %lu\n", (unsigned long)sum);
}

#ifdef NEW
__attribute__((optimize("no-reorder-blocks-and-partition")))
#endif
__attribute__((noinline, noclone)) static uint64_t
work(const uint64_t *from, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		sink = sum;
		sum += from[i] % (i | 3);
		sink ^= sum * 3;
		if (sum == 12345) {
			complain(sum);
			for (uint64_t j = 0; j < count; j++) {
				sink = sum >> 3;
				sum = sum * 77 + from[j];
			}
			complain(sum ^ sink);
		}
	}
	for (uint64_t i = 0; i < count; i++) {
		sink = sum;
		sum ^= from[i] / (i | 5);
		sink += sum * 13;
	}
	return sum;
}

int main(int count, char **words)
{
	uint64_t numbers[64] = { 0 };

	(void)words;
	printf("%lu\n", (unsigned long)work(numbers, (uint64_t)count));
	return EXIT_SUCCESS;
}
