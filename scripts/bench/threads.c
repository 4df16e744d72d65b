/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads COUNT MILLIONS
 *
 * COUNT threads, which together do so many million steps of work, whatever the time that takes.
 */
#include "self_timed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 64, CHUNK = 10000 };

static void *run(void *context)
{
	uint64_t *steps = context;
	uint64_t value = 1;

	for (uint64_t done = 0; done < *steps; done += CHUNK)
		value = work_chain(value, CHUNK);
	*steps = value;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	uint64_t steps = (argc > 2 ? strtoull(argv[2], NULL, 10) : 100) * 1000000u;
	pthread_t threads[MOST_THREADS];
	uint64_t parts[MOST_THREADS];

	if (!count || count > MOST_THREADS)
		return 2;
	for (unsigned long i = 0; i < count; i++) {
		parts[i] = steps / count;
		if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0)
			return 1;
	}
	for (unsigned long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return parts[0] == 0;
}
