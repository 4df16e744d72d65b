/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/thread.h>

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the process, as are signals: held by who must not be stopped, or while all stop. */
static pthread_mutex_t stopping = PTHREAD_MUTEX_INITIALIZER;

int hp_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all;
	sigset_t before;
	int failure;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure;
}

/* sched_setattr(2), of which the C library has no declaration. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/* Of two threads that are owed the same, the one with the shorter slice runs first. */
void hp_thread_hasten(void)
{
	const uint64_t shortest_slice_ns = 100000;
	struct attributes attributes = { 0 };

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) < 0 ||
	    attributes.policy != SCHED_OTHER)
		return;
	attributes.size = sizeof(attributes);
	attributes.runtime = shortest_slice_ns;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void hp_thread_begin_unstoppable(void)
{
	pthread_mutex_lock(&stopping);
}

void hp_thread_end_unstoppable(void)
{
	pthread_mutex_unlock(&stopping);
}

/* By the signal itself, which knows of process groups that nobody would continue. */
void hp_thread_stop_process(void)
{
	sigset_t stop;
	sigset_t before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	pthread_mutex_lock(&stopping);
	kill(getpid(), SIGTSTP);
	/* It stops here. */
	pthread_sigmask(SIG_UNBLOCK, &stop, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_mutex_unlock(&stopping);
}
