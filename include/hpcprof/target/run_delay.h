/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long the descendants of this process run, and how long they are ready to run but
 * wait for a CPU. A thread looks at all of them every few milliseconds. Other waiting (for a file,
 * a timer) is in neither figure. A process that ends between two looks is missed; so use the ratio
 * of the two figures, not their values.
 */
#ifndef HPCPROF_TARGET_RUN_DELAY_H
#define HPCPROF_TARGET_RUN_DELAY_H

#include <hpcprof/base/thread.h>

struct hp_run_delay_meter;
/* Starts measuring; NULL if the kernel does not report these times or memory is short. */
struct hp_run_delay_meter *hp_run_delay_begin(void);
/* Returns the sums over threads so far (zeros for NULL), and frees the meter. */
struct hp_thread_times hp_run_delay_end(struct hp_run_delay_meter *meter);

#endif
