/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops one thread of the target for a moment, and reads its registers.
 *
 * The thread is attached by ptrace only while it is held, since an attached thread stops at each of
 * its signals. Its state is not changed: if hpcprof is killed meanwhile, the kernel detaches the
 * thread, which runs on. A thread that turns out to be in a system call is released at once, unless it
 * may be held behind calls, and the call is mended where the stop has cut it short (cut_call.h).
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

/* The state of a thread besides its memory. */
struct held_state {
	struct user_regs_struct registers;
	uint8_t extended[16384]; /* XSAVE area: x87, SSE, AVX, ... */
	size_t extended_bytes;
	uint64_t blocked_signals;
	/* HOLD_IN_KERNEL: the first argument of the system call; UINT64_MAX: unknown */
	uint64_t in_call_on;
};

/* Where a thread may be held. */
enum hold_where {
	HOLD_IN_USER_MODE,
	/* Or at the end of a system call that the stop has not cut short: behind a call whose
	 * result is final. */
	HOLD_BEHIND_CALLS,
};

enum hold_result {
	HOLD_STOPPED,	/* held until hold_release */
	HOLD_IN_KERNEL, /* in a system call, or at its end; it was released again */
	HOLD_GONE,	/* it has ended */
	HOLD_REFUSED,	/* see `error` */
};

/* When a thread was stopped (CLOCK_MONOTONIC). A thread that was waiting for a CPU when it was told
 * to stop goes on waiting, up to a tenth of a second on a busy machine; that is not included, as it
 * would have waited anyway. */
struct hold_times {
	uint64_t start_ns;   /* 0: it was not stopped */
	uint64_t end_ns;     /* when it was released */
	uint64_t in_vain_ns; /* earlier stops by hold_patiently that found it in a system call */
	/* The policy and priority of the holding thread, to be restored. While it holds a thread,
	 * it has the highest priority that is permitted, because the target waits whenever it waits
	 * for a CPU. */
	int policy; /* -1: unchanged */
	struct sched_param priority;
};

/* Stops `tid` if it is running where it may be held, and reads its state. With HOLD_REFUSED there is
 * an error, which the caller destroys, and `refusal` says of which kind. */
enum hold_result hold(pid_t tid, enum hold_where where, struct held_state *state,
		      struct hold_times *times, struct hp_error **error,
		      enum hp_shadow_refusal *refusal);
/* Like hold, but while the thread is elsewhere it tries again for some ms. */
enum hold_result hold_patiently(pid_t tid, enum hold_where where, struct held_state *state,
				struct hold_times *times, struct hp_error **error,
				enum hp_shadow_refusal *refusal);
void hold_release(pid_t tid, struct hold_times *times);
/* Ends the stop's time and our priority, but keeps the thread held, for recorder_run(). */
void hold_keep(struct hold_times *times);

/* The thread that traces `tid`, as numbered in our namespace; 0: none. */
pid_t hold_tracer(pid_t tid);
/* For longer tracing. The first releases a stopped thread and delivers a signal (0: none); the
 * second waits for a traced thread that has ended. */
void hold_let_go(pid_t tid, unsigned long signal);
void hold_see_its_end(pid_t tid);

/* General registers in the order of their numbers in instructions: rax rcx rdx rbx rsp rbp rsi rdi
 * r8 … */
void hold_general(const struct user_regs_struct *registers, uint64_t general[16]);
/* One of them, by its number (0 to 15). */
unsigned long long *hold_general_register(struct user_regs_struct *registers, unsigned number);

/* Whether the thread is running in user mode, as far as can be told without stopping it. A thread
 * that waits in the kernel is not stopped, because that would end some system calls early. */
bool hold_is_running(pid_t tid);

/* Gives a stopped process of ours this state, except for general registers. */
bool hold_give_state(pid_t pid, const struct held_state *state);

#endif
