/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <hpcprof/base/number.h>

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

enum { KERNEL_SIGSET_BYTES = 8 };

bool answer_id(struct shadow_calls *calls, struct call *call)
{
	static const struct {
		long number;
		enum shadow_id id;
	} which[] = {
		{ SYS_getpid, ID_PROCESS },	     { SYS_gettid, ID_THREAD },
		{ SYS_getppid, ID_PARENT },	     { SYS_getuid, ID_USER },
		{ SYS_geteuid, ID_EFFECTIVE_USER },  { SYS_getgid, ID_GROUP },
		{ SYS_getegid, ID_EFFECTIVE_GROUP },
	};

	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		if (which[i].number == call->number)
			return calls->ids[which[i].id] >= 0 &&
			       call_done(call, calls->ids[which[i].id]);
	}
	return false;
}

/* Names of memory, as allocators set them, which not every kernel supports; and the name of the
 * thread. */
bool answer_prctl(struct shadow_calls *calls, struct call *call)
{
	(void)calls;
	if ((int)call->a[0] == PR_SET_NAME)
		return call_done(call, 0);
	if ((int)call->a[0] != PR_SET_VMA)
		return false;
	/* A range without memory: it names nothing, but tells whether the kernel supports names. */
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0, 0, NULL) < 0 && errno == EINVAL)
		return call_done(call, -EINVAL);
	return call_done(call, 0);
}

bool answer_mask(struct shadow_calls *calls, struct call *call)
{
	uint64_t set = 0;

	if (call->a[3] != KERNEL_SIGSET_BYTES)
		return false;
	if (call->a[1] && !sandbox_read(calls->sandbox, call->a[1], &set, sizeof(set)))
		return false;
	if (call->a[2] && !call_write(calls, call->a[2], &calls->blocked, sizeof(calls->blocked)))
		return false;
	if (call->a[1] && call->a[0] == SIG_BLOCK)
		calls->blocked |= set;
	else if (call->a[1] && call->a[0] == SIG_UNBLOCK)
		calls->blocked &= ~set;
	else if (call->a[1] && call->a[0] == SIG_SETMASK)
		calls->blocked = set;
	return call_done(call, 0);
}

/* Waking affects no thread here. Waiting returns at once if the value has changed already. */
bool answer_futex(struct shadow_calls *calls, struct call *call)
{
	uint64_t command = call->a[1] & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	uint32_t value;

	if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP)
		return call_done(call, 0);
	if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
	    sandbox_read(calls->sandbox, call->a[0], &value, sizeof(value)) &&
	    value != (uint32_t)call->a[2])
		return call_done(call, -EAGAIN);
	calls->may_wait = true;
	return false;
}

bool answer_signal(struct shadow_calls *calls, struct call *call)
{
	calls->has_aborted = (int64_t)call->a[1] == calls->ids[ID_THREAD] && call->a[2] == SIGABRT;
	return false;
}

bool answer_clock(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;

	return call->a[0] <= INT_MAX &&
	       shadow_clock_read(&calls->clock, calls->sandbox->pid, (clockid_t)call->a[0],
				 &time) &&
	       call_guess(calls, call, call->a[1], &time, sizeof(time)) && call_done(call, 0);
}

bool answer_time_of_day(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;
	struct timeval value;

	if (call->a[1] ||
	    !shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_REALTIME, &time))
		return false;
	value = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
	return call_guess(calls, call, call->a[0], &value, sizeof(value)) && call_done(call, 0);
}

bool answer_time(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;

	if (!shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_REALTIME, &time))
		return false;
	if (call->a[0] && !call_guess(calls, call, call->a[0], &time.tv_sec, sizeof(time.tv_sec)))
		return false;
	return call_done(call, time.tv_sec);
}

/* The process's own limits may be read, not set. */
bool answer_limit(struct shadow_calls *calls, struct call *call)
{
	struct rlimit limit;

	return !call->a[0] && !call->a[2] && call->a[3] && call->a[1] <= INT_MAX &&
	       prlimit(calls->pid, (enum __rlimit_resource)call->a[1], NULL, &limit) == 0 &&
	       call_write(calls, call->a[3], &limit, sizeof(limit)) && call_done(call, 0);
}

