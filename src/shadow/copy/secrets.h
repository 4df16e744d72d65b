/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that a program has asked not to be copied when it forks (MADV_DONTFORK, MADV_WIPEONFORK):
 * keys mostly. It is not read, nor is it in a copy; what memfd_secret gives nobody can read anyway.
 *
 * The kernel tells of it in /proc/PID/smaps, which takes its time (1 ms for 100 MiB, none of it the
 * target's), so not while the target is held: before, so that it is not read, and after, for what
 * came meanwhile.
 */
#ifndef SHADOW_COPY_SECRETS_H
#define SHADOW_COPY_SECRETS_H

#include "areas.h"

struct secret {
	uint64_t start, end;
};

struct secrets {
	struct secret *at; /* by address */
	size_t count, capacity;
};

/* Takes a line of smaps; `*start` and `*end` go from one line to the next, at first 0. False: no
 * memory. */
bool secrets_take_line(struct secrets *secrets, const char *line, uint64_t *start, uint64_t *end);
/* All of a process; keeps its memory. */
struct hp_error *secrets_read(struct secrets *secrets, pid_t pid);
void secrets_clear(struct secrets *secrets);

/* Whether any of it is within. */
bool secrets_meet(const struct secrets *secrets, uint64_t start, uint64_t end);

#endif
