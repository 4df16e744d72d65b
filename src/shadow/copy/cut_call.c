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
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum {
	SYSTEM_CALL_STOP = SIGTRAP | 0x80, /* as reported with PTRACE_O_TRACESYSGOOD */
	/* results with which the kernel makes a call again, or has it return EINTR (linux/errno.h) */
	LEAST_RESTART = 512,
	MOST_RESTART = 516,
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

/* What two arguments of a call tell of its bytes. */
enum bytes_by {
	BY_ADDRESS, /* their address and their number */
	BY_ARRAY,   /* the address of an array of pieces, and the number of these */
	BY_HEADER,  /* the address of a struct msghdr, and flags */
};

struct shape {
	uint64_t number;
	enum on on;
	enum bytes_by by;
	unsigned first;		 /* of these arguments */
	uint64_t number_of_rest; /* of a call with an address and a number of bytes */
};

static const struct shape *shape_of(uint64_t number)
{
	static const struct shape shapes[] = {
		{ SYS_write, ON_STREAM, BY_ADDRESS, 1, SYS_write },
		{ SYS_sendto, ON_STREAM, BY_ADDRESS, 1, SYS_sendto },
		{ SYS_writev, ON_STREAM, BY_ARRAY, 1, SYS_write },
		{ SYS_sendmsg, ON_STREAM, BY_HEADER, 1, SYS_sendto },
		{ SYS_read, ON_SOURCE, BY_ADDRESS, 1, SYS_read },
		{ SYS_pread64, ON_SOURCE, BY_ADDRESS, 1, SYS_pread64 },
		{ SYS_getrandom, ON_NONE, BY_ADDRESS, 0, SYS_getrandom },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(shapes); i++)
		if (shapes[i].number == number)
			return &shapes[i];
	return NULL;
}

struct pieces {
	struct iovec at[UIO_MAXIOV]; /* addresses of the target */
	size_t count;
};

static bool read_memory(pid_t tid, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = { to, bytes };
	struct iovec remote = { (void *)(uintptr_t)address, bytes };

	return !bytes || process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* A filter of system calls may allow a call, and kill the program for the one that does its rest. */
static bool has_filter(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)tid);

	return !text || !strstr(text, "\nSeccomp:\t0\n");
}

/* False: they cannot be read, or may not be written one by one. */
static bool list_pieces(pid_t tid, struct user_regs_struct registers, const struct shape *shape,
			struct pieces *pieces)
{
	const uint64_t first = *argument(&registers, shape->first);
	const uint64_t second = *argument(&registers, shape->first + 1);
	struct msghdr header = { .msg_iov = (void *)(uintptr_t)first, .msg_iovlen = second };

	if (shape->by == BY_ADDRESS) {
		pieces->at[0] = (struct iovec){ (void *)(uintptr_t)first, second };
		pieces->count = 1;
		return true;
	}
	if (has_filter(tid) ||
	    (shape->by == BY_HEADER && !read_memory(tid, first, &header, sizeof(header))))
		return false;
	pieces->count = header.msg_iovlen;
	return pieces->count <= HP_ARRAY_COUNT(pieces->at) &&
	       read_memory(tid, (uintptr_t)header.msg_iov, pieces->at,
			   pieces->count * sizeof(pieces->at[0]));
}

/* What is left of the piece in which byte `done` is; of no length if there is none. */
static struct iovec rest_of(const struct pieces *pieces, uint64_t done)
{
	for (size_t i = 0; i < pieces->count; i++) {
		const struct iovec *piece = &pieces->at[i];

		if (done < piece->iov_len)
			return (struct iovec){ (char *)piece->iov_base + done,
					       piece->iov_len - done };
		done -= piece->iov_len;
	}
	return (struct iovec){ 0 };
}

/* The call again, for `rest`. */
static struct user_regs_struct call_for(const struct user_regs_struct *cut_at,
					const struct shape *shape, struct iovec rest)
{
	struct user_regs_struct registers = made_again(cut_at);

	registers.rax = shape->number_of_rest;
	if (shape->by == BY_HEADER) {
		registers.r10 = *argument(&registers, shape->first + 1);
		registers.r8 = registers.r9 = 0;
	}
	*argument(&registers, shape->first) = (uintptr_t)rest.iov_base;
	*argument(&registers, shape->first + 1) = rest.iov_len;
	return registers;
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
		    const struct pieces *pieces, struct cut_call *cut)
{
	const uint64_t until_ns = hp_clock_monotonic_ns() + CUT_PATIENCE_NS;
	struct user_regs_struct registers;
	uint64_t done = cut_at->rax;
	uint64_t more = done;
	struct iovec rest;

	ptrace(PTRACE_SETOPTIONS, tid, NULL, PTRACE_O_TRACESYSGOOD);
	while (more && (rest = rest_of(pieces, done)).iov_len &&
	       hp_clock_monotonic_ns() < until_ns) {
		registers = call_for(cut_at, shape, rest);
		set_registers(tid, &registers);
		more = make_call(tid, until_ns, cut);
		done += more;
	}
	registers = *cut_at;
	registers.rax = done;
	registers.orig_rax = UINT64_MAX;
	set_registers(tid, &registers);
}

bool cut_call_is_restarted(int64_t result)
{
	return -result >= LEAST_RESTART && -result <= MOST_RESTART;
}

bool cut_call_mend(pid_t tid, const struct user_regs_struct *registers, struct cut_call *cut)
{
	const struct shape *shape = shape_of(registers->orig_rax);
	int64_t result = (int64_t)registers->rax;
	_cleanup_free_ struct pieces *pieces = shape && result > 0 ? malloc(sizeof(*pieces)) : NULL;
	struct user_regs_struct again;

	*cut = (struct cut_call){ 0 };
	if (result == -EINTR && !has_signals(tid)) {
		again = made_again(registers);
		set_registers(tid, &again);
	} else if (pieces && list_pieces(tid, *registers, shape, pieces) &&
		   rest_of(pieces, (uint64_t)result).iov_len &&
		   is_made_by_syscall(tid, registers) && is_on(shape->on, tid, registers->rdi) &&
		   !has_signals(tid)) {
		do_rest(tid, registers, shape, pieces, cut);
	} else {
		return result != -EINTR && !cut_call_is_restarted(result);
	}
	return false;
}
