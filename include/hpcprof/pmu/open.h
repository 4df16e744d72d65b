/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens events; each open event is a file descriptor. */
#ifndef HPCPROF_PMU_OPEN_H
#define HPCPROF_PMU_OPEN_H

#include <sys/types.h>

struct perf_event_attr;

/* perf_event_open(2): the descriptor (close-on-exec), or -1 and errno. Sets the size of the
 * attributes. `group` is its leader's descriptor, or -1. hp_machine_open_error() in machine.h gives
 * the message for a failure. */
int hp_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group);

/* Raises the limit on descriptors as far as possible: one event needs one per thread and CPU. The
 * limit remains, and children that are forked later inherit it. */
void hp_raise_descriptor_limit(void);

#endif
