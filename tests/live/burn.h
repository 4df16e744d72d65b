/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Procedures that burn a known amount of CPU time, so that a test knows where the samples belong
 * whatever else the machine does meanwhile.
 */
#ifndef TESTS_LIVE_BURN_H
#define TESTS_LIVE_BURN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Neither inlined nor cloned. */
#if __has_attribute(noipa)
#define APART __attribute__((noipa))
#else
#define APART __attribute__((noinline))
#endif

/* A procedure of that very name in which the calling thread spends `cpu_ms` of CPU time. The clock
 * is asked seldom: nearly every user-mode sample is in the inner loop. */
#define BURNER(name)                                                                               \
	APART static void name(unsigned cpu_ms)                                                    \
	{                                                                                          \
		uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ms * 1000000ull;         \
                                                                                                   \
		while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)                                 \
			for (volatile unsigned i = 0; i < 20000; i++)                              \
				;                                                                  \
	}                                                                                          \
	struct burner_##name##_needs_semicolon

static inline _Noreturn void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static inline unsigned number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 10);
}

#endif
