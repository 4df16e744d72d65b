/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening events: each is a file descriptor. */
#ifndef HPCPROF_PMU_OPEN_H
#define HPCPROF_PMU_OPEN_H

#include <sys/types.h>

struct perf_event_attr;

/* perf_event_open(2): the descriptor, closed on exec, or -1 and errno. The attributes' size is set
 * here. `group` is its leader's descriptor, or -1. What to tell people of a failure is
 * hp_machine_open_error()'s, see machine.h. */
int hp_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group);

/* As many descriptors as this process may have: an event of every thread and CPU is many. It stays
 * so, and goes to children that are forked from then on. */
void hp_raise_descriptor_limit(void);

#endif
