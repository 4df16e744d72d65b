/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The times that a copy was told by system calls, which the original was told differently. Programs
 * convert them and keep the result: clock() returns microseconds, progress displays keep seconds as
 * a double. Such a word of memory does not tell states apart either.
 */
#ifndef SHADOW_MATCH_TOLD_TIMES_H
#define SHADOW_MATCH_TOLD_TIMES_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct told_times {
	struct told_time {
		uint64_t seconds;
		uint64_t fraction; /* in ns or us: of a timespec or of a timeval */
	} at[TOLD_TIMES];	   /* the latest, as a ring; unused ones are 0 */
	size_t next;
};

void told_times_add(struct told_times *times, uint64_t seconds, uint64_t fraction);
/* Whether this word is one of them, in s (a double), ms, us or ns. */
bool told_times_have(const struct told_times *times, uint64_t word);

#endif
