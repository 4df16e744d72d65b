/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/calibrate/reference.h>

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum {
	LINE_BYTES = 64,
	HUGE_PAGE_BYTES = 2 << 20, /* on x86-64, and on Arm with pages of 4 KiB */
};

static double time_additions(void)
{
	double start_ns = (double)hp_clock_thread_ns();
	uint64_t sums[4] = { 0 };

	for (uint64_t i = 0; i < REFERENCE_ROUNDS; i++) {
		sums[0] += i;
		sums[1] += i;
		sums[2] += i;
		sums[3] += i;
		/* The compiler must assume that each sum is used, so that it does not replace the
		 * additions by a multiplication. */
		__asm__ volatile("" : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]));
	}
	return (double)hp_clock_thread_ns() - start_ns;
}

static double time_reads(const unsigned char *memory)
{
	double start_ns = (double)hp_clock_thread_ns();
	uint64_t sum = 0;

	for (size_t i = 0; i < REFERENCE_BYTES; i += LINE_BYTES)
		sum += memory[i];
	__asm__ volatile("" : : "r"(sum));
	return (double)hp_clock_thread_ns() - start_ns;
}

uint64_t hp_reference_measure(void)
{
	unsigned char *mapped = mmap(NULL, REFERENCE_BYTES + HUGE_PAGE_BYTES,
				     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *memory;
	double additions_ns = INFINITY;
	double reads_ns = 0;

	if (mapped == MAP_FAILED)
		return 0;
	/* In huge pages, where there are some: 1,024 small ones may take 25 ms in a virtual machine, and
	 * reading them is a matter of the TLB, too. */
	memory = mapped + (-(uintptr_t)mapped & (HUGE_PAGE_BYTES - 1));
	madvise(memory, REFERENCE_BYTES, MADV_HUGEPAGE);
	memset(memory, 1, REFERENCE_BYTES);
	/* For additions the shortest time counts, since interruptions only make it longer; for
	 * reads the mean, since others take away the cache only now and then. */
	for (int i = 0; i < REFERENCE_TRIES; i++) {
		additions_ns = fmin(additions_ns, time_additions());
		reads_ns += time_reads(memory) / REFERENCE_TRIES;
	}
	munmap(mapped, REFERENCE_BYTES + HUGE_PAGE_BYTES);
	return (uint64_t)sqrt(fmax(0, additions_ns) * reads_ns);
}
