/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the system calls of a thread while it runs on after having been held (hold.h).
 *
 * The thread is stopped twice in each call, and its state is not changed. The recording ends before a
 * call, or at any event that the recorder does not handle: a signal, a stop, exec, or a call that
 * call_outputs.h does not know. If the thread were released before a call, the kernel would end that
 * early, as for a signal; so it is released behind it.
 *
 * A thread that waits in a call must not be woken. To release it there, the tracing thread ends:
 * the kernel then detaches the target's thread without waking it. So both functions are called in a
 * thread of their own, which is cancelled if they take too long.
 */
#ifndef SHADOW_COPY_RECORDER_H
#define SHADOW_COPY_RECORDER_H

#include "areas.h"
#include "call_log.h"

#include <signal.h>
#include <sys/types.h>

struct recorder {
	pid_t tid;
	const struct areas *areas; /* areas of its process, as it is held */
	uint64_t user_ns;	   /* how much of its own CPU time is to be recorded */
	size_t calls;		   /* how many calls at most; below LOGGED_CALLS */
	int clock_fd;		   /* an event that counts the thread's CPU time */
	bool has_locked;	   /* some of its memory is locked */
	struct call_log *log;	   /* prepared by call_log_begin */
	siginfo_t stop;		   /* set by recorder_run: where the thread is stopped */
	bool is_before_call;	   /* likewise */
};

/* Both are cancellation points while the thread runs or waits; cancellation must be disabled
 * otherwise. */
/* The thread is held by the calling thread, in user mode. Afterwards it is stopped, or has ended;
 * log->end says why. */
void recorder_run(struct recorder *recorder);
/* Releases the thread, and waits until its call is done if it is before one. */
void recorder_release(const struct recorder *recorder);

#endif
