/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells whether another hardware thread of this core is busy now, also in a virtual machine, where it may
 * be another machine's and nothing else tells. A core gives each of two threads half of some resources.
 * Zen 5 knows the store of a load at rename among the last 16 stores, or the last 8; so a chain that goes
 * through memory behind 12 other stores takes 15 or 21 cycles (scripts/machine/measure_core). Golden Cove
 * has room for 512 operations that have not retired, or for 256 (Intel 248966); so a chain that begins 360
 * operations behind another one runs beside it, or after it (measure_core, too).
 */
#ifndef HPCPROF_CALIBRATE_SHARING_H
#define HPCPROF_CALIBRATE_SHARING_H

#include <hpcprof/isa/machine.h>

enum hp_sharing { HP_SHARING_UNKNOWN, HP_CORE_ALONE, HP_CORE_SHARED };

/* Of the CPU that this runs on, which has this clock, in Hz. Takes some 20 microseconds.
 * HP_SHARING_UNKNOWN: this core does not tell, it is not `core`, or tries differ. */
enum hp_sharing hp_sharing_measure(const struct hp_core *core, double hz);

#endif
