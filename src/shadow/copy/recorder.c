/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder.h"

#include "call_outputs.h"
#include "cut_call.h"
#include "hold.h"

#include <hpcprof/base/number.h>

#include <errno.h>
#include <linux/audit.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SYSTEM_CALL_STOP = SIGTRAP | 0x80, /* as reported with PTRACE_O_TRACESYSGOOD */
	X32_CALLS = 0x40000000,
};

/* Waits for the thread's next stop, and leaves it to be seen by others until the thread continues.
 * False: it has ended. */
static bool await(pid_t tid, siginfo_t *info)
{
	int state;
	int got;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	do {
		got = waitid(P_PID, (id_t)tid, info, WSTOPPED | WEXITED | WNOWAIT | __WALL);
	} while (got < 0 && errno == EINTR);
	pthread_setcancelstate(state, NULL);
	return got == 0 && (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED);
}

static uint64_t cpu_ns(const struct recorder *recorder)
{
	uint64_t ns;

	return read(recorder->clock_fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : 0;
}

/* The CPU time between calls, and the least CPU time of one call. Both include two stops, so the
 * program's own time is the former minus the latter per call, unless all calls do work. */
struct progress {
	uint64_t between_ns, least_ns;
	size_t count;
};

static uint64_t own_ns(const struct progress *progress)
{
	uint64_t stop_ns = progress->least_ns < most_stop_ns ? progress->least_ns : most_stop_ns;
	uint64_t stops_ns = progress->count * stop_ns;

	return progress->between_ns > stops_ns ? progress->between_ns - stops_ns : 0;
}

/* False: the recording ends here. */
static bool enter(struct recorder *recorder, const struct __ptrace_syscall_info *info,
		  struct progress *progress)
{
	struct call_log *log = recorder->log;
	struct logged_call *call = &log->calls[log->call_count];
	uint64_t now_ns = hp_clock_monotonic_ns();

	*call = (struct logged_call){
		.behind = info->instruction_pointer,
		.stack = info->stack_pointer,
		.number = (int64_t)info->entry.nr,
		.entered_ns = now_ns,
		.entered_cpu_ns = cpu_ns(recorder),
		.first_piece = (uint32_t)log->piece_count,
	};
	for (unsigned i = 0; i < 6; i++)
		call->a[i] = info->entry.args[i];
	if (log->call_count++) {
		progress->between_ns += call->entered_cpu_ns - call[-1].left_cpu_ns;
		progress->count++;
	}
	if (info->arch != AUDIT_ARCH_X86_64 || (call->number & X32_CALLS) ||
	    !call_is_loggable(call->number, call->a, recorder->has_locked))
		log->end = CALL_LOG_CALL;
	else if (own_ns(progress) >= recorder->user_ns)
		log->end = CALL_LOG_LENGTH;
	else if (log->call_count >= recorder->calls)
		log->end = CALL_LOG_LIMIT;
	else
		return true;
	return false;
}

static bool leave(struct recorder *recorder, const struct __ptrace_syscall_info *info,
		  struct progress *progress)
{
	struct call_log *log = recorder->log;
	struct logged_call *call = &log->calls[log->call_count - 1];
	uint64_t taken_ns;

	call->result = info->exit.rval;
	if (cut_call_is_restarted(call->result)) {
		log->end = CALL_LOG_SIGNAL;
		return false;
	}
	if (!call_outputs_read(log, recorder->tid, recorder->areas)) {
		log->end = CALL_LOG_LIMIT;
		return false;
	}
	call->is_complete = true;
	call->left_cpu_ns = cpu_ns(recorder);
	taken_ns = call->left_cpu_ns - call->entered_cpu_ns;
	if (!progress->least_ns || taken_ns < progress->least_ns)
		progress->least_ns = taken_ns;
	call->left_ns = hp_clock_monotonic_ns();
	return true;
}

/* Handles a stop at the entry of a call or at its return. */
static bool take(struct recorder *recorder, struct progress *progress)
{
	const struct call_log *log = recorder->log;
	struct __ptrace_syscall_info info;
	bool is_in_call = log->call_count && !log->calls[log->call_count - 1].is_complete;
	uint8_t expected = is_in_call ? PTRACE_SYSCALL_INFO_EXIT : PTRACE_SYSCALL_INFO_ENTRY;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, recorder->tid, (void *)sizeof(info), &info) <= 0 ||
	    info.op != expected) {
		recorder->log->end = CALL_LOG_SIGNAL;
		return false;
	}
	recorder->is_before_call = !is_in_call;
	return is_in_call ? leave(recorder, &info, progress) : enter(recorder, &info, progress);
}

void recorder_run(struct recorder *recorder)
{
	struct progress progress = { 0 };
	bool goes_on = true;

	recorder->is_before_call = false;
	ptrace(PTRACE_SETOPTIONS, recorder->tid, NULL, PTRACE_O_TRACESYSGOOD);
	while (goes_on) {
		if (ptrace(PTRACE_SYSCALL, recorder->tid, NULL, NULL) < 0 ||
		    !await(recorder->tid, &recorder->stop)) {
			recorder->log->end = CALL_LOG_GONE;
			return;
		}
		goes_on = recorder->stop.si_status == SYSTEM_CALL_STOP && take(recorder, &progress);
	}
	if (recorder->stop.si_status != SYSTEM_CALL_STOP)
		recorder->log->end = CALL_LOG_SIGNAL;
}

/* The signal that the thread is stopped at; 0: it is stopped for another reason. */
static unsigned long signal_of(const siginfo_t *stop)
{
	bool is_event = stop->si_status >> 8;

	return is_event || stop->si_status == SYSTEM_CALL_STOP ? 0 : (unsigned long)stop->si_status;
}

void recorder_release(const struct recorder *recorder)
{
	siginfo_t stop = recorder->stop;

	if (recorder->log->end == CALL_LOG_GONE ||
	    (recorder->is_before_call && (ptrace(PTRACE_SYSCALL, recorder->tid, NULL, NULL) < 0 ||
					  !await(recorder->tid, &stop))))
		hold_see_its_end(recorder->tid);
	else
		hold_let_go(recorder->tid, signal_of(&stop));
}
