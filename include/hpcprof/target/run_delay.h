/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long what this process starts waits for a CPU although it could run: by looking at all its
 * descendants every few milliseconds, from a thread of its own. What it waits for else, a file or a
 * timer, is in neither figure. A process that is gone within that time is not seen, so that the two
 * figures are to be taken as a ratio.
 */
#ifndef HPCPROF_TARGET_RUN_DELAY_H
#define HPCPROF_TARGET_RUN_DELAY_H

#include <hpcprof/base/thread.h>

struct hp_run_delay_meter;
/* NULL when it cannot be had: the kernel does not tell, or memory is short. */
struct hp_run_delay_meter *hp_run_delay_begin(void);
/* Sums over threads, from the beginning up to now; takes NULL, of which it tells nothing. Frees the meter. */
struct hp_thread_times hp_run_delay_end(struct hp_run_delay_meter *meter);

#endif
