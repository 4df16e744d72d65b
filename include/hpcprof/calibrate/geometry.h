/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The geometry of this machine's core, for models of it: the core's table, with the sizes that
 * sysfs reports for caches and cpuid for TLBs in place of the table's.
 *
 * Values that are missing, not numeric or out of bounds are ignored, for each cache separately, so
 * the result is always valid. The third level is left out, because sysfs does not know a virtual
 * machine's share of it.
 */
#ifndef HPCPROF_CALIBRATE_GEOMETRY_H
#define HPCPROF_CALIBRATE_GEOMETRY_H

#include <hpcprof/pmu/machine.h>
#include <hpcprof/uarch/geometry.h>

/* Returns the geometry. cpuid is used only if `machine` is the running one (its root is ""). */
struct hp_uarch_geometry hp_geometry_of_machine(const struct hp_machine *machine);

/* Takes the TLBs from AMD's leaves 0x80000005 and 0x80000006 (APM volume 3, E.4.3 and E.4.4): four
 * registers each, in alphabetical order. Reserved or implausible fields are ignored. */
void hp_geometry_take_amd_tlbs(struct hp_uarch_geometry *geometry, const uint32_t first[4],
			       const uint32_t second[4]);

/* Takes a TLB from one part of Intel's leaf 0x18 of cpuid (Intel 253666, CPUID): four registers. */
void hp_geometry_take_intel_tlb(struct hp_uarch_geometry *geometry, const uint32_t part[4]);

#endif
