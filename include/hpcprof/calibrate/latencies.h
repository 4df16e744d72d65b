/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures properties of this CPU at this time: the latency of a load from the second level, the
 * third level and memory; the size of the third level; the cost of an access to a page that is not
 * in the first TLB, or in neither; and the cost of a mispredicted branch. In a virtual machine, or
 * beside other programs, tables and sysfs do not give these values.
 *
 * Pointers are followed through rings of cache lines, in an order that prefetchers cannot predict.
 * The latency of the first level, which does not depend on other programs, serves as the clock:
 * times relative to it are cycles.
 */
#ifndef HPCPROF_CALIBRATE_LATENCIES_H
#define HPCPROF_CALIBRATE_LATENCIES_H

#include <hpcprof/isa/machine.h>
#include <hpcprof/uarch/geometry.h>

/* Replaces the core's latencies by measured ones, and the geometry's third level by one of the size
 * that serves this CPU. Takes some 100 ms, and 64 MiB of memory for that time; without the memory
 * nothing changes. */
void hp_latencies_measure(struct hp_uarch_geometry *geometry, struct hp_core *core);

#endif
