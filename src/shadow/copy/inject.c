/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inject.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

/* Otherwise the kernel would try to restart a system call. */
static const unsigned long long not_in_call = UINT64_MAX;

bool wait_stopped(pid_t pid, int *status)
{
	pid_t got;

	do {
		got = waitpid(pid, status, __WALL);
	} while (got < 0 && errno == EINTR);
	return got == pid && WIFSTOPPED(*status);
}

/* Continues the process, as `how` says, until its next stop. False unless that is the expected one: a
 * signal, possibly with an event. If the process is told to stop meanwhile, by a watchdog, it does so
 * afterwards. */
static bool go_on(pid_t pid, enum __ptrace_request how, int expected)
{
	bool is_told = false;
	bool is_stopped;
	int status;

	do {
		is_stopped = ptrace(how, pid, NULL, NULL) == 0 && wait_stopped(pid, &status);
		is_told |= is_stopped && status >> 8 == SIGSTOP;
	} while (is_stopped && status >> 8 == SIGSTOP);
	if (is_told)
		kill(pid, SIGSTOP);
	return is_stopped && status >> 8 == expected;
}

static bool step(pid_t pid, int expected)
{
	return go_on(pid, PTRACE_SINGLESTEP, expected);
}

bool inject(pid_t pid, uint64_t at, bool is_asked_for, const struct shadow_call *call,
	    int64_t *result)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0)
		return false;
	registers.rip = at;
	registers.orig_rax = not_in_call;
	registers.rax = (uint64_t)call->number;
	registers.rdi = call->arguments[0];
	registers.rsi = call->arguments[1];
	registers.rdx = call->arguments[2];
	registers.r10 = call->arguments[3];
	registers.r8 = call->arguments[4];
	registers.r9 = call->arguments[5];
	if (ptrace(PTRACE_SETREGS, pid, NULL, &registers) < 0 ||
	    (is_asked_for && !step(pid, SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) ||
	    !step(pid, SIGTRAP))
		return false;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0 || registers.rip != at + 2)
		return false;
	*result = (int64_t)registers.rax;
	return true;
}

bool inject_code(pid_t pid, uint64_t at, uint64_t end, uint64_t rbx, uint64_t r12)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0)
		return false;
	registers.rip = at;
	registers.orig_rax = not_in_call;
	registers.rbx = rbx;
	registers.r12 = r12;
	return ptrace(PTRACE_SETREGS, pid, NULL, &registers) == 0 &&
	       go_on(pid, PTRACE_CONT, SIGTRAP) &&
	       ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0 && registers.rip == end;
}
