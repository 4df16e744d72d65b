/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds memory that a program has marked as programs mark memory with keys: wiped in a fork
 * (MADV_WIPEONFORK), excluded from core files (MADV_DONTDUMP), or both locked (mlock()) and not
 * inherited by a fork (MADV_DONTFORK). It is not read, and copies do not get it. Memory of
 * memfd_secret() cannot be read by anybody. MADV_DONTFORK alone does not mean keys: V8 marks its
 * whole heap with it to make forks faster.
 *
 * The marks are in /proc/PID/smaps. Reading that takes 1 ms per 100 MiB of memory, too long while
 * the target is held. So it is read before the first window of a process, so that marked memory is not
 * read, and behind each window's stop, to wipe what was marked since.
 */
#ifndef SHADOW_COPY_SECRETS_H
#define SHADOW_COPY_SECRETS_H

#include "areas.h"

struct secret {
	uint64_t start, end;
};

struct secrets {
	struct secret *at; /* sorted by address */
	size_t count, capacity;
};

/* Parses one line of smaps. `*start` and `*end` are kept from line to line, and 0 at first. False:
 * out of memory. */
bool secrets_take_line(struct secrets *secrets, const char *line, uint64_t *start, uint64_t *end);
/* Reads all secrets of a process. Memory is reused. */
struct hp_error *secrets_read(struct secrets *secrets, pid_t pid);
void secrets_clear(struct secrets *secrets);

/* Whether any secret lies within [start, end). */
bool secrets_meet(const struct secrets *secrets, uint64_t start, uint64_t end);

#endif
