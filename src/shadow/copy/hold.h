/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops one thread of the target for a moment, and reads its registers.
 *
 * The thread is attached by ptrace only while it is held, since an attached thread stops at each of
 * its signals. Its state is not changed: if hpcprof is killed meanwhile, the kernel detaches the
 * thread, which runs on.
 *
 * When the thread ends, its exit status is left for its parent: only stops are taken by waitid().
 */
#ifndef SHADOW_COPY_HOLD_H
#define SHADOW_COPY_HOLD_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/window.h>

#include <sched.h>
#include <sys/types.h>
#include <stdint.h>
#include <sys/user.h>

/* What a thread was doing, beyond its memory. */
struct held_state {
	struct user_regs_struct registers;
	uint8_t extended[16384]; /* XSAVE area: x87, SSE, AVX, ... */
	size_t extended_bytes;
	uint64_t blocked_signals;
	/* HOLD_IN_KERNEL: the first argument of the system call that it was in; UINT64_MAX: nobody knows. */
	uint64_t in_call_on;
};

enum hold_result {
	HOLD_STOPPED,	/* held: let go of it with hold_release */
	HOLD_IN_KERNEL, /* in a system call; it was let go again */
	HOLD_GONE,	/* it has ended */
	HOLD_REFUSED,	/* see the error */
};

/* From when to when a thread was stopped (CLOCK_MONOTONIC). Not in it is that it waited for a CPU when
 * it was told to stop: this it does anyway, on a busy machine for a tenth of a second. */
struct hold_times {
	uint64_t start_ns;   /* 0: it was not */
	uint64_t end_ns;     /* once it was let go */
	uint64_t in_vain_ns; /* held before, by hold_in_user_mode, when it was in a system call */
	/* Of the thread that holds it, to go back to: meanwhile it comes before all others, where that is
	 * permitted. A CPU that it waits for is time that the target waits. */
	int policy; /* -1: as it was */
	struct sched_param priority;
};

/* Stops `tid` if it is running in user mode, and reads its state. When the result is HOLD_REFUSED
 * there is an error, to be destroyed, and `refusal` says which kind. */
enum hold_result hold(pid_t tid, struct held_state *state, struct hold_times *times,
		      struct hp_error **error, enum hp_shadow_refusal *refusal);
/* Asks again, for some ms, while the thread is in a system call. */
enum hold_result hold_in_user_mode(pid_t tid, struct held_state *state, struct hold_times *times,
				   struct hp_error **error, enum hp_shadow_refusal *refusal);
void hold_release(pid_t tid, struct hold_times *times);
/* The end of the stop, and of our priority in it, but the thread stays held: recorder_run() goes on. */
void hold_keep(struct hold_times *times);

/* The thread that traces it, in our namespace; 0: none. */
pid_t hold_tracer(pid_t tid);
/* For whoever traces a thread longer: lets go of one that has stopped, with that signal (0: none); and
 * sees the end of one that has ended. */
void hold_let_go(pid_t tid, unsigned long signal);
void hold_see_its_end(pid_t tid);

/* The general ones as instructions number them: rax rcx rdx rbx rsp rbp rsi rdi r8 … */
void hold_general(const struct user_regs_struct *registers, uint64_t general[16]);
/* One of them, by its number (below 16). */
unsigned long long *hold_general_register(struct user_regs_struct *registers, unsigned number);

/* Whether the thread is running in user mode now, as far as can be told without stopping it. To
 * stop one that waits in the kernel would end some of its system calls early. */
bool hold_is_running(pid_t tid);

/* Gives a stopped process of ours that state, but for general registers. */
bool hold_give_state(pid_t pid, const struct held_state *state);

#endif
