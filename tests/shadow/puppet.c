/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "puppet.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_up_puppet(int code_fd, int data_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* By hand: sanitizers have opinions on addresses. */
	if (syscall(SYS_mmap, PUPPET_CODE, PUPPET_CODE_BYTES, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_FIXED_NOREPLACE, code_fd, 0) != (long)PUPPET_CODE ||
	    syscall(SYS_mmap, PUPPET_DATA, PUPPET_DATA_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED_NOREPLACE, data_fd, 0) != (long)PUPPET_DATA ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(1);
	raise(SIGSTOP);
	_exit(2);
}

static int memory(size_t bytes)
{
	int fd = memfd_create("puppet", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static int wait_for_stop(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert_msg(WIFSTOPPED(status), "the process has ended: status 0x%x", (unsigned)status);
	return WSTOPSIG(status);
}

int64_t inject_call(pid_t pid, uint64_t at, long number, const uint64_t arguments[6])
{
	struct user_regs_struct before, call;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &before), 0);
	call = before;
	call.rip = at;
	call.rax = (unsigned long long)number;
	call.rdi = arguments[0];
	call.rsi = arguments[1];
	call.rdx = arguments[2];
	call.r10 = arguments[3];
	call.r8 = arguments[4];
	call.r9 = arguments[5];
	call.orig_rax = (unsigned long long)-1;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, &call), 0);
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for_stop(pid), SIGTRAP);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &call), 0);
	before.orig_rax = (unsigned long long)-1;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, &before), 0);
	return (int64_t)call.rax;
}

void inject_mappings(pid_t pid, uint64_t at, int fd, const struct hp_engine_mapping *mappings,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t arguments[6] = { mappings[i].address,
						mappings[i].bytes,
						(uint64_t)mappings[i].protection,
						MAP_SHARED | MAP_FIXED_NOREPLACE,
						(uint64_t)fd,
						mappings[i].offset };

		ck_assert_uint_eq((uint64_t)inject_call(pid, at, SYS_mmap, arguments),
				  mappings[i].address);
	}
}

/* --- state ------------------------------------------------------------------------------------ */

static void get_extended(pid_t pid, struct puppet_state *state)
{
	struct iovec area = { .iov_base = state->extended, .iov_len = PUPPET_STATE_BYTES };

	ck_assert_int_eq(ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &area), 0);
	state->extended_bytes = area.iov_len;
}

static void put_state(struct puppet *puppet, struct puppet_state *state)
{
	struct iovec area = { .iov_base = state->extended, .iov_len = state->extended_bytes };

	state->registers.orig_rax = (unsigned long long)-1;
	memcpy(puppet->data, state->data, PUPPET_DATA_BYTES);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, puppet->pid, NULL, &state->registers), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETREGSET, puppet->pid, (void *)NT_X86_XSTATE, &area), 0);
}

static void get_state(struct puppet *puppet, struct puppet_state *state)
{
	memcpy(state->data, puppet->data, PUPPET_DATA_BYTES);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, puppet->pid, NULL, &state->registers), 0);
	get_extended(puppet->pid, state);
}

/* --- life ------------------------------------------------------------------------------------- */

static void prepare(struct puppet *puppet, bool maps_too)
{
	const struct hp_engine_mapping *mappings;
	size_t count;

	hp_assert_ok(hp_engine_prepare(puppet->engine, puppet->pid, NULL, &mappings, &count));
	if (maps_too)
		inject_mappings(puppet->pid, PUPPET_CALL, hp_engine_memory(puppet->engine, 0),
				mappings, count);
}

