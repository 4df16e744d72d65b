/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes independent parts of a long report in several processes, and writes them in order.
 *
 * Each worker is a fork of this process, on a CPU of its own. It sends the bytes of its items
 * through a pipe, which bounds how far it gets ahead. What an item changes in memory is lost with
 * its worker. If there is only one CPU, if there are few items, or if no process can be created,
 * this process makes the items itself; the bytes are the same.
 */
#ifndef REPORT_COMMON_PARALLEL_H
#define REPORT_COMMON_PARALLEL_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <stddef.h>
#include <stdio.h>

typedef struct hp_error *(*parallel_item)(void *context, size_t item, FILE *out);

struct parallel;

/* `workers`: 0 means as many as there are CPUs. `context` must outlive it. The process must have no
 * other threads. */
struct hp_error *parallel_begin(size_t items, size_t workers, parallel_item write, void *context,
				struct parallel **parallel);
/* Writes the next item, or returns the error of making it. */
struct hp_error *parallel_next(struct parallel *parallel, FILE *out);
void parallel_end(struct parallel *parallel);
HP_DEFINE_CLEANUP(struct parallel, parallel_end);

#endif
