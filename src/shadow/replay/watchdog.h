/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops a shadow that takes too long. Waiting for a traced process has no time limit, and a
 * library may not use a timer's signal to interrupt the wait. So another thread sleeps, then sends
 * the shadow a signal that cannot be blocked, and the tracer sees the shadow stop.
 */
#ifndef SHADOW_REPLAY_WATCHDOG_H
#define SHADOW_REPLAY_WATCHDOG_H

#include <hpcprof/base/error.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct shadow_watchdog {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	int pidfd;
	clockid_t clock; /* the shadow's CPU clock */
	uint64_t start_ns, cpu_ns;
	uint64_t granted_ns; /* limit of CPU time since the start: see shadow_watchdog_grant */
	bool is_running, is_over, has_fired;
};

/* Ends the shadow after this much CPU time, or 20 times as much wall time. 0 ns: never. Must be
 * ended even after an error. */
struct hp_error *shadow_watchdog_begin(struct shadow_watchdog *watchdog, pid_t pid,
				       uint64_t cpu_ns);
void shadow_watchdog_end(struct shadow_watchdog *watchdog);
/* Lowers the limit to this much CPU time from now. False: there is no watchdog. */
bool shadow_watchdog_hurry(struct shadow_watchdog *watchdog, uint64_t cpu_ns);
/* Sets the limit to this much CPU time from now; UINT64_MAX: only the limit of
 * shadow_watchdog_begin holds. */
void shadow_watchdog_grant(struct shadow_watchdog *watchdog, uint64_t cpu_ns);
bool shadow_watchdog_has_fired(struct shadow_watchdog *watchdog);

#endif
