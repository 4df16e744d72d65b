/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that share one CPU: the scheduler alternates between them every few milliseconds, so
 * that everything that slows the CPU down, or speeds it up, affects all of them alike.
 *
 *	hp_shared_cpu_choose	chooses the CPU
 *	hp_shared_cpu_leave	moves the calling thread to another CPU
 *	hp_shared_cpu_enter	moves a command there, before it runs
 */
#ifndef HPCPROF_TARGET_SHARED_CPU_H
#define HPCPROF_TARGET_SHARED_CPU_H

#include <hpcprof/base/error.h>

#include <sys/types.h>

/* The last CPU that the calling thread may run on, because most other work begins at the first. */
struct hp_error *hp_shared_cpu_choose(int *cpu);
/* The calling thread and what it starts no longer run on this CPU; if there is no other CPU, they
 * stay. */
struct hp_error *hp_shared_cpu_leave(int cpu);
/* The process, which must have one thread, and everything that it starts run only on this CPU, in
 * slices of some milliseconds if the kernel permits a choice. */
struct hp_error *hp_shared_cpu_enter(pid_t pid, int cpu);

#endif
