/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "permission.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

/* Who may trace another process: the values of Yama's kernel.yama.ptrace_scope. */
enum scope { SCOPE_USERS, SCOPE_PARENTS, SCOPE_ROOT, SCOPE_NOBODY };

static enum scope yama_scope(void)
{
	int64_t scope = SCOPE_USERS;
	struct hp_error *error = hp_file_read_number("/proc/sys/kernel/yama/ptrace_scope", &scope);

	hp_error_destroy(error); /* a kernel without Yama */
	return scope >= SCOPE_NOBODY ? SCOPE_NOBODY
	       : scope > SCOPE_USERS ? (enum scope)scope
				     : SCOPE_USERS;
}

static struct hp_error *check_yama(void)
{
	if (yama_scope() < SCOPE_NOBODY)
		return NULL;
	return hp_error_advise(
		hp_error_create(
			HP_ERROR_NOT_PERMITTED,
			"kernel.yama.ptrace_scope is 3, so nobody may read another process"),
		"record without --shadow; the setting cannot change before the next boot");
}

static struct hp_error *filtered(const char *call, int errno_value)
{
	return hp_error_advise(
		hp_error_create_errno(errno_value,
				      "%s is refused, even for a process of hpcprof itself", call),
		"a system call filter refuses it, usually in a container (docker run "
		"--security-opt seccomp=unconfined removes the filter); record without --shadow");
}

/* Makes both calls without any effect. Any error other than the ESRCH for process 0 comes from a
 * filter of system calls. */
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

/* If /proc belongs to another PID namespace, its numbers mean other processes. */
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
				length > 0 ? "/proc belongs to another PID namespace"
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

const char *shadow_permission_advice(void)
{
	static const char *const advice[] = {
		[SCOPE_USERS] = "programs with more rights than you (setuid, another user's, one "
				"that hides its memory) cannot be copied",
		[SCOPE_PARENTS] =
			"kernel.yama.ptrace_scope is 1: start the program with hpcprof record, or "
			"run: sudo sysctl kernel.yama.ptrace_scope=0; programs with more rights "
			"than you (setuid, another user's) cannot be copied",
		[SCOPE_ROOT] = "kernel.yama.ptrace_scope is 2, which allows it to root only; sudo "
			       "sysctl kernel.yama.ptrace_scope=1 allows it for programs that "
			       "hpcprof record starts",
		[SCOPE_NOBODY] = "kernel.yama.ptrace_scope is 3, which allows it to nobody until "
				 "the next boot",
	};

	return advice[yama_scope()];
}

/* Asks the kernel without any effect: a read at address 0 fails, but only after permissions were
 * checked. */
struct hp_error *shadow_permission_of(pid_t pid)
{
	uint8_t byte;
	struct iovec local = { &byte, 1 };
	struct iovec remote = { NULL, 1 };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno != EPERM)
		return NULL;
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
					       "the memory of process %d may not be read",
					       (int)pid),
			       "%s", shadow_permission_advice());
}

struct hp_error *shadow_not_started(int errno_value, const char *what)
{
	struct hp_error *error = hp_error_create_errno(errno_value, "starting %s", what);

	if (errno_value == EAGAIN)
		error = hp_error_advise(error, "a limit allows no more processes: ulimit -u, or "
					       "pids.max of a control group");
	return error;
}
