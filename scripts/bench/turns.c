/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turns BYTES SECONDS
 *
 * The same work again and again, some 4 ms each, at random places of so much memory. Prints, at the
 * end, after how many turns the work is the same again, 1, and a line for each: when it began
 * (CLOCK_MONOTONIC, s) and how long it took (ms).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_TURNS = 1 << 16, TURN_MS = 4, WARM_UP_MS = 300 };

static double ms_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double work(uint32_t *memory, size_t words, long steps)
{
	static uint64_t random = 88172645463325252;
	double start_ms = ms_of(CLOCK_MONOTONIC);

	for (long i = 0; i < steps; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		memory[random % words] += (uint32_t)random;
	}
	return ms_of(CLOCK_MONOTONIC) - start_ms;
}

int main(int argc, char **argv)
{
	static double began_ms[MOST_TURNS], took_ms[MOST_TURNS];
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
	double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
	uint32_t *memory = bytes ? calloc(1, bytes) : NULL;
	double start_ms = ms_of(CLOCK_PROCESS_CPUTIME_ID);
	long steps = 100000;
	size_t count = 0;

	if (!memory) {
		fprintf(stderr, "usage: turns BYTES SECONDS\n");
		return 2;
	}
	while (ms_of(CLOCK_PROCESS_CPUTIME_ID) - start_ms < WARM_UP_MS)
		if (work(memory, bytes / sizeof(*memory), steps) < TURN_MS)
			steps += steps / 4;
	while (count < MOST_TURNS && ms_of(CLOCK_PROCESS_CPUTIME_ID) - start_ms < seconds * 1e3) {
		began_ms[count] = ms_of(CLOCK_MONOTONIC);
		took_ms[count++] = work(memory, bytes / sizeof(*memory), steps);
	}
	printf("1\n");
	for (size_t i = 0; i < count; i++)
		printf("%.6f %.4f\n", began_ms[i] / 1e3, took_ms[i]);
	return 0;
}
