/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchdog.h"

#include "../tuning.h"
#include <hpcprof/base/thread.h>

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	NS_A_SECOND = 1000000000,
};

/* `ns` after `from`. */
static struct timespec later(struct timespec from, uint64_t ns)
{
	ns += (uint64_t)from.tv_nsec;
	from.tv_sec += (time_t)(ns / NS_A_SECOND);
	from.tv_nsec = (long)(ns % NS_A_SECOND);
	return from;
}

static bool is_past(struct timespec now, struct timespec end)
{
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

/* The shadow's CPU time so far; 0 if that is unknown. */
static uint64_t used_ns(const struct shadow_watchdog *watchdog)
{
	struct timespec now;

	if (clock_gettime(watchdog->clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_A_SECOND + (uint64_t)now.tv_nsec - watchdog->start_ns;
}

/* The CPU time that the shadow has left. */
static uint64_t left_ns(const struct shadow_watchdog *watchdog)
{
	uint64_t used = used_ns(watchdog);
	uint64_t most = watchdog->granted_ns < watchdog->cpu_ns ? watchdog->granted_ns
								: watchdog->cpu_ns;

	return used < most ? most - used : 0;
}

/* A process uses at most one CPU, so it is not checked again before it can have used what is
 * left. */
static void *watch(void *context)
{
	struct shadow_watchdog *watchdog = context;
	struct timespec now, end;
	uint64_t left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = later(now, watchdog->cpu_ns * WATCHDOG_PATIENCE);
	pthread_mutex_lock(&watchdog->mutex);
	while (!watchdog->is_over && !watchdog->has_fired) {
		struct timespec next;

		left = left_ns(watchdog);
		clock_gettime(CLOCK_MONOTONIC, &now);
		next = later(now, left > SHORTEST_PAUSE_NS ? left : SHORTEST_PAUSE_NS);
		if (left == 0 || is_past(now, end)) {
			watchdog->has_fired = true;
			syscall(SYS_pidfd_send_signal, watchdog->pidfd, SIGSTOP, NULL, 0);
		} else {
			pthread_cond_timedwait(&watchdog->wake, &watchdog->mutex, &next);
		}
	}
	pthread_mutex_unlock(&watchdog->mutex);
	return NULL;
}

/* Finds the shadow's CPU clock, and its current value. */
static void look_at_clock(struct shadow_watchdog *watchdog, pid_t pid)
{
	struct timespec now = { 0 };

	if (clock_getcpuclockid(pid, &watchdog->clock) != 0 ||
	    clock_gettime(watchdog->clock, &now) < 0)
		watchdog->clock = CLOCK_MONOTONIC;
	clock_gettime(watchdog->clock, &now);
	watchdog->start_ns = (uint64_t)now.tv_sec * NS_A_SECOND + (uint64_t)now.tv_nsec;
}

struct hp_error *shadow_watchdog_begin(struct shadow_watchdog *watchdog, pid_t pid, uint64_t cpu_ns)
{
	pthread_condattr_t attributes;
	int failed;

	*watchdog =
		(struct shadow_watchdog){ .pidfd = -1, .cpu_ns = cpu_ns, .granted_ns = UINT64_MAX };
	pthread_mutex_init(&watchdog->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watchdog->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!cpu_ns)
		return NULL;
	look_at_clock(watchdog, pid);
	/* By descriptor, since the process id may be reused by then. */
	watchdog->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (watchdog->pidfd < 0)
		return hp_error_create_errno(errno, "shadow %d", (int)pid);
	/* Signals of the program are delivered to its other threads. */
	failed = hp_thread_start(&watchdog->thread, watch, watchdog);
	watchdog->is_running = !failed;
	return failed ? hp_error_create_errno(failed, "a thread to watch a shadow") : NULL;
}

void shadow_watchdog_end(struct shadow_watchdog *watchdog)
{
	pthread_mutex_lock(&watchdog->mutex);
	watchdog->is_over = true;
	pthread_cond_signal(&watchdog->wake);
	pthread_mutex_unlock(&watchdog->mutex);
	if (watchdog->is_running)
		pthread_join(watchdog->thread, NULL);
	if (watchdog->pidfd >= 0)
		close(watchdog->pidfd);
	pthread_cond_destroy(&watchdog->wake);
	pthread_mutex_destroy(&watchdog->mutex);
}

bool shadow_watchdog_hurry(struct shadow_watchdog *watchdog, uint64_t cpu_ns)
{
	if (!watchdog->is_running)
		return false;
	pthread_mutex_lock(&watchdog->mutex);
	if (left_ns(watchdog) > cpu_ns)
		watchdog->cpu_ns -= left_ns(watchdog) - cpu_ns;
	pthread_cond_signal(&watchdog->wake);
	pthread_mutex_unlock(&watchdog->mutex);
	return true;
}

void shadow_watchdog_grant(struct shadow_watchdog *watchdog, uint64_t cpu_ns)
{
	uint64_t before_ns, used;

	if (!watchdog->is_running)
		return;
	pthread_mutex_lock(&watchdog->mutex);
	before_ns = watchdog->granted_ns;
	used = used_ns(watchdog);
	watchdog->granted_ns = cpu_ns < UINT64_MAX - used ? used + cpu_ns : UINT64_MAX;
	/* Otherwise it notices the larger limit when the former one is used up. */
	if (watchdog->granted_ns < before_ns)
		pthread_cond_signal(&watchdog->wake);
	pthread_mutex_unlock(&watchdog->mutex);
}

bool shadow_watchdog_has_fired(struct shadow_watchdog *watchdog)
{
	bool has_fired;

	pthread_mutex_lock(&watchdog->mutex);
	has_fired = watchdog->has_fired;
	pthread_mutex_unlock(&watchdog->mutex);
	return has_fired;
}
