/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The geometry of the machine that this runs on, for models of its core: the table of its core, with
 * what sysfs says of the caches and cpuid of the TLBs in place of the table's figures.
 *
 * What is missing, not a number or out of bounds is passed over, each cache by itself: the result is
 * always valid, and the third level is left out (a virtual machine's share of it is not what sysfs
 * says).
 */
#ifndef HPCPROF_CALIBRATE_GEOMETRY_H
#define HPCPROF_CALIBRATE_GEOMETRY_H

#include <hpcprof/pmu/machine.h>
#include <hpcprof/uarch/geometry.h>

/* cpuid is asked only if `machine` is the running one: its root is "". */
struct hp_uarch_geometry hp_geometry_of_machine(const struct hp_machine *machine);

/* AMD's leaves 0x80000005 and 0x80000006 (APM volume 3, E.4.3 and E.4.4): four registers each, in
 * order of their letters. Fields that are reserved or odd change nothing. */
void hp_geometry_take_amd_tlbs(struct hp_uarch_geometry *geometry, const uint32_t first[4],
			       const uint32_t second[4]);

/* One part of leaf 0x18 of cpuid, as Intel has it (Intel 253666, CPUID): four registers. */
void hp_geometry_take_intel_tlb(struct hp_uarch_geometry *geometry, const uint32_t part[4]);

#endif
