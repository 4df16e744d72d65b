/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that share one CPU: the scheduler has them take turns of milliseconds, so that whatever
 * makes the CPU slower, or faster, does so for all of them alike.
 *
 *	hp_shared_cpu_choose	says which CPU that shall be
 *	hp_shared_cpu_leave	takes ourselves off it
 *	hp_shared_cpu_enter	puts a command there, before it runs
 */
#ifndef HPCPROF_TARGET_SHARED_CPU_H
#define HPCPROF_TARGET_SHARED_CPU_H

#include <hpcprof/base/error.h>

#include <sys/types.h>

/* The last of those that the calling thread may run on: most else begins at the first. */
struct hp_error *hp_shared_cpu_choose(int *cpu);
/* The calling thread, and what it starts, runs elsewhere from now on; where there is no other CPU
 * for it, it stays. */
struct hp_error *hp_shared_cpu_leave(int cpu);
/* The process, which has one thread by now, and all that it will start, runs there alone, in slices
 * of some milliseconds as far as the kernel lets it choose. */
struct hp_error *hp_shared_cpu_enter(pid_t pid, int cpu);

#endif
