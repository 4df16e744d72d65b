/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * away FILE SECONDS
 *
 * Looks at the clock all the time and writes to FILE, in ns: how long it was interrupted in all, and then how
 * long each time, up to MOST_TIMES. What is longer than MOST_NS is somebody else's turn on the CPU and is left
 * out; what is shorter than LEAST_NS is looking at the clock. The stack is as deep as those of interpreters, so
 * that copying a piece of it copies as much as was asked for.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LEAST_NS = 400, MOST_NS = 150000, STACK_BYTES = 14000, MOST_TIMES = 65536 };

static uint32_t times_ns[MOST_TIMES];
static size_t time_count;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t watch(uint64_t duration_ns)
{
	uint64_t begin_ns = now_ns();
	uint64_t last_ns = begin_ns;
	uint64_t away_ns = 0;

	while (last_ns - begin_ns < duration_ns) {
		uint64_t next_ns = now_ns();
		uint64_t passed_ns = next_ns - last_ns;

		if (passed_ns >= LEAST_NS && passed_ns <= MOST_NS) {
			away_ns += passed_ns;
			if (time_count < MOST_TIMES)
				times_ns[time_count++] = (uint32_t)passed_ns;
		}
		last_ns = next_ns;
	}
	return away_ns;
}

__attribute__((noinline)) static uint64_t watch_from_below(uint64_t duration_ns)
{
	volatile char room[STACK_BYTES];
	uint64_t away_ns;

	for (int i = 0; i < STACK_BYTES; i++)
		room[i] = (char)i;
	/* Its pages are there before it is timed. */
	for (size_t i = 0; i < MOST_TIMES; i++)
		((volatile uint32_t *)times_ns)[i] = 0;
	away_ns = watch(duration_ns);
	return away_ns + (uint64_t)(room[1] - 1);
}

int main(int argc, char **argv)
{
	FILE *file;

	if (argc != 3)
		return 2;
	file = fopen(argv[1], "we");
	if (!file)
		return 1;
	fprintf(file, "%" PRIu64 "\n", watch_from_below((uint64_t)(1e9 * atof(argv[2]))));
	for (size_t i = 0; i < time_count; i++)
		fprintf(file, "%" PRIu32 "\n", times_ns[i]);
	return fclose(file) != 0;
}
