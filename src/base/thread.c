/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/thread.h>

#include <signal.h>

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
