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
	ROOM_OF_ITS_OWN, /* a CPU of a core that the thread is not on */
	ROOM_IN_CORE,	 /* of its core only */
	ROOM_SHARED,	 /* other programs keep all CPUs busy; the target has its share of them */
	ROOM_NONE,	 /* but its own time */
	ROOM_AFTER,	 /* the target has ended: nothing is taken from it */
};

/* Whether a copy runs there in time that nobody else wants. */
static inline bool is_idle_room(enum spare_cpus room)
{
	return room == ROOM_OF_ITS_OWN || room == ROOM_IN_CORE;
}

/* Where a thread runs, or ran last; -1: it has ended. */
int cpu_of_thread(pid_t tid);

/* How many CPUs we may keep busy: of our affinity, within the quotas of our control groups. At
 * least 1. */
uint64_t cpus_to_use(void);

/* `cpus`: where a copy of thread `tid` takes the least. Never ROOM_SHARED or ROOM_AFTER. `running`: how many threads of the target
 * want a CPU now, of `usable` ones. */
enum spare_cpus spare_cpus(pid_t tid, uint64_t running, uint64_t usable, cpu_set_t *cpus);

#endif
