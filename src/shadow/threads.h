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
	pid_t only_tid; /* 0: all its threads */
	clockid_t clock;
	uint64_t cpu_ns; /* at the last look */
	bool is_gone;
};

struct target {
	struct target_process *at;
	size_t count, capacity;
	uint64_t base_ns;  /* what they had used before we came */
	uint64_t ended_ns; /* by those that have ended */
	uint64_t look_ns;  /* when descendants are looked for next */
	bool follows;	   /* descendants too */
};

/* Adds one, with all threads or one only. False: no memory; one that is gone is not added. */
bool target_add(struct target *target, pid_t pid, pid_t only_tid);
void target_clear(struct target *target);

/* CPU time used by all since they were added; looks for new descendants, whose beginnings windows
 * are to find, too: as soon as that takes little. */
uint64_t target_cpu_ns(struct target *target, uint64_t now_ns);

/* Whether all of it had ended at the last look. */
bool target_is_gone(const struct target *target);

/* How long its threads have been ready to run without running, in all; of very many, the first. */
uint64_t target_waited_ns(const struct target *target);

/* A thread that runs at this moment. */
struct target_choice {
	pid_t pid, tid;
	uint64_t running;    /* threads of the target that do; 0: none */
	uint64_t in_process; /* of its process */
};
/* Any of them is as likely as the next. */
void target_choose(struct target *target, struct hp_random *random, struct target_choice *choice);

#endif
