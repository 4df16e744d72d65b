/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cut_call.h"

#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

enum {
	SYSTEM_CALL_STOP = SIGTRAP | 0x80, /* as reported with PTRACE_O_TRACESYSGOOD */
	CALL_BYTES = 2,
	CALL_INSTRUCTION = 0x050f, /* syscall: the ABI of 64-bit programs */
	/* device numbers (Documentation/admin-guide/devices.txt) */
	MEMORY_DEVICES = 1, /* major */
	ZERO = 5,	    /* minor, as are the next three */
	FULL = 7,
	RANDOM = 8,
	URANDOM = 9,
};

/* Whether a signal is pending and not blocked: the mask lines of /proc/PID/status are
 * hexadecimal. */
static bool has_signals(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)tid);
	unsigned long long own = 0;
	unsigned long long shared = 0;
	unsigned long long blocked = 0;
	const char *line;

	line = text ? strstr(text, "\nSigPnd:") : NULL;
	if (!line ||
	    sscanf(line, "\nSigPnd: %llx ShdPnd: %llx SigBlk: %llx", &own, &shared, &blocked) != 3)
		return true;
	return (own | shared) & ~blocked;
}

static void set_registers(pid_t tid, const struct user_regs_struct *registers)
{
	ptrace(PTRACE_SETREGS, tid, NULL, registers);
}

/* Without a number of a call in orig_rax the kernel does not restart one by itself. */
static struct user_regs_struct made_again(const struct user_regs_struct *cut)
{
	struct user_regs_struct again = *cut;

	again.rax = cut->orig_rax;
	again.rip -= CALL_BYTES;
	again.orig_rax = UINT64_MAX;
	return again;
}

/* --- calls that have done a part -------------------------------------------------------------- */

static unsigned long long *argument(struct user_regs_struct *registers, unsigned number)
{
	unsigned long long *const arguments[] = {
		&registers->rdi, &registers->rsi, &registers->rdx,
		&registers->r10, &registers->r8,  &registers->r9,
	};

	return arguments[number];
}

/* What has to be known of a call's first argument, a descriptor. A call on other files never returns
 * early for a stop, or returns early without one, too. */
enum on {
	ON_NONE,   /* it is none */
	ON_STREAM, /* a pipe, a socket or a device */
	ON_SOURCE, /* a device that always has all that is asked for */
};

struct shape {
	uint64_t number;
	enum on on;
	unsigned data, bytes; /* arguments: the address and the number of the bytes */
};

static const struct shape *shape_of(uint64_t number)
{
	static const struct shape shapes[] = {
		{ SYS_write, ON_STREAM, 1, 2 },	  { SYS_sendto, ON_STREAM, 1, 2 },
		{ SYS_read, ON_SOURCE, 1, 2 },	  { SYS_pread64, ON_SOURCE, 1, 2 },
		{ SYS_getrandom, ON_NONE, 0, 1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(shapes); i++)
		if (shapes[i].number == number)
			return &shapes[i];
	return NULL;
}

static bool is_source(dev_t device)
{
	unsigned number = minor(device);

	return major(device) == MEMORY_DEVICES &&
	       (number == ZERO || number == FULL || number == RANDOM || number == URANDOM);
}

static bool is_on(enum on on, pid_t tid, uint64_t descriptor)
{
	struct stat status;
	char path[64];

	if (on == ON_NONE)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, (int)descriptor);
	if (stat(path, &status) < 0)
		return false;
	if (on == ON_SOURCE)
		return S_ISCHR(status.st_mode) && is_source(status.st_rdev);
	return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode);
}

static bool is_made_by_syscall(pid_t tid, const struct user_regs_struct *registers)
{
	long code;

	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, tid, registers->rip - CALL_BYTES, NULL);
	return !errno && (code & 0xffff) == CALL_INSTRUCTION;
}

/* Waits for the thread's next stop, and leaves it to be seen by others. After `until_ns` the thread is told to
 * stop. False: it has ended. */
static bool await(pid_t tid, uint64_t until_ns, siginfo_t *info)
{
	const struct timespec pause = { .tv_nsec = CUT_PAUSE_NS };
	bool is_told = false;

	for (;;) {
		*info = (siginfo_t){ 0 };
		if (waitid(P_PID, (id_t)tid, info,
			   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
		    errno != EINTR)
			return false;
		if (info->si_pid)
			return info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED;
		if (!is_told && hp_clock_monotonic_ns() > until_ns)
			is_told = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
		nanosleep(&pause, NULL);
	}
}

/* Lets the thread run to its next stop at a call. False: it has ended, or something else stopped it. */
static bool run_to_call(pid_t tid, uint64_t until_ns, struct cut_call *cut)
{
	siginfo_t info;

	if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL) < 0 || !await(tid, until_ns, &info))
		return false;
	if (info.si_status == SYSTEM_CALL_STOP)
		return true;
	/* Stops of other kinds have an event in the upper bits. */
	cut->signal = info.si_status >> 8 ? 0 : (unsigned long)info.si_status;
	return false;
}

/* Makes the call that the thread is in front of. How many bytes it has done. */
static uint64_t make_call(pid_t tid, uint64_t until_ns, struct cut_call *cut)
{
	struct user_regs_struct registers;
	uint64_t begun_ns;
	bool is_made;

	if (!run_to_call(tid, until_ns, cut))
		return 0;
	begun_ns = hp_clock_monotonic_ns();
	is_made = run_to_call(tid, until_ns, cut);
	cut->ran_ns += hp_clock_monotonic_ns() - begun_ns;
	if (!is_made || ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return 0;
	return (int64_t)registers.rax > 0 ? registers.rax : 0;
}

static void do_rest(pid_t tid, const struct user_regs_struct *cut_at, const struct shape *shape,
		    struct cut_call *cut)
{
	const uint64_t until_ns = hp_clock_monotonic_ns() + CUT_PATIENCE_NS;
	struct user_regs_struct registers = *cut_at;
	const uint64_t data = *argument(&registers, shape->data);
	const uint64_t bytes = *argument(&registers, shape->bytes);
	uint64_t done = cut_at->rax;
	uint64_t more = done;

	ptrace(PTRACE_SETOPTIONS, tid, NULL, PTRACE_O_TRACESYSGOOD);
	while (more && done < bytes && hp_clock_monotonic_ns() < until_ns) {
		registers = made_again(cut_at);
		*argument(&registers, shape->data) = data + done;
		*argument(&registers, shape->bytes) = bytes - done;
		set_registers(tid, &registers);
		more = make_call(tid, until_ns, cut);
		done += more;
	}
	registers = *cut_at;
	registers.rax = done;
	registers.orig_rax = UINT64_MAX;
	set_registers(tid, &registers);
}

void cut_call_mend(pid_t tid, const struct user_regs_struct *registers, struct cut_call *cut)
{
	const struct shape *shape = shape_of(registers->orig_rax);
	struct user_regs_struct arguments = *registers;
	int64_t result = (int64_t)registers->rax;
	struct user_regs_struct again;

	*cut = (struct cut_call){ 0 };
	if (result == -EINTR && !has_signals(tid)) {
		again = made_again(registers);
		set_registers(tid, &again);
	} else if (shape && result > 0 && (uint64_t)result < *argument(&arguments, shape->bytes) &&
		   is_made_by_syscall(tid, registers) && is_on(shape->on, tid, registers->rdi) &&
		   !has_signals(tid)) {
		do_rest(tid, registers, shape, cut);
	}
}
