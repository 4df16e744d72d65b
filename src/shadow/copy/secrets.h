/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that a program has marked as one does memory with keys in it: to be wiped in a fork
 * (MADV_WIPEONFORK), not to be in a core file (MADV_DONTDUMP), or locked and not to be copied by a
 * fork (mlock() and MADV_DONTFORK). It is not read, and copies do not have it. Memory of
 * memfd_secret() cannot be read by anybody. MADV_DONTFORK alone says nothing of keys: V8 marks all
 * of its heap so, to have forks made sooner.
 *
 * The marks are in /proc/PID/smaps. Reading that takes 1 ms for 100 MiB of memory, so it is not
 * read while the target is held, but before, so that marked memory is not read, and afterwards, so
 * that memory which was marked meanwhile is wiped.
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
