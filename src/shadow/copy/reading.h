/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a process's memory from outside, with as many threads as it is worth. */
#ifndef SHADOW_COPY_READING_H
#define SHADOW_COPY_READING_H

#include "runs.h"

/* Reads runs from `first` to before `end` into `buffer`, as many as one system call takes; returns the
 * next to begin with. A page that cannot be read any more is zero. */
size_t read_some_runs(pid_t pid, const struct runs *runs, size_t first, size_t end,
		      uint8_t *buffer);
/* Reads all of them, until `deadline_ns` of the monotonic clock; returns how many bytes. */
uint64_t read_runs(pid_t pid, const struct runs *runs, uint8_t *buffer, uint64_t deadline_ns);
/* What reading takes here, ns per byte, measured with a little memory of our own; 0: nobody can say. */
double reading_price(void);

#endif
