/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how much longer the target waits for CPUs because copies of it run.
 *
 * The kernel reports how long threads have been ready to run without running. Other programs make
 * them wait, too; so the waiting beside a copy is compared with the usual waiting without one, each
 * per wall time. A single difference says little on a busy machine, so they are added up; the part
 * of the sum above 0 is attributed to copies.
 */
#ifndef SHADOW_BUDGET_WAITS_H
#define SHADOW_BUDGET_WAITS_H

#include <stdint.h>

struct waits {
	uint64_t at_ns, waited_ns; /* wall time and waiting time at the last measurement */
	/* Wall time and waiting time without a copy. Time long ago has less weight. */
	double calm_ns, calm_waited_ns;
	double excess_ns; /* waiting beside copies beyond the usual, summed; may be negative */
};

/* waits_begin: to be called when the first copy begins to run. waits_end: when a copy ends. Both
 * get the wall time, and the time that all threads of the target have waited so far. The very first
 * call of waits_begin may come earlier, when there is no copy: it starts the first calm time. */
void waits_begin(struct waits *waits, uint64_t now_ns, uint64_t waited_ns);
/* `taken_ns`: the CPU time that a copy took; it cannot have kept threads waiting for longer.
 * Returns by how much the waiting attributed to copies has grown; negative: it has shrunk. */
double waits_end(struct waits *waits, uint64_t now_ns, uint64_t waited_ns, uint64_t taken_ns);

#endif
