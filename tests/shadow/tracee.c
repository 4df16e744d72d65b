/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "tracee.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SYSCALL_BYTES = 2 };

static int wait_for_stop(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert_msg(WIFSTOPPED(status), "process has ended: status 0x%x", (unsigned)status);
	return WSTOPSIG(status);
}

void tracee_registers(const struct tracee *tracee, struct user_regs_struct *registers)
{
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, tracee->pid, NULL, registers), 0);
}

/* Its children too: a step then wakes nobody on another CPU, and takes half the time. */
static void stay_on_one_cpu(void)
{
	cpu_set_t here;
	int cpu = sched_getcpu();

	CPU_ZERO(&here);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static void start(struct tracee *tracee, const char *name, bool anywhere, const char *preload)
{
	const char *build = getenv("top_builddir");
	struct user_regs_struct registers;
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/shadow/%s", build ? build : ".", name);
	stay_on_one_cpu();
	*tracee = (struct tracee){ .output = tmpfile() };
	ck_assert_ptr_nonnull(tracee->output);
	tracee->pid = fork();
	ck_assert_int_ge(tracee->pid, 0);
	if (tracee->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		personality(anywhere ? 0 : ADDR_NO_RANDOMIZE);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		dup2(fileno(tracee->output), STDOUT_FILENO);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execl(path, path, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(wait_for_stop(tracee->pid), SIGTRAP);
	ck_assert_int_eq(ptrace(PTRACE_CONT, tracee->pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for_stop(tracee->pid), SIGSTOP);
	tracee_registers(tracee, &registers);
	/* It stopped itself by a call. */
	tracee->call_at = registers.rip - SYSCALL_BYTES;
	/* A start-over of the call would be its business, not ours. */
	registers.orig_rax = (unsigned long long)-1;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, tracee->pid, NULL, &registers), 0);
}

void tracee_start(struct tracee *tracee, const char *name)
{
	start(tracee, name, false, NULL);
}

void tracee_start_anywhere(struct tracee *tracee, const char *name, const char *preload)
{
	start(tracee, name, true, preload);
}

void tracee_copy(const struct tracee *tracee, struct tracee *copy)
{
	struct user_regs_struct before, fork;
	unsigned long child;
	uintptr_t options = PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE;

	tracee_registers(tracee, &before);
	fork = before;
	fork.rip = tracee->call_at;
	fork.rax = SYS_clone;
	fork.rdi = CLONE_PARENT;
	fork.rsi = fork.rdx = fork.r10 = fork.r8 = 0;
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, tracee->pid, NULL, options), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, tracee->pid, NULL, &fork), 0);
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, tracee->pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for_stop(tracee->pid), SIGTRAP);
	ck_assert_int_eq(ptrace(PTRACE_GETEVENTMSG, tracee->pid, NULL, &child), 0);
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, tracee->pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for_stop(tracee->pid), SIGTRAP);
	*copy = *tracee;
	copy->pid = (pid_t)child;
	ck_assert_int_eq(wait_for_stop(copy->pid), SIGSTOP);
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, copy->pid, NULL, PTRACE_O_EXITKILL), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, tracee->pid, NULL, PTRACE_O_EXITKILL), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, tracee->pid, NULL, &before), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, copy->pid, NULL, &before), 0);
}

void tracee_kill(struct tracee *tracee)
{
	kill(tracee->pid, SIGKILL);
	while (waitpid(tracee->pid, NULL, __WALL) > 0)
		;
}

struct hp_engine_sample tracee_sample(const struct tracee *tracee, uint8_t stack[TRACEE_STACK])
{
	struct user_regs_struct r;
	struct iovec local = { stack, TRACEE_STACK }, remote;
	ssize_t got;

	tracee_registers(tracee, &r);
	remote = (struct iovec){ (void *)(uintptr_t)r.rsp, TRACEE_STACK };
	got = process_vm_readv(tracee->pid, &local, 1, &remote, 1, 0);
	ck_assert_int_gt(got, 0);
	return (struct hp_engine_sample){
		.general = { r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9,
			     r.r10, r.r11, r.r12, r.r13, r.r14, r.r15 },
		.ip = r.rip,
		.flags = r.eflags,
		.stack = stack,
		.stack_bytes = (uint32_t)got,
	};
}

bool tracee_step(const struct tracee *tracee, int *status)
{
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, tracee->pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(tracee->pid, status, __WALL), tracee->pid);
	return WIFSTOPPED(*status);
}

int tracee_finish(const struct tracee *tracee)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_CONT, tracee->pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(tracee->pid, &status, __WALL), tracee->pid);
	return status;
}

char *tracee_take_output(const struct tracee *tracee)
{
	int fd = fileno(tracee->output);
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(pread(fd, text, (size_t)size, 0), size);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
	return text;
}

void tracee_map(const struct tracee *tracee, struct hp_engine *engine)
{
	const struct hp_engine_mapping *mappings;
	struct user_regs_struct registers;
	char path[64] = "", saved[64];
	struct iovec local = { saved, sizeof(saved) }, remote;
	size_t count;
	int64_t fd;

	hp_assert_ok(hp_engine_prepare(engine, tracee->pid, NULL, &mappings, &count));
	/* The path is borrowed a place on the stack, well below what is in use. */
	tracee_registers(tracee, &registers);
	remote = (struct iovec){ (void *)(uintptr_t)(registers.rsp - 1024), sizeof(saved) };
	ck_assert_int_eq(process_vm_readv(tracee->pid, &local, 1, &remote, 1, 0), sizeof(saved));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), hp_engine_memory(engine, 0));
	local.iov_base = path;
	ck_assert_int_eq(process_vm_writev(tracee->pid, &local, 1, &remote, 1, 0), sizeof(path));
	fd = inject_call(tracee->pid, tracee->call_at, SYS_openat,
			 (uint64_t[6]){ (uint64_t)AT_FDCWD, registers.rsp - 1024, O_RDWR });
	ck_assert_int_ge(fd, 0);
	local.iov_base = saved;
	ck_assert_int_eq(process_vm_writev(tracee->pid, &local, 1, &remote, 1, 0), sizeof(saved));
	inject_mappings(tracee->pid, tracee->call_at, (int)fd, mappings, count);
	inject_call(tracee->pid, tracee->call_at, SYS_close, (uint64_t[6]){ (uint64_t)fd });
}

struct hp_engine_call tracee_make_call(void *context, pid_t pid,
				       const struct user_regs_struct *registers)
{
	const struct tracee *tracee = context;
	const uint64_t arguments[6] = { registers->rdi, registers->rsi, registers->rdx,
					registers->r10, registers->r8,	registers->r9 };

	if (registers->rax == SYS_exit_group)
		return (struct hp_engine_call){ .is_handled = false };
	return (struct hp_engine_call){
		.is_handled = true,
		.result = inject_call(pid, tracee->call_at, (long)registers->rax, arguments),
	};
}
