/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a long report that do not depend on each other, made by several processes and written in order.
 *
 * Each worker is a copy of this process (fork), on a CPU of its own, and hands the bytes of its items over a pipe,
 * which bounds how far it is ahead. What an item changes in memory is lost with the worker. Where there is one CPU,
 * or few items, or no process can be made, this process makes the items itself: the bytes are the same.
 */
#ifndef REPORT_COMMON_PARALLEL_H
#define REPORT_COMMON_PARALLEL_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <stddef.h>
#include <stdio.h>

typedef struct hp_error *(*parallel_item)(void *context, size_t item, FILE *out);

struct parallel;

/* `workers` 0: as many as there are CPUs for it. `context` outlives it. No thread may run beside this one. */
struct hp_error *parallel_begin(size_t items, size_t workers, parallel_item write, void *context,
				struct parallel **parallel);
/* Writes the next item, or says how making it failed. */
struct hp_error *parallel_next(struct parallel *parallel, FILE *out);
void parallel_end(struct parallel *parallel);
HP_DEFINE_CLEANUP(struct parallel, parallel_end);

#endif
