/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many threads want the CPUs of this machine.
 *
 * Where a CPU is idle now and then, a copy of lowest priority runs in that time and takes nothing from
 * anybody. Where other programs keep all CPUs busy it would hardly run at all: there it competes like
 * any other thread, and of what it takes the target loses its share.
 */
#ifndef SHADOW_BUDGET_CROWD_H
#define SHADOW_BUDGET_CROWD_H

#include <stdbool.h>
#include <stdint.h>

struct crowd {
	double runnable; /* threads, ours not among them; the mean over the last second or so */
	uint64_t at_ns;	 /* of the latest look; 0: none yet */
};

/* To be called often, while no copy runs. */
void crowd_look(struct crowd *crowd, uint64_t now_ns);
/* The same with the text of /proc/loadavg. */
void crowd_take(struct crowd *crowd, uint64_t now_ns, const char *text);
/* Whether `cpus` CPUs are busy with them. */
bool crowd_fills(const struct crowd *crowd, uint64_t cpus);

#endif
