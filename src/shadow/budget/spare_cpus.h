/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the CPUs on which a copy takes the least from the target.
 *
 * On a core of its own a copy takes nearly nothing. On the other hardware thread of the target's
 * core it takes up to half of that core's throughput, which the target's CPU clock does not show.
 * If other programs keep all CPUs busy (cpu_load.h), the target loses its share of what the copy
 * takes; if the target itself keeps all usable CPUs busy, it loses all of it.
 */
#ifndef SHADOW_BUDGET_SPARE_CPUS_H
#define SHADOW_BUDGET_SPARE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum spare_cpus {
	ROOM_OF_ITS_OWN, /* an idle CPU of another core than the thread's */
	ROOM_IN_CORE,	 /* only an idle CPU of the thread's own core */
	ROOM_SHARED,	 /* other programs keep all CPUs busy; the target has its share of them */
	ROOM_NONE,	 /* the target keeps all CPUs busy: the copy takes the target's time */
	ROOM_AFTER,	 /* the target has ended: nothing is taken from it */
};

/* Whether a copy there uses only CPU time that would otherwise be idle. */
static inline bool is_idle_room(enum spare_cpus room)
{
	return room == ROOM_OF_ITS_OWN || room == ROOM_IN_CORE;
}

/* The CPU that a thread runs on, or ran on last; -1: the thread has ended. */
int cpu_of_thread(pid_t tid);

/* How many CPUs this process may keep busy by its affinity and the quotas of its control groups. At
 * least 1. */
uint64_t cpus_to_use(void);

/* Sets `cpus` to the CPUs on which a copy of thread `tid` takes the least. `running`: the number of
 * threads of the target that want a CPU now; `usable`: see cpus_to_use. Never returns ROOM_SHARED
 * or ROOM_AFTER. */
enum spare_cpus spare_cpus(pid_t tid, uint64_t running, uint64_t usable, cpu_set_t *cpus);

/* With an idle CPU, a copy runs at the lowest priority (SCHED_IDLE): the scheduler treats its CPU as idle,
 * so other threads use it instead of the target's CPU. Without an idle CPU, such a copy would not run; it
 * gets normal priority, because the budget has paid for its CPU time. */
void set_copy_priority(pid_t copy, enum spare_cpus room);

/* Moves the calling thread to `cpus`, and says where it may go back to: nowhere if that is not known.
 */
void step_beside(const cpu_set_t *cpus, cpu_set_t *before);
void step_back(const cpu_set_t *before);

#endif
