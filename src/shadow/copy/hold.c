/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hold.h"

#include "../tuning.h"
#include "cut_call.h"
#include "permission.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The code segment of 64-bit programs; 32-bit ones have another. */
enum { USER_CODE_SEGMENT = 0x33 };

bool hold_is_running(pid_t tid)
{
	_cleanup_free_ char *text = NULL;
	struct hp_error *error;
	bool is_running;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	error = hp_file_read_text(path, &text);
	/* A thread that we may not look at might be running. Why we may not is found out when it is
	 * attached. */
	is_running = error ? error->class == HP_ERROR_NOT_PERMITTED : strcmp(text, "running") == 0;
	hp_error_destroy(error);
	return is_running;
}

/* --- x86-64 ----------------------------------------------------------------------------------- */

static bool is_in_kernel(const struct user_regs_struct *registers)
{
	return (int64_t)registers->orig_rax >= 0;
}

static bool is_64_bit(const struct user_regs_struct *registers)
{
	return registers->cs == USER_CODE_SEGMENT;
}

/* --- stopping --------------------------------------------------------------------------------- */

pid_t hold_tracer(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)tid);
	const char *line;
	int tracer = 0;

	line = text ? strstr(text, "\nTracerPid:") : NULL;
	if (!line || sscanf(line, "\nTracerPid: %d", &tracer) != 1)
		return 0;
	return tracer;
}

/* Whether it is a zombie: the kernel does not permit an ordinary user to trace one. */
static bool has_ended(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)tid);
	const char *line = text ? strstr(text, "\nState:\t") : NULL;
	char state = line ? line[strlen("\nState:\t")] : 'X';

	return state == 'Z' || state == 'X';
}

static enum hold_result refused(pid_t tid, int errno_value, struct hp_error **error,
				enum hp_shadow_refusal *refusal)
{
	pid_t tracer = hold_tracer(tid);

	if (errno_value == ESRCH || has_ended(tid))
		return HOLD_GONE;
	if (tracer) {
		*refusal = HP_SHADOW_TRACED;
		*error = hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
							 "process %d already traces thread %d",
							 (int)tracer, (int)tid),
					 "record without --shadow while a debugger is attached");
		return HOLD_REFUSED;
	}
	*refusal = HP_SHADOW_NOT_PERMITTED;
	*error = hp_error_advise(hp_error_create_errno(errno_value, "stopping thread %d", (int)tid),
				 "%s", shadow_permission_advice());
	return HOLD_REFUSED;
}

/* Whether it is our own child, whose end is left to the code that waits for our children. */
static bool is_own_child(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)tid);
	const char *line;
	int process = 0;
	int parent = 0;

	line = text ? strstr(text, "\nTgid:") : NULL;
	if (line && sscanf(line, "\nTgid: %d", &process) != 1)
		return false;
	line = text ? strstr(text, "\nPPid:") : NULL;
	return line && sscanf(line, "\nPPid: %d", &parent) == 1 && process == tid &&
	       parent == getpid();
}

/* A traced thread that ends stays a zombie until its tracer has waited for it, and so do its
 * process and the wait of its parent. */
void hold_see_its_end(pid_t tid)
{
	siginfo_t info;
	int got;

	if (is_own_child(tid))
		return;
	do {
		got = waitid(P_PID, (id_t)tid, &info, WEXITED | __WALL);
	} while (got < 0 && errno == EINTR);
}

void hold_let_go(pid_t tid, unsigned long signal)
{
	if (ptrace(PTRACE_DETACH, tid, NULL, signal) < 0 && errno == ESRCH)
		hold_see_its_end(tid);
}

/* Waits for the thread's next stop. Its end is left for others to wait for. False when it has
 * ended. */
static bool await_stop(pid_t tid, int *signal, int *event)
{
	siginfo_t info = { 0 };
	int got;

	do {
		got = waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL);
	} while (got < 0 && errno == EINTR);
	if (got < 0 || (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED))
		return false;
	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) < 0 || !info.si_pid)
		return false;
	*signal = info.si_status & 0x7f;
	*event = info.si_status >> 8;
	return true;
}

/* The time for which this thread waited for a CPU; 0: unknown. */
static uint64_t own_delay_ns(void)
{
	struct hp_thread_times times = { 0 };

	(void)hp_thread_times(getpid(), gettid(), &times);
	return times.delayed_ns;
}

/* When the thread stopped: that is when this thread became ready to run again, so its own wait for
 * a CPU counts. */
static uint64_t stopped_since_ns(uint64_t asked_ns, uint64_t delay_ns)
{
	uint64_t now_ns = hp_clock_monotonic_ns();
	uint64_t waited_ns = own_delay_ns() - delay_ns;

	return delay_ns && now_ns - asked_ns > waited_ns ? now_ns - waited_ns : asked_ns;
}

static bool read_state(pid_t tid, struct held_state *state)
{
	struct iovec extended = { state->extended, sizeof(state->extended) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &extended) < 0)
		return false;
	state->extended_bytes = extended.iov_len;
	return ptrace(PTRACE_GETSIGMASK, tid, sizeof(state->blocked_signals),
		      &state->blocked_signals) == 0;
}

