/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The copy that runs: there is at most one at a time. It has a lock of its own, because that of the books is
 * held while a copy is made, and no replay shall wait for that.
 */
#ifndef SHADOW_RUNNING_H
#define SHADOW_RUNNING_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

struct job;

struct running {
	pthread_mutex_t lock;
	struct job *job; /* whose copy runs; NULL: none */
	pid_t copy;	 /* its process */
	/* Begin and end of the latest run (CLOCK_MONOTONIC); end 0: it runs. */
	uint64_t run_ns, ran_ns;
};

void running_init(struct running *running);
void running_clear(struct running *running);
/* A copy, which has the priority that its job's room asks for, begins to run. */
void running_begin(struct running *running, struct job *job, pid_t copy);
void running_end(struct running *running);
/* The share of the interval, which has just ended, in which a copy ran. No copy can have both begun and
 * ended within it. */
double running_share(struct running *running, uint64_t from_ns, uint64_t to_ns);

#endif
