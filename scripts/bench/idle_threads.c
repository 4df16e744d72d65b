/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle_threads COUNT
 *
 * COUNT threads that wait, and one that works until it is killed.
 */
#include "self_timed.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10, CHUNK = 10000 };

static void *wait_for_ever(void *context)
{
	for (;;)
		pause();
	return context;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	volatile uint64_t value = 1;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (unsigned long i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attributes, wait_for_ever, NULL) != 0)
			return 1;
	}
	if (write(STDOUT_FILENO, "\n", 1) != 1)
		return 1;
	for (;;)
		value = work_chain(value, CHUNK);
}
