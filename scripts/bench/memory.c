/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory MIB MILLIONS WRITES
 *
 * So many million random accesses to so much memory, all of which was written first; WRITES of a
 * hundred are writes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t words = (argc > 1 ? strtoull(argv[1], NULL, 10) : 64) << 17;
	uint64_t accesses = (argc > 2 ? strtoull(argv[2], NULL, 10) : 10) * 1000000u;
	uint64_t writes = argc > 3 ? strtoull(argv[3], NULL, 10) : 10;
	uint64_t *memory = malloc(words * sizeof(*memory));
	uint64_t state = 88172645463325252u;
	uint64_t sum = 0;

	if (!memory || !words)
		return 1;
	for (uint64_t i = 0; i < words; i++)
		memory[i] = i * 0x9e3779b97f4a7c15u;
	for (uint64_t i = 0; i < accesses; i++) {
		uint64_t *at;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		at = &memory[(uint64_t)(((unsigned __int128)state * words) >> 64)];
		if (state % 100 < writes)
			*at += state;
		else
			sum += *at;
	}
	printf("%llu\n", (unsigned long long)sum);
	free(memory);
	return 0;
}
