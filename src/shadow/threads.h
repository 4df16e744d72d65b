/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target's processes and threads: which exist, how much CPU time they have used, how long they
 * have waited for CPUs; and the choice of a random running one.
 */
#ifndef HPCPROF_SHADOW_THREADS_H
#define HPCPROF_SHADOW_THREADS_H

#include <hpcprof/base/error.h>
#include <hpcprof/base/number.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target_process {
	pid_t pid;
	pid_t only_tid; /* the only thread of interest; 0: all threads */
	clockid_t clock;
	uint64_t cpu_ns; /* CPU time at the last target_cpu_ns */
	bool is_gone;
};

struct target {
	struct target_process *at;
	size_t count, capacity;
	uint64_t base_ns;  /* CPU time that processes had used when they were added */
	uint64_t ended_ns; /* CPU time of processes that have ended */
	uint64_t look_ns;  /* when to look for descendants again */
	bool follows;	   /* descendants are added */
};

/* Adds a process with all threads, or with one only. A process that has ended is not added. False:
 * no memory. */
bool target_add(struct target *target, pid_t pid, pid_t only_tid);
void target_clear(struct target *target);

/* The CPU time that all processes have used since they were added. It also looks for new
 * descendants, so that windows cover their first moments; how often depends on what looking costs.
 */
uint64_t target_cpu_ns(struct target *target, uint64_t now_ns);

/* Whether all processes had ended at the last target_cpu_ns. */
bool target_is_gone(const struct target *target);

/* How long all threads together have been ready to run without running; only the first
 * WAITING_LIMIT threads count. */
uint64_t target_waited_ns(const struct target *target);

/* A random thread that runs at this moment. */
struct target_choice {
	pid_t pid, tid;
	uint64_t running;    /* running threads of the target; 0: none, and no choice */
	uint64_t in_process; /* running threads of process `pid` */
};
/* All running threads have the same probability. */
void target_choose(struct target *target, struct hp_random *random, struct target_choice *choice);

#endif
