/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_pace.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/target/cpu_times.h>

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static bool read_sums(pid_t pid, pid_t tid, struct call_sums *sums)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/task/%d/io", (int)pid, (int)tid);
	const char *line = text ? strstr(text, "syscr:") : NULL;
	struct hp_thread_times times = { 0 };
	unsigned long long reads, writes;

	if (!line || sscanf(line, "syscr: %llu syscw: %llu", &reads, &writes) != 2 ||
	    !hp_thread_times(pid, tid, &times))
		return false;
	*sums = (struct call_sums){ reads + writes, times.ran_ns };
	return true;
}

static double user_share(pid_t pid, pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/task/%d/stat", (int)pid, (int)tid);
	struct hp_cpu_times ticks = { 0 };

	if (!text || !hp_cpu_times_of_process(text, 1, &ticks))
		return 0;
	return (double)(ticks.user_ns + 1) / (double)(ticks.user_ns + ticks.system_ns + 1);
}

static struct paced_thread *find(struct call_pace *pace, pid_t tid)
{
	for (size_t i = 0; i < PACED_THREADS; i++)
		if (pace->threads[i].tid == tid)
			return &pace->threads[i];
	return NULL;
}

void call_pace_meet(struct call_pace *pace, pid_t pid, pid_t tid)
{
	struct paced_thread thread = { .tid = tid };

	if (!find(pace, tid) && read_sums(pid, tid, &thread.begun))
		pace->threads[pace->next++ % PACED_THREADS] = thread;
}

/* Linux counts them in vfs_read, vfs_write and the like, whatever comes of them. */
static uint64_t counted(int64_t number)
{
	switch (number) {
	case SYS_read:
	case SYS_pread64:
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2:
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
		return 1;
	case SYS_sendfile:
		return 2;
	default:
		return 0;
	}
}

static struct call_sums sums_of_log(const struct call_log *log)
{
	struct call_sums sums = { 0 };

	for (size_t i = 0; i + 1 < log->call_count; i++)
		sums.calls += counted(log->calls[i].number);
	if (log->call_count)
		sums.cpu_ns = log->calls[log->call_count - 1].entered_cpu_ns -
			      log->calls[0].entered_cpu_ns;
	return sums;
}

/* CPU time per call that was not recorded; 0: too few of them. */
static double per_call_ns(const struct paced_thread *thread, const struct call_sums *now)
{
	uint64_t calls = now->calls - thread->begun.calls - thread->recorded.calls;
	uint64_t cpu_ns = now->cpu_ns - thread->begun.cpu_ns - thread->recorded.cpu_ns;

	/* It was met just now: all of its life. */
	if (calls < PACE_LEAST_CALLS && now->calls > thread->recorded.calls) {
		calls = now->calls - thread->recorded.calls;
		cpu_ns = now->cpu_ns - thread->recorded.cpu_ns;
	}
	return calls < PACE_LEAST_CALLS ? 0 : (double)cpu_ns / (double)calls;
}

double call_pace_apply(struct call_pace *pace, struct call_log *log, pid_t pid, pid_t tid)
{
	double seen_ns = log->call_count ? (double)log->calls[log->call_count - 1].user_ns : 0;
	const struct call_sums of_log = sums_of_log(log);
	struct paced_thread *thread = find(pace, tid);
	struct call_sums now;
	double factor;

	if (!thread || !(seen_ns > 0) || !read_sums(pid, tid, &now))
		return 0;
	thread->recorded.calls += of_log.calls;
	thread->recorded.cpu_ns += of_log.cpu_ns;
	if (of_log.calls < PACE_LEAST_LOGGED)
		return 0;
	factor = per_call_ns(thread, &now) * (double)of_log.calls * user_share(pid, tid) / seen_ns;
	if (!(factor > 0))
		return 0;
	for (size_t i = 0; i < log->call_count; i++)
		log->calls[i].user_ns = (uint64_t)(factor * (double)log->calls[i].user_ns);
	return factor;
}
