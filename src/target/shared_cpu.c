/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"
#include <hpcprof/target/shared_cpu.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/thread.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The size of masks: more CPUs than any kernel supports. The kernel's own masks may be smaller. */
enum { MOST_CPUS = 1 << 16 };

/* --- which CPU ------------------------------------------------------------------------------- */

/* The CPUs on which the calling thread may run; malloc'ed, `bytes` long. */
static struct hp_error *allowed_cpus(cpu_set_t **cpus, size_t *bytes)
{
	*bytes = CPU_ALLOC_SIZE(MOST_CPUS);
	*cpus = calloc(1, *bytes);
	if (!*cpus)
		return hp_error_create_no_memory();
	if (sched_getaffinity(0, *bytes, *cpus) < 0)
		return hp_error_create_errno(errno, "asking which CPUs may be used");
	return NULL;
}

struct hp_error *hp_shared_cpu_choose(int *cpu)
{
	_cleanup_free_ cpu_set_t *cpus = NULL;
	size_t bytes;
	struct hp_error *error = allowed_cpus(&cpus, &bytes);

	for (int at = 0; !error && at < MOST_CPUS; at++)
		if (CPU_ISSET_S((size_t)at, bytes, cpus))
			*cpu = at;
	return error;
}

struct hp_error *hp_shared_cpu_leave(int cpu)
{
	_cleanup_free_ cpu_set_t *cpus = NULL;
	size_t bytes;
	struct hp_error *error = allowed_cpus(&cpus, &bytes);

	if (error)
		return error;
	CPU_CLR_S((size_t)cpu, bytes, cpus);
	if (CPU_COUNT_S(bytes, cpus) && sched_setaffinity(0, bytes, cpus) < 0)
		return hp_error_create_errno(errno, "leaving CPU %d", cpu);
	return NULL;
}

/* --- a command ------------------------------------------------------------------------------- */

struct hp_error *hp_shared_cpu_enter(pid_t pid, int cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
	_cleanup_free_ cpu_set_t *cpus = calloc(1, bytes);

	if (!cpus)
		return hp_error_create_no_memory();
	CPU_SET_S((size_t)cpu, bytes, cpus);
	if (sched_setaffinity(pid, bytes, cpus) < 0)
		return hp_error_create_errno(errno, "putting the command on CPU %d", cpu);
	hp_thread_set_slice(pid, SHARED_SLICE_NS);
	return NULL;
}
