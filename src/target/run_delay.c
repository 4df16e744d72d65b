/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"
#include <hpcprof/target/run_delay.h>

#include <hpcprof/base/hash.h>
#include <hpcprof/base/thread.h>

#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The state of a thread at the last look. */
struct seen {
	UT_hash_handle hh;
	int tid;
	struct hp_thread_times at;
};

struct hp_run_delay_meter {
	pthread_t thread;
	int stop_fd;
	struct seen *seen;
};

static void note(struct hp_run_delay_meter *meter, int pid, int tid)
{
	struct hp_thread_times delay;
	struct seen *seen;

	if (!hp_thread_times(pid, tid, &delay))
		return;
	HASH_FIND(hh, meter->seen, &tid, sizeof(tid), seen);
	if (!seen) {
		seen = HASH_COUNT(meter->seen) < MOST_THREADS ? calloc(1, sizeof(*seen)) : NULL;
		if (!seen)
			return;
		seen->tid = tid;
		HASH_ADD(hh, meter->seen, tid, sizeof(seen->tid), seen);
		if (!seen->hh.tbl) {
			free(seen);
			return;
		}
	}
	seen->at = delay;
}

static void look_at_process(struct hp_run_delay_meter *meter, int pid, int depth);

static void look_at_children(struct hp_run_delay_meter *meter, int pid, int tid, int depth)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = depth < DEEPEST_DESCENDANT ? fopen(path, "re") : NULL;
	if (!file)
		return;
	while (fscanf(file, "%d", &child) == 1)
		look_at_process(meter, child, depth + 1);
	fclose(file);
}

/* At depth 0 it is hpcprof itself, of which only the children are examined. */
static void look_at_process(struct hp_run_delay_meter *meter, int pid, int depth)
{
	char path[64];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	if (!directory)
		return;
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
		int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		if (depth)
			note(meter, pid, tid);
		look_at_children(meter, pid, tid, depth);
	}
	closedir(directory);
}

static void *look_again_and_again(void *context)
{
	struct hp_run_delay_meter *meter = context;
	struct pollfd stop = { .fd = meter->stop_fd, .events = POLLIN };

	while (poll(&stop, 1, LOOK_EVERY_MS) == 0)
		look_at_process(meter, (int)getpid(), 0);
	return NULL;
}

static bool is_told(void)
{
	struct hp_thread_times ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, R_OK) == 0 && hp_thread_times(getpid(), getpid(), &ours);
}

struct hp_run_delay_meter *hp_run_delay_begin(void)
{
	struct hp_run_delay_meter *meter = is_told() ? calloc(1, sizeof(*meter)) : NULL;

	if (!meter)
		return NULL;
	meter->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (meter->stop_fd >= 0 &&
	    hp_thread_start(&meter->thread, look_again_and_again, meter) == 0)
		return meter;
	if (meter->stop_fd >= 0)
		close(meter->stop_fd);
	free(meter);
	return NULL;
}

struct hp_thread_times hp_run_delay_end(struct hp_run_delay_meter *meter)
{
	struct hp_thread_times sum = { 0 };
	struct seen *seen, *next;

	if (!meter)
		return sum;
	eventfd_write(meter->stop_fd, 1);
	pthread_join(meter->thread, NULL);
	HASH_ITER(hh, meter->seen, seen, next)
	{
		sum.ran_ns += seen->at.ran_ns;
		sum.delayed_ns += seen->at.delayed_ns;
		HASH_DEL(meter->seen, seen);
		free(seen);
	}
	close(meter->stop_fd);
	free(meter);
	return sum;
}
