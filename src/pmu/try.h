/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the kernel whether it opens an event, and closes the event again. */
#ifndef HPCPROF_PMU_TRY_H
#define HPCPROF_PMU_TRY_H

#include <linux/perf_event.h>
#include <sys/types.h>

/* Opens (disabled) and closes again; 0 or the errno. */
int hp_try_open(struct perf_event_attr attr, pid_t pid, int cpu);

#endif
