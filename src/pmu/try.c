/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "try.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int hp_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int hp_try_open(struct perf_event_attr attr, pid_t pid, int cpu)
{
	int fd;

	attr.disabled = 1;
	fd = hp_perf_event_open(&attr, pid, cpu, -1);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}
