/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "running.h"

#include <hpcprof/base/number.h>

void running_init(struct running *running)
{
	*running = (struct running){ 0 };
	pthread_mutex_init(&running->lock, NULL);
}

void running_clear(struct running *running)
{
	pthread_mutex_destroy(&running->lock);
}

void running_begin(struct running *running, struct job *job, pid_t copy)
{
	pthread_mutex_lock(&running->lock);
	running->job = job;
	running->copy = copy;
	running->run_ns = hp_clock_monotonic_ns();
	running->ran_ns = 0;
	pthread_mutex_unlock(&running->lock);
}

void running_end(struct running *running)
{
	pthread_mutex_lock(&running->lock);
	running->job = NULL;
	running->ran_ns = hp_clock_monotonic_ns();
	pthread_mutex_unlock(&running->lock);
}

double running_share(struct running *running, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t start_ns, end_ns;

	pthread_mutex_lock(&running->lock);
	start_ns = running->run_ns;
	end_ns = start_ns && !running->ran_ns ? to_ns : running->ran_ns;
	pthread_mutex_unlock(&running->lock);
	if (start_ns < from_ns)
		start_ns = from_ns;
	return end_ns > start_ns ? (double)(end_ns - start_ns) / (double)(to_ns - from_ns) : 0;
}
