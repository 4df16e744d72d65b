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
	double runnable;  /* threads, ours not among them; the mean over the last second or so */
	double idle_cpus; /* the same; negative: not known yet */
	uint64_t at_ns;	  /* of the latest look; 0: none yet */
	uint64_t from_ns; /* of the look that idle time is taken from; 0: none */
	uint64_t from_idle_ns;
};

void cpu_load_init(struct cpu_load *load);
/* To be called often, while no copy runs. */
void cpu_load_look(struct cpu_load *load, uint64_t now_ns);
/* A copy runs: it takes idle time, which is not to be mistaken for other programs'. */
void cpu_load_pause(struct cpu_load *load);
/* The same as cpu_load_look, with the text of /proc/loadavg, and idle time of all CPUs. */
void cpu_load_take(struct cpu_load *load, uint64_t now_ns, const char *text, uint64_t idle_ns);
/* Whether all CPUs are busy with them; no while it is not known. */
bool cpu_load_is_full(const struct cpu_load *load);

#endif
