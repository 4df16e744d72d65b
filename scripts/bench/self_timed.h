/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs that know their own shares have in common: work of different natures in procedures
 * of known names, timed by the thread's own CPU clock.
 *
 * Each work_*() does `steps` steps and touches nothing but its arguments. The clock is read by a
 * system call, which user-mode samples do not see: keep what is between two readings long.
 */
#ifndef SELF_TIMED_H
#define SELF_TIMED_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define WORK __attribute__((noinline, noclone)) static

static inline uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A chain of dependent additions and rotations. */
WORK uint64_t work_chain(uint64_t value, unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++) {
		value += value << 3 | value >> 61;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

/* The same instructions at another address: who takes one for the other is found out. */
WORK uint64_t work_twin(uint64_t value, unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++) {
		value += value << 5 | value >> 59;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

#endif
