/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time that others used while they were recorded, in user mode and in the kernel, as /proc tells
 * it: of commands of ours wait4() does. In steps of a clock tick (10 ms), and of a process that ends
 * up to the last look at it.
 */
#ifndef COLLECT_CPU_TIMES_H
#define COLLECT_CPU_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_times {
	uint64_t user_ns;
	uint64_t system_ns;
};

/* One process or thread, or the system. */
struct cpu_times_of {
	pid_t pid; /* 0: the system */
	bool is_thread;
	bool is_known; /* `begun` was read */
	struct cpu_times begun;
	struct cpu_times last;
};

struct cpu_meter {
	struct cpu_times_of *of; /* owned */
	size_t count;
};

/* What it is to look at; of none it knows nothing. `cpus` narrows the system to some of its CPUs, of
 * which /proc/stat is not asked. Without memory it stays empty. */
void cpu_meter_create(struct cpu_meter *meter, bool system_wide, const char *cpus,
		      const pid_t *pids, size_t pid_count, const pid_t *tids, size_t tid_count);
void cpu_meter_clear(struct cpu_meter *meter);
/* From now on. */
void cpu_meter_begin(struct cpu_meter *meter);
void cpu_meter_look(struct cpu_meter *meter);
/* From the beginning to the last look, of all together; 0 and 0: unknown. */
struct cpu_times cpu_meter_times(const struct cpu_meter *meter);

/* From the text of /proc/stat, or of /proc/PID/stat; for the tests. False: it is no such text. */
bool cpu_times_of_system(const char *text, uint64_t tick_ns, struct cpu_times *times);
bool cpu_times_of_process(const char *text, uint64_t tick_ns, struct cpu_times *times);

#endif
