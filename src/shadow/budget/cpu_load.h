/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how many threads compete for the CPUs of this machine.
 *
 * If a CPU is idle now and then, a copy with the lowest priority runs in the idle time and takes
 * nothing from other threads. If other programs keep all CPUs busy, such a copy would hardly run.
 * Then it runs with normal priority, and the target loses its share of the CPU time that the copy
 * takes.
 */
#ifndef SHADOW_BUDGET_CPU_LOAD_H
#define SHADOW_BUDGET_CPU_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_load {
	double runnable;       /* threads except the caller's: a mean over about the last second */
	double idle_cpus;      /* a mean over the same time; negative: not known yet */
	uint64_t at_ns;	       /* time of the latest measurement; 0: none yet */
	uint64_t from_ns;      /* start of the current interval of idle time; 0: none */
	uint64_t from_idle_ns; /* idle time of all CPUs at `from_ns` */
};

void cpu_load_init(struct cpu_load *load);
/* Measures. Must be called often. `own_ns`: the CPU time that this process has taken so far, with that of
 * a copy of the lowest priority if one runs: other programs left it. */
void cpu_load_look(struct cpu_load *load, uint64_t now_ns, uint64_t own_ns, bool has_copy);
/* Ends the current interval of idle time, because a copy begins to run, or ends. The CPU time of a
 * copy of another priority must not be attributed to other programs. */
void cpu_load_pause(struct cpu_load *load);
/* The same as cpu_load_look, with the text of /proc/loadavg and the idle time of all CPUs. */
void cpu_load_take(struct cpu_load *load, uint64_t now_ns, const char *text, uint64_t idle_ns,
		   uint64_t own_ns, bool has_copy);
/* Whether other programs keep all CPUs busy. False if it is not known yet. */
bool cpu_load_is_full(const struct cpu_load *load);

#endif
