/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a copy can run, and what it takes from the target there.
 *
 * A CPU of its own takes nearly nothing. The other thread of the target's core takes up to half of
 * that core, which no clock of the target shows. Where the target keeps busy all CPUs that it and
 * we may use, whatever the copy runs is the target's loss.
 */
#ifndef SHADOW_BUDGET_SPARE_CPUS_H
#define SHADOW_BUDGET_SPARE_CPUS_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

enum spare_cpus {
	ROOM_OF_ITS_OWN, /* a CPU of a core that the thread is not on */
	ROOM_IN_CORE,	 /* of its core only */
	ROOM_NONE,	 /* but its own time */
};

/* How many CPUs we may keep busy: of our affinity, within the quotas of our control groups. At
 * least 1. */
uint64_t cpus_to_use(void);

/* `cpus`: where a copy of thread `tid` takes the least. `running`: how many threads of the target
 * want a CPU now, of `usable` ones. */
enum spare_cpus spare_cpus(pid_t tid, uint64_t running, uint64_t usable, cpu_set_t *cpus);

#endif
