/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_pace.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/pmu/breakpoints.h>
#include <hpcprof/target/cpu_times.h>

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>

enum { SYSCALL_BYTES = 2, NS_PER_MS = 1000000 };

static bool read_sums(pid_t pid, pid_t tid, struct call_sums *sums)
{
	struct hp_thread_times times = { 0 };

	if (!hp_thread_transfers(pid, tid, &sums->calls) || !hp_thread_times(pid, tid, &times))
		return false;
	sums->cpu_ns = times.ran_ns;
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

/* Returns whether Linux counts the call, which it does in vfs_read, vfs_write and the like,
 * whatever their result is. */
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

/* Returns the CPU time per call that was not recorded; 0: too few calls. */
static double per_call_ns(const struct paced_thread *thread, const struct call_sums *now)
{
	uint64_t calls = now->calls - thread->begun.calls - thread->recorded.calls;
	uint64_t cpu_ns = now->cpu_ns - thread->begun.cpu_ns - thread->recorded.cpu_ns;

	/* The thread was first seen just now: uses its whole life. */
	if (calls < PACE_LEAST_CALLS && now->calls > thread->recorded.calls) {
		calls = now->calls - thread->recorded.calls;
		cpu_ns = now->cpu_ns - thread->recorded.cpu_ns;
	}
	return calls < PACE_LEAST_CALLS ? 0 : (double)cpu_ns / (double)calls;
}

/* --- by breakpoints --------------------------------------------------------------------------- */

static size_t calls_behind(const struct call_log *log, uint64_t address)
{
	size_t count = 0;

	for (size_t i = 0; i + 1 < log->call_count; i++)
		count += log->calls[i].behind == address;
	return count;
}

/* Whether the call sends. How often a thread waits or polls depends on the speed of others; how
 * often it sends does not. */
static bool is_sending(int64_t number)
{
	return number == SYS_sendto || number == SYS_sendmsg || number == SYS_sendmmsg ||
	       number == SYS_write || number == SYS_writev || number == SYS_pwrite64;
}

/* Returns the address behind the most frequent call that sends; 0: none is frequent. */
static uint64_t frequent_call(const struct call_log *log, size_t *calls)
{
	uint64_t address = 0;

	*calls = PACE_LEAST_LOGGED - 1;
	for (size_t i = 0; i + 1 < log->call_count && i < PACE_KINDS; i++) {
		size_t count = is_sending(log->calls[i].number)
				       ? calls_behind(log, log->calls[i].behind)
				       : 0;

		if (count <= *calls)
			continue;
		*calls = count;
		address = log->calls[i].behind;
	}
	return address;
}

/* Measures the CPU time between hits, until there were enough; 0: it takes too long, or there are
 * no breakpoints. `other`: a second address that is hit as often; 0: none. */
static double time_hits(pid_t tid, uint64_t address, uint64_t other, int stop_fd, uint64_t *hits)
{
	uint64_t until_ns = hp_clock_monotonic_ns() + PACE_PATIENCE_NS;
	_cleanup_close_ int fd = hp_breakpoint_open(tid, address, PACE_HITS);
	_cleanup_close_ int other_fd = other ? hp_breakpoint_open(tid, other, PACE_HITS) : -1;
	struct pollfd poll_stop = { .fd = stop_fd, .events = POLLIN };
	struct hp_breakpoint_count count = { 0 };
	bool goes_on = fd >= 0 && (!other || other_fd >= 0);

	while (goes_on) {
		goes_on = poll(&poll_stop, 1, SHORTEST_PAUSE_NS / NS_PER_MS) == 0 &&
			  hp_breakpoint_read(fd, &count) && count.hits < PACE_HITS &&
			  hp_clock_monotonic_ns() < until_ns;
	}
	*hits += count.hits * (other ? 2 : 1);
	return count.hits < PACE_HITS ? 0 : (double)count.running_ns / (double)count.hits;
}

/* Averages the cost of a hit, because one measurement scatters by more than the cost. */
static void learn_hit(struct call_pace *pace, double hit_ns)
{
	pace->differences_ns += hit_ns;
	pace->differences++;
}

/* Returns the user CPU time of the logged calls; 0: unknown. */
static double time_by_breakpoints(struct call_pace *pace, const struct call_log *log, pid_t pid,
				  pid_t tid, int stop_fd)
{
	size_t calls = 0;
	uint64_t hits = 0;
	uint64_t behind = frequent_call(log, &calls);
	double one_ns = behind ? time_hits(tid, behind, 0, stop_fd, &hits) : 0;
	double two_ns = one_ns > 0 ? time_hits(tid, behind, behind - SYSCALL_BYTES, stop_fd, &hits)
				   : 0;
	double hit_ns;

	/* The first value is measured in this process, where caches are warm. */
	if (!pace->differences)
		learn_hit(pace, hp_breakpoint_cost_ns(PACE_HITS));
	if (two_ns > 0)
		learn_hit(pace, two_ns - one_ns);
	hit_ns = pace->differences_ns / (double)pace->differences;
	pace->lost_ns = (double)hits * fmax(hit_ns, 0);
	if (!(two_ns > 0) || !(hit_ns > 0) || hit_ns > pace_most_hit * (one_ns - hit_ns))
		return 0;
	return (one_ns + two_ns - 3 * hit_ns) / 2 * (double)calls * user_share(pid, tid);
}

/* --- by the kernel's count -------------------------------------------------------------------- */

static double time_by_count(struct paced_thread *thread, const struct call_log *log, pid_t pid,
			    pid_t tid)
{
	const struct call_sums of_log = sums_of_log(log);
	struct call_sums now;

	if (!thread || !read_sums(pid, tid, &now))
		return 0;
	thread->recorded.calls += of_log.calls;
	thread->recorded.cpu_ns += of_log.cpu_ns;
	if (of_log.calls < PACE_LEAST_LOGGED)
		return 0;
	return per_call_ns(thread, &now) * (double)of_log.calls * user_share(pid, tid);
}

double call_pace_apply(struct call_pace *pace, struct call_log *log, pid_t pid, pid_t tid,
		       int stop_fd)
{
	double seen_ns = log->call_count ? (double)log->calls[log->call_count - 1].user_ns : 0;
	double user_ns;

	pace->lost_ns = 0;
	if (!(seen_ns > 0))
		return 0;
	if (seen_ns >= seldom_call_ns * (double)(log->call_count - 1))
		return 1;
	user_ns = time_by_count(find(pace, tid), log, pid, tid);
	if (!(user_ns > 0))
		user_ns = time_by_breakpoints(pace, log, pid, tid, stop_fd);
	if (!(user_ns > 0))
		return 0;
	for (size_t i = 0; i < log->call_count; i++)
		log->calls[i].user_ns =
			(uint64_t)(user_ns / seen_ns * (double)log->calls[i].user_ns);
	return user_ns / seen_ns;
}
