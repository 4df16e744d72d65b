/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock FILE SECONDS
 *
 * A kernel of known cycle count that times itself: what hpcprof's clock is judged by. Not the
 * recorder's chain: on x86-64 multiplications, of 3 cycles each on every core since Nehalem and
 * Zen; on AArch64 exclusive-ors, of 1 cycle. Writes the clock of each stretch of some 50 us, Hz, a
 * line each, to FILE.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS_A_ROUND = 64, ROUNDS = 1024, MOST = 1 << 20 };

#if defined(__x86_64__)
enum { CYCLES_A_STEP = 3 };
static void run(uint64_t rounds)
{
	uint64_t value = 3;

	__asm__ volatile("1:\n\t"
			 ".rept 64\n\t"
			 "imul %[value], %[value]\n\t"
			 ".endr\n\t"
			 "dec %[rounds]\n\t"
			 "jnz 1b"
			 : [value] "+r"(value), [rounds] "+r"(rounds)
			 :
			 : "cc");
}
#elif defined(__aarch64__)
enum { CYCLES_A_STEP = 1 };
static void run(uint64_t rounds)
{
	uint64_t value = 3;
	uint64_t mask = 5;

	__asm__ volatile("1:\n\t"
			 ".rept 64\n\t"
			 "eor %[value], %[value], %[mask]\n\t"
			 ".endr\n\t"
			 "subs %[rounds], %[rounds], #1\n\t"
			 "b.ne 1b"
			 : [value] "+r"(value), [rounds] "+r"(rounds)
			 : [mask] "r"(mask)
			 : "cc");
}
#else
#error no kernel for this architecture
#endif

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t start_ns = now_ns();
	uint64_t end_ns = start_ns + (argc > 2 ? strtoul(argv[2], NULL, 10) : 2) * 1000000000;
	FILE *file = argc > 1 ? fopen(argv[1], "we") : NULL;
	uint64_t *times_ns = calloc(MOST, sizeof(*times_ns));
	size_t count = 0;

	if (!file || !times_ns)
		return 1;
	while (start_ns < end_ns && count < MOST) {
		uint64_t now;

		run(ROUNDS);
		now = now_ns();
		times_ns[count++] = now - start_ns;
		start_ns = now;
	}
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%.0f\n",
			1e9 * CYCLES_A_STEP * STEPS_A_ROUND * ROUNDS / (double)times_ns[i]);
	free(times_ns);
	return fclose(file) != 0;
}