static enum hold_result judge(pid_t tid, enum hold_where where, struct held_state *state,
			      struct cut_call *cut, struct hp_error **error,
			      enum hp_shadow_refusal *refusal)
{
	bool is_final;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &state->registers) < 0)
		return HOLD_GONE;
	if (is_in_kernel(&state->registers)) {
		state->in_call_on = state->registers.rdi;
		/* It entered the call between the check and the stop. */
		is_final = cut_call_mend(tid, &state->registers, cut);
		if (!is_final || where == HOLD_IN_USER_MODE)
			return HOLD_IN_KERNEL;
		/* Its copy is in no call that the kernel might restart. */
		state->registers.orig_rax = UINT64_MAX;
	}
	if (!is_64_bit(&state->registers)) {
		*refusal = HP_SHADOW_OTHER_MACHINE;
		*error = hp_error_advise(
			hp_error_create(HP_ERROR_NOT_PERMITTED, "it is not a 64-bit x86 program"),
			"record without --shadow");
		return HOLD_REFUSED;
	}
	return read_state(tid, state) ? HOLD_STOPPED : HOLD_GONE;
}

static void raise_priority(struct hold_times *times)
{
	const struct sched_param first = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	times->policy = sched_getscheduler(0);
	if (times->policy < 0 || sched_getparam(0, &times->priority) < 0 ||
	    sched_setscheduler(0, SCHED_RR, &first) < 0)
		times->policy = -1;
}

static void restore_priority(const struct hold_times *times)
{
	if (times->policy < 0)
		return;
	sched_setscheduler(0, times->policy, &times->priority);
	/* Changing the policy has reset the slice. */
	hp_thread_set_slice(0, HP_SHORTEST_SLICE_NS);
}

static enum hold_result try_to_hold(pid_t tid, enum hold_where where, struct held_state *state,
				    struct hold_times *times, struct hp_error **error,
				    enum hp_shadow_refusal *refusal)
{
	enum hold_result result = HOLD_IN_KERNEL;
	struct cut_call cut = { 0 };
	uint64_t delay_ns = own_delay_ns();
	uint64_t asked_ns;
	int signal = 0;
	int event = 0;

	if (!hold_is_running(tid))
		return HOLD_IN_KERNEL;
	asked_ns = hp_clock_monotonic_ns();
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return refused(tid, errno, error, refusal);
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 || !await_stop(tid, &signal, &event)) {
		hold_see_its_end(tid);
		return HOLD_GONE;
	}
	times->start_ns = stopped_since_ns(asked_ns, delay_ns);
	/* Otherwise a signal came first, or another process has stopped the thread. The signal is
	 * delivered, and the caller tries again later. */
	if (event == PTRACE_EVENT_STOP && signal == SIGTRAP)
		result = judge(tid, where, state, &cut, error, refusal);
	if (result != HOLD_STOPPED) {
		times->end_ns = hp_clock_monotonic_ns() - cut.ran_ns;
		hold_let_go(tid, event == PTRACE_EVENT_STOP ? cut.signal : (unsigned long)signal);
	}
	return result;
}

enum hold_result hold(pid_t tid, enum hold_where where, struct held_state *state,
		      struct hold_times *times, struct hp_error **error,
		      enum hp_shadow_refusal *refusal)
{
	enum hold_result result;

	*times = (struct hold_times){ 0 };
	raise_priority(times);
	result = try_to_hold(tid, where, state, times, error, refusal);
	if (result != HOLD_STOPPED)
		restore_priority(times);
	return result;
}

enum hold_result hold_patiently(pid_t tid, enum hold_where where, struct held_state *state,
				struct hold_times *times, struct hp_error **error,
				enum hp_shadow_refusal *refusal)
{
	const struct timespec pause = { .tv_nsec = HOLD_PAUSE_NS };
	enum hold_result result = HOLD_IN_KERNEL;
	uint64_t in_vain_ns = 0;

	state->in_call_on = UINT64_MAX;
	for (unsigned i = 0; i < HOLD_TRIES && result == HOLD_IN_KERNEL; i++) {
		if (i)
			nanosleep(&pause, NULL);
		result = hold(tid, where, state, times, error, refusal);
		if (result == HOLD_IN_KERNEL)
			in_vain_ns += times->end_ns - times->start_ns;
	}
	times->in_vain_ns = in_vain_ns;
	return result;
}

void hold_keep(struct hold_times *times)
{
	times->end_ns = hp_clock_monotonic_ns();
	restore_priority(times);
}

/* The end is noted first: the released thread may get our CPU at once. */
void hold_release(pid_t tid, struct hold_times *times)
{
	times->end_ns = hp_clock_monotonic_ns();
	hold_let_go(tid, 0);
	restore_priority(times);
}

unsigned long long *hold_general_register(struct user_regs_struct *registers, unsigned number)
{
	unsigned long long *const places[16] = {
		&registers->rax, &registers->rcx, &registers->rdx, &registers->rbx,
		&registers->rsp, &registers->rbp, &registers->rsi, &registers->rdi,
		&registers->r8,	 &registers->r9,  &registers->r10, &registers->r11,
		&registers->r12, &registers->r13, &registers->r14, &registers->r15,
	};

	return places[number];
}

void hold_general(const struct user_regs_struct *registers, uint64_t general[16])
{
	const uint64_t values[16] = {
		registers->rax, registers->rcx, registers->rdx, registers->rbx,
		registers->rsp, registers->rbp, registers->rsi, registers->rdi,
		registers->r8,	registers->r9,	registers->r10, registers->r11,
		registers->r12, registers->r13, registers->r14, registers->r15,
	};

	memcpy(general, values, sizeof(values));
}

bool hold_give_state(pid_t pid, const struct held_state *state)
{
	struct iovec extended = {
		(void *)(uintptr_t)state->extended, /* it is only read */
		state->extended_bytes,
	};

	return ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &extended) == 0;
}
