/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beside BYTES SECONDS
 *
 * The same work again and again, some 8 ms each, at random places of so much memory, and how long it
 * took: while nothing with a low priority ran on this machine, and while something did, which is the
 * copies of shadow windows. Writes "alone MS COUNT beside MS COUNT", medians of CPU time, to standard
 * error. One run holds hundreds of turns of both, so that a machine whose pace changes does not
 * matter.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TURNS = 8192, TURN_MS = 8, WARM_UP_MS = 300 };

struct turns {
	double ms[MOST_TURNS];
	size_t count;
};

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Of all CPUs, with a nice value: what copies run with. */
static unsigned long low_priority_ticks(int fd)
{
	char text[256] = { 0 };
	unsigned long ticks = 0;

	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		(void)!sscanf(text, "cpu %*u %lu", &ticks);
	return ticks;
}

static double work(uint32_t *memory, size_t words, long steps)
{
	static uint64_t random = 88172645463325252;
	double start_ms = cpu_ms();

	for (long i = 0; i < steps; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		memory[random % words] += (uint32_t)random;
	}
	return cpu_ms() - start_ms;
}

static int by_value(const void *left, const void *right)
{
	const double *a = left;
	const double *b = right;

	return (*a > *b) - (*a < *b);
}

static double median(struct turns *turns)
{
	qsort(turns->ms, turns->count, sizeof(*turns->ms), by_value);
	return turns->count ? turns->ms[turns->count / 2] : 0;
}

int main(int argc, char **argv)
{
	static struct turns turns[2];
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
	double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
	uint32_t *memory = bytes ? calloc(1, bytes) : NULL;
	int fd = open("/proc/stat", O_RDONLY);
	long steps = 100000;

	if (!memory || fd < 0) {
		fprintf(stderr, "usage: beside BYTES SECONDS\n");
		return 2;
	}
	for (double start_ms = cpu_ms(); cpu_ms() - start_ms < WARM_UP_MS;)
		if (work(memory, bytes / sizeof(*memory), steps) < TURN_MS)
			steps += steps / 4;
	for (double start_ms = cpu_ms(); cpu_ms() - start_ms < seconds * 1e3;) {
		unsigned long before = low_priority_ticks(fd);
		double ms = work(memory, bytes / sizeof(*memory), steps);
		struct turns *of = &turns[low_priority_ticks(fd) > before];

		if (of->count < MOST_TURNS)
			of->ms[of->count++] = ms;
	}
	fprintf(stderr, "alone %.3f %zu beside %.3f %zu\n", median(&turns[0]), turns[0].count,
		median(&turns[1]), turns[1].count);
	return 0;
}