bool answer_affinity(struct shadow_calls *calls, struct call *call)
{
	unsigned long mask[1024 / (8 * sizeof(unsigned long))];
	bool is_own = !call->a[0] || (int64_t)call->a[0] == calls->ids[ID_THREAD];
	size_t room = call->a[1] < sizeof(mask) ? call->a[1] : sizeof(mask);
	long bytes = is_own ? syscall(SYS_sched_getaffinity, calls->tid, room, mask) : -1;

	return bytes > 0 && call_write(calls, call->a[2], mask, (size_t)bytes) &&
	       call_done(call, bytes);
}

/* The times are about right; the other fields are unknown. */
bool answer_usage(struct shadow_calls *calls, struct call *call)
{
	bool is_thread = (int)call->a[0] == RUSAGE_THREAD;
	struct rusage usage = { 0 };
	struct timespec time;

	if ((!is_thread && (int)call->a[0] != RUSAGE_SELF) ||
	    !shadow_clock_read(&calls->clock, calls->sandbox->pid,
			       is_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID,
			       &time))
		return false;
	usage.ru_utime = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
	return call_guess(calls, call, call->a[1], &usage, sizeof(usage)) && call_done(call, 0);
}

static clock_t clock_ticks(struct timespec time)
{
	clock_t per_second = sysconf(_SC_CLK_TCK);

	return time.tv_sec * per_second + time.tv_nsec / (1000000000 / per_second);
}

/* All of its CPU time counts as user time, and children have none. */
bool answer_times(struct shadow_calls *calls, struct call *call)
{
	struct timespec used, now;
	struct tms times = { 0 };

	if (!shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_PROCESS_CPUTIME_ID,
			       &used) ||
	    !shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_MONOTONIC, &now))
		return false;
	times.tms_utime = clock_ticks(used);
	return (!call->a[0] || call_guess(calls, call, call->a[0], &times, sizeof(times))) &&
	       call_done(call, clock_ticks(now));
}

/* The size of memory is the same for everybody; how much is free is not. */
bool answer_system(struct shadow_calls *calls, struct call *call)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 && call_guess(calls, call, call->a[0], &info, sizeof(info)) &&
	       call_done(call, 0);
}

/* Of an action set before the copy was made, only this is known: whether the signal was ignored.
 * Most programs read the action to restore it later. */
static bool tell_action(struct shadow_calls *calls, struct call *call, unsigned number)
{
	const struct signal_action guess = {
		.handler = calls->ignored >> number & 1 ? (uintptr_t)SIG_IGN : (uintptr_t)SIG_DFL,
	};

	return calls->changed >> number & 1
		       ? call_write(calls, call->a[2], &calls->actions[number], sizeof(guess))
		       : call_guess(calls, call, call->a[2], &guess, sizeof(guess));
}

bool answer_sigaction(struct shadow_calls *calls, struct call *call)
{
	unsigned number = (unsigned)call->a[0] - 1; /* counted from 0 */
	struct signal_action action;

	if (call->a[1] && (number + 1 == SIGKILL || number + 1 == SIGSTOP))
		return call_done(call, -EINVAL);
	if (call->a[3] != KERNEL_SIGSET_BYTES || number >= HP_ARRAY_COUNT(calls->actions) ||
	    (call->a[1] && !sandbox_read(calls->sandbox, call->a[1], &action, sizeof(action))) ||
	    (call->a[2] && !tell_action(calls, call, number)))
		return false;
	if (call->a[1]) {
		calls->actions[number] = action;
		calls->changed |= (uint64_t)1 << number;
	}
	return call_done(call, 0);
}

bool answer_sigaltstack(struct shadow_calls *calls, struct call *call)
{
	(void)calls;
	return !call->a[1] && call_done(call, 0);
}
