/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a load takes that the second level, the third or memory serves, and how much the third level
 * keeps: now, on this CPU. Behind a hypervisor, beside others, that is not what tables and sysfs say.
 *
 * Pointers are chased through rings of lines in an order that prefetchers do not know. The first level's
 * latency, which depends on nobody else, is the clock: times relative to it are cycles.
 */
#ifndef HPCPROF_CALIBRATE_LATENCIES_H
#define HPCPROF_CALIBRATE_LATENCIES_H

#include <hpcprof/isa/machine.h>
#include <hpcprof/uarch/geometry.h>

/* Puts the latencies of this moment in place of the core's, and a third level of the size that serves this
 * CPU into the geometry. Takes some 100 ms, and 64 MiB of memory meanwhile; without those nothing
 * changes. */
void hp_latencies_measure(struct hp_uarch_geometry *geometry, struct hp_core *core);

#endif
