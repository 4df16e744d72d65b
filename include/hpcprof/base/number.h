/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses numbers independently of the locale, reads clocks, and generates random numbers. The
 * hp_parse_* functions accept no partial matches.
 */
#ifndef HPCPROF_BASE_NUMBER_H
#define HPCPROF_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP_ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The whole text must be the number (decimal; 0x… where said), inside the type's range. */
bool hp_parse_u64(const char *text, uint64_t *value); /* decimal or 0x… */
bool hp_parse_i64(const char *text, int64_t *value);
bool hp_parse_double(const char *text, double *value); /* finite */

/* Parses the decimal number at `*text`, after spaces and tabs if any; `*text` then points behind
 * it. Returns false, and changes nothing, if there is no number or it is out of range. */
bool hp_scan_u64(const char **text, uint64_t *value);

/* "4ms", "1.5s", "200us", "10m", "2h", bare seconds. Nanoseconds out. */
bool hp_parse_duration_ns(const char *text, uint64_t *value_ns);
/* "64k", "2M", "1G" (powers of 1024), bare bytes. */
bool hp_parse_bytes(const char *text, uint64_t *value_bytes);

uint64_t hp_clock_monotonic_ns(void);
uint64_t hp_clock_realtime_ns(void);
uint64_t hp_clock_thread_ns(void);  /* CPU time of the calling thread */
uint64_t hp_clock_process_ns(void); /* CPU time of all threads of this process */

/* An unpredictable number from the kernel. */
uint64_t hp_unforeseen_u64(void);

/* A small fast generator (xorshift64*), for sampling periods, never for secrets. */
struct hp_random {
	uint64_t state; /* not 0 */
};
struct hp_random hp_random_seeded(uint64_t seed);
uint64_t hp_random_next(struct hp_random *random);
/* Uniform in [low, high]. */
uint64_t hp_random_between(struct hp_random *random, uint64_t low, uint64_t high);

#endif
