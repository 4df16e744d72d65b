/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names this machine's CPU, from /proc/cpuinfo and the caches of /sys. */
#ifndef PMU_CPU_H
#define PMU_CPU_H

#include <hpcprof/model/cpu.h>

/* All zero if the machine does not tell, or has several kinds of CPUs. */
struct hp_error *hp_cpu_find(const char *root, struct hp_cpu *cpu);

#endif
