/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "try.h"

#include <hpcprof/pmu/open.h>

#include <errno.h>
#include <unistd.h>

int hp_try_open(struct perf_event_attr attr, pid_t pid, int cpu)
{
	int fd;

	attr.disabled = 1;
	fd = hp_perf_event_open(&attr, pid, cpu, -1);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}
