/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "permission.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

static struct hp_error *check_yama(void)
{
	const int64_t nobody = 3;
	int64_t scope = 0;
	struct hp_error *error = hp_file_read_number("/proc/sys/kernel/yama/ptrace_scope", &scope);

	hp_error_destroy(error); /* a kernel without Yama */
	if (scope < nobody)
		return NULL;
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
					       "kernel.yama.ptrace_scope is %d, so nobody may look "
					       "into another process",
					       (int)scope),
			       "record without --shadow; that setting stays until the next boot");
}

static struct hp_error *filtered(const char *call, int errno_value)
{
	return hp_error_advise(
		hp_error_create_errno(errno_value, "%s is refused, even for our own process", call),
		"a filter of system calls does that, in containers mostly (docker run "
		"--security-opt seccomp=unconfined lifts it); record without --shadow");
}

/* Of nobody, there is nothing to be found: a filter says something else. */
static struct hp_error *check_calls(void)
{
	uint8_t byte = 0;
	uint8_t copy;
	struct iovec local = { &copy, 1 };
	struct iovec remote = { &byte, 1 };

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1)
		return filtered("process_vm_readv", errno);
	if (ptrace(PTRACE_SEIZE, 0, NULL, NULL) < 0 && errno != ESRCH)
		return filtered("ptrace", errno);
	return NULL;
}

/* In a PID namespace with the /proc of another, numbers mean other processes there. */
static struct hp_error *check_proc(void)
{
	char text[32];
	ssize_t length = readlink("/proc/self", text, sizeof(text) - 1);
	uint64_t pid;

	text[length > 0 ? length : 0] = 0;
	if (hp_parse_u64(text, &pid) && pid == (uint64_t)getpid())
		return NULL;
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_PERMITTED, "%s",
				length > 0 ? "/proc is that of another PID namespace"
					   : "there is no /proc"),
		"mount -t proc proc /proc (unshare --mount-proc does that), or record without "
		"--shadow");
}

struct hp_error *shadow_permission(void)
{
	struct hp_error *error = check_proc();

	if (!error)
		error = check_yama();
	if (!error)
		error = check_calls();
	return error;
}

/* The kernel's own answer, without touching anything: at address 0 there is nothing to be read. */
struct hp_error *shadow_permission_of(pid_t pid)
{
	uint8_t byte;
	struct iovec local = { &byte, 1 };
	struct iovec remote = { NULL, 1 };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno != EPERM)
		return NULL;
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_PERMITTED, "the memory of process %d may not be read",
				(int)pid),
		"programs with more rights than you (setuid, another user's, one that hides its "
		"memory) cannot be copied, nor those that kernel.yama.ptrace_scope keeps from you");
}

struct hp_error *shadow_not_started(int errno_value, const char *what)
{
	struct hp_error *error = hp_error_create_errno(errno_value, "starting %s", what);

	if (errno_value == EAGAIN)
		error = hp_error_advise(error,
					"a limit of processes leaves no room for one more: ulimit "
					"-u, or pids.max of a control group");
	return error;
}
