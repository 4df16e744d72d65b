/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/thread.h>

#include <signal.h>
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
