/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time that other processes used while they were recorded, in user mode and in the kernel, from
 * /proc (for commands of hpcprof, wait4() gives it). Its resolution is a clock tick (10 ms); for a
 * process that ends, it is known up to the last reading.
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

/* Sets the targets; without any it knows nothing. `cpus` limits the system to some of its CPUs,
 * which /proc/stat does not support: then nothing is known. Without memory it stays empty. */
void hp_cpu_meter_create(struct hp_cpu_meter *meter, bool system_wide, const char *cpus,
			 const pid_t *pids, size_t pid_count, const pid_t *tids, size_t tid_count);
void hp_cpu_meter_clear(struct hp_cpu_meter *meter);
/* Starts the measurement. */
void hp_cpu_meter_begin(struct hp_cpu_meter *meter);
void hp_cpu_meter_look(struct hp_cpu_meter *meter);
/* From the start to the last reading, for all together; 0 and 0: unknown. */
struct hp_cpu_times hp_cpu_meter_times(const struct hp_cpu_meter *meter);

/* How long CPUs have been idle since the system started, all added up. 0: unknown. */
uint64_t hp_cpu_idle_ns(void);

/* Parses the text of /proc/stat, or of /proc/PID/stat. False: not such a text. */
bool hp_cpu_times_of_system(const char *text, uint64_t tick_ns, struct hp_cpu_times *times);
bool hp_cpu_times_of_process(const char *text, uint64_t tick_ns, struct hp_cpu_times *times);

#endif