void puppet_create(struct puppet *puppet, uint64_t near)
{
	struct hp_engine_options options = { .near = near, .cache_bytes = 32 << 20, .logs = true };
	int data_fd = memory(PUPPET_DATA_BYTES);

	*puppet = (struct puppet){ .code_fd = memory(PUPPET_CODE_BYTES) };
	puppet->data =
		mmap(NULL, PUPPET_DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, data_fd, 0);
	ck_assert_ptr_ne(puppet->data, MAP_FAILED);
	/* Before there is a puppet, so that it has the descriptor. */
	hp_assert_ok(hp_engine_create(&options, &puppet->engine));
	puppet_set_code(puppet, NULL, 0);
	puppet->pid = fork();
	ck_assert_int_ge(puppet->pid, 0);
	if (puppet->pid == 0)
		set_up_puppet(puppet->code_fd, data_fd);
	close(data_fd);
	ck_assert_int_eq(wait_for_stop(puppet->pid), SIGSTOP);
	prepare(puppet, true);
	puppet->fresh = calloc(1, sizeof(*puppet->fresh));
	ck_assert_ptr_nonnull(puppet->fresh);
	get_state(puppet, puppet->fresh);
}

void puppet_destroy(struct puppet *puppet)
{
	kill(puppet->pid, SIGKILL);
	waitpid(puppet->pid, NULL, __WALL);
	munmap(puppet->data, PUPPET_DATA_BYTES);
	close(puppet->code_fd);
	hp_engine_destroy(puppet->engine);
	free(puppet->fresh);
}

void puppet_set_code(struct puppet *puppet, const uint8_t *code, size_t bytes)
{
	static const uint8_t call[] = { 0x0f, 0x05 };
	uint8_t traps[4096];

	puppet->is_changed = true;
	memset(traps, 0xcc, sizeof(traps));
	for (off_t at = 0; at < PUPPET_CODE_BYTES; at += (off_t)sizeof(traps))
		ck_assert_int_eq(pwrite(puppet->code_fd, traps, sizeof(traps), at), sizeof(traps));
	ck_assert_uint_le(bytes, PUPPET_CALL - PUPPET_CODE);
	ck_assert_int_eq(pwrite(puppet->code_fd, code, bytes, 0), (ssize_t)bytes);
	ck_assert_int_eq(pwrite(puppet->code_fd, call, sizeof(call), PUPPET_CALL - PUPPET_CODE),
			 sizeof(call));
}

/* --- running ---------------------------------------------------------------------------------- */

int puppet_run_native(struct puppet *puppet, struct puppet_state *state)
{
	int signal;

	put_state(puppet, state);
	ck_assert_int_eq(ptrace(PTRACE_CONT, puppet->pid, NULL, NULL), 0);
	signal = wait_for_stop(puppet->pid);
	get_state(puppet, state);
	if (signal == SIGTRAP)
		state->registers.rip--; /* of the trap itself */
	return signal;
}

bool puppet_step(struct puppet *puppet, struct puppet_state *state)
{
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, puppet->pid, NULL, NULL), 0);
	if (wait_for_stop(puppet->pid) != SIGTRAP)
		return false;
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, puppet->pid, NULL, &state->registers), 0);
	return true;
}

static struct hp_engine_call refuse(void *context, pid_t pid,
				    const struct user_regs_struct *registers)
{
	(void)context;
	(void)pid;
	(void)registers;
	return (struct hp_engine_call){ .is_handled = false };
}

void puppet_prepare(struct puppet *puppet)
{
	prepare(puppet, false);
	puppet->is_changed = false;
}

void puppet_put(struct puppet *puppet, struct puppet_state *state)
{
	if (puppet->is_changed)
		puppet_prepare(puppet);
	put_state(puppet, state);
}

int puppet_run_engine(struct puppet *puppet, struct puppet_state *state, enum hp_window_end *end)
{
	struct hp_engine_limits limits = { .exits = 100000, .log = puppet->log };
	struct hp_engine_calls calls = { .handle = refuse };
	struct hp_replay replay;
	int signal;

	puppet_put(puppet, state);
	hp_assert_ok(hp_engine_replay(puppet->engine, puppet->pid, &state->registers, NULL, 0,
				      &limits, &calls, &replay));
	*end = replay.end;
	ck_assert_msg(replay.end != HP_WINDOW_DIED, "the puppet died");
	get_state(puppet, state);
	state->registers.rip = replay.end_address;
	signal = *end == HP_WINDOW_SIGNAL ? (int)replay.end_detail : SIGTRAP;
	hp_replay_free(&replay);
	return signal;
}
