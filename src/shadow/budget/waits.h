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
	uint64_t at_ns, waited_ns;	/* at the last look */
	double calm_ns, calm_waited_ns; /* without a copy; what is long past counts for less */
	double excess_ns;		/* beside copies, of all; may be below 0 */
};

/* A look when the copies begin, and one when they end: wall time, and what all threads of the
 * target have waited so far. The first look of all, with no copy, may come earlier. */
void waits_begin(struct waits *waits, uint64_t now_ns, uint64_t waited_ns);
/* `taken_ns`: CPU time that a copy took, which is the most that it can have kept anybody waiting.
 * Returns by how much what is the copies' doing has grown; less than 0: it has shrunk. */
double waits_end(struct waits *waits, uint64_t now_ns, uint64_t waited_ns, uint64_t taken_ns);

#endif
