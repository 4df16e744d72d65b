/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchdog.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_A_SECOND = 1000000000 };

static struct timespec deadline(uint64_t time_ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	time_ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(time_ns / NS_A_SECOND);
	at.tv_nsec = (long)(time_ns % NS_A_SECOND);
	return at;
}

static void *watch(void *context)
{
	struct shadow_watchdog *watchdog = context;
	struct timespec end = deadline(watchdog->time_ns);

	pthread_mutex_lock(&watchdog->mutex);
	while (!watchdog->is_over &&
	       pthread_cond_timedwait(&watchdog->wake, &watchdog->mutex, &end) != ETIMEDOUT)
		;
	if (!watchdog->is_over) {
		watchdog->has_fired = true;
		syscall(SYS_pidfd_send_signal, watchdog->pidfd, SIGSTOP, NULL, 0);
	}
	pthread_mutex_unlock(&watchdog->mutex);
	return NULL;
}

struct hp_error *shadow_watchdog_begin(struct shadow_watchdog *watchdog, pid_t pid,
				       uint64_t time_ns)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	int failed;

	*watchdog = (struct shadow_watchdog){ .pidfd = -1, .time_ns = time_ns };
	pthread_mutex_init(&watchdog->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watchdog->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!time_ns)
		return NULL;
	/* By descriptor, since a number may be somebody else's by then. */
	watchdog->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (watchdog->pidfd < 0)
		return hp_error_create_errno(errno, "shadow %d", (int)pid);
	/* Signals of the program are for its other threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&watchdog->thread, NULL, watch, watchdog);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
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

bool shadow_watchdog_has_fired(struct shadow_watchdog *watchdog)
{
	bool has_fired;

	pthread_mutex_lock(&watchdog->mutex);
	has_fired = watchdog->has_fired;
	pthread_mutex_unlock(&watchdog->mutex);
	return has_fired;
}
