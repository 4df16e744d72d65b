/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time that others used while they were recorded, in user mode and in the kernel, as /proc tells
 * it: of commands of ours wait4() does. In steps of a clock tick (10 ms), and of a process that ends
 * up to the last look at it.
 */
#ifndef HPCPROF_TARGET_CPU_TIMES_H
#define HPCPROF_TARGET_CPU_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hp_cpu_times {
	uint64_t user_ns;
	uint64_t system_ns;
};

/* One process or thread, or the system. */
struct hp_cpu_times_of {
	pid_t pid; /* 0: the system */
	bool is_thread;
	bool is_known; /* `begun` was read */
	struct hp_cpu_times begun;
	struct hp_cpu_times last;
};

struct hp_cpu_meter {
	struct hp_cpu_times_of *of; /* owned */
	size_t count;
};

/* What it is to look at; of none it knows nothing. `cpus` narrows the system to some of its CPUs, of
 * which /proc/stat is not asked. Without memory it stays empty. */
void hp_cpu_meter_create(struct hp_cpu_meter *meter, bool system_wide, const char *cpus,
			 const pid_t *pids, size_t pid_count, const pid_t *tids, size_t tid_count);
void hp_cpu_meter_clear(struct hp_cpu_meter *meter);
/* From now on. */
void hp_cpu_meter_begin(struct hp_cpu_meter *meter);
void hp_cpu_meter_look(struct hp_cpu_meter *meter);
/* From the beginning to the last look, of all together; 0 and 0: unknown. */
struct hp_cpu_times hp_cpu_meter_times(const struct hp_cpu_meter *meter);

/* From the text of /proc/stat, or of /proc/PID/stat; for the tests. False: it is no such text. */
bool hp_cpu_times_of_system(const char *text, uint64_t tick_ns, struct hp_cpu_times *times);
bool hp_cpu_times_of_process(const char *text, uint64_t tick_ns, struct hp_cpu_times *times);

#endif
