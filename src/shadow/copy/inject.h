/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes system calls in a stopped process that hpcprof created: a copy that is being built or
 * replayed. Never in the target.
 */
#ifndef SHADOW_COPY_INJECT_H
#define SHADOW_COPY_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct shadow_call {
	long number;
	uint64_t arguments[6];
};

/*
 * Runs one system call in a stopped, traced process, by the `syscall` instruction at `at`, and
 * waits for it. The registers of the process are undefined afterwards. `is_asked_for`: a filter
 * stops the process before the kernel makes the call (sandbox_lock.h). False when the process has
 * died or was stopped by something else; otherwise `result` is what the kernel returned (-errno for
 * errors).
 */
bool inject(pid_t pid, uint64_t at, bool is_asked_for, const struct shadow_call *call,
	    int64_t *result);

/* Continues such a process at `at`, with `rbx` and `r12`, until it executes the `int3` before `end`.
 * False when it has died or was stopped by something else. */
bool inject_code(pid_t pid, uint64_t at, uint64_t end, uint64_t rbx, uint64_t r12);

/* Waits until a process of ours stops. False when it has ended instead; then it has been reaped. */
bool wait_stopped(pid_t pid, int *status);

#endif
