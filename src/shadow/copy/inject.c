/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inject.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

bool wait_stopped(pid_t pid, int *status)
{
	pid_t got;

	do {
		got = waitpid(pid, status, __WALL);
	} while (got < 0 && errno == EINTR);
	return got == pid && WIFSTOPPED(*status);
}

/* Continues the process until its next stop. False unless that is the expected one: a signal,
 * possibly with an event. */
static bool step(pid_t pid, int expected)
{
	int status;

	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && wait_stopped(pid, &status) &&
	       status >> 8 == expected;
}

bool inject(pid_t pid, uint64_t at, bool is_asked_for, const struct shadow_call *call,
	    int64_t *result)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0)
		return false;
	registers.rip = at;
	/* Marks the process as not in a system call; otherwise the kernel would try to restart
	 * one. */
	registers.orig_rax = UINT64_MAX;
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
