/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the system calls of a thread while it runs on after having been held (hold.h).
 *
 * The thread is stopped twice in each call, and its state is not changed. When the recording ends,
 * the thread is released, normally before a call. It is released at once at any event that the
 * recorder does not handle: a signal, a stop, exec, or a call that call_outputs.h does not know.
 *
 * A thread that waits in a call must not be woken. To release it there, the tracing thread ends:
 * the kernel then detaches the target's thread without waking it. So recorder_run() is called in a
 * thread of its own, which is cancelled if it takes too long.
 */
#ifndef SHADOW_COPY_RECORDER_H
#define SHADOW_COPY_RECORDER_H

#include "areas.h"
#include "call_log.h"

#include <sys/types.h>

struct recorder {
	pid_t tid;
	const struct areas *areas; /* areas of its process, as it is held */
	uint64_t user_ns;	   /* how much of its own CPU time is to be recorded */
	size_t calls;		   /* how many calls at most; below LOGGED_CALLS */
	int clock_fd;		   /* an event that counts the thread's CPU time */
	bool has_locked;	   /* some of its memory is locked */
	struct call_log *log;	   /* prepared by call_log_begin */
};

/* The thread is held by the calling thread, in user mode. Afterwards it is released, or has ended;
 * log->end says why. This is a cancellation point while the thread runs or waits; cancellation must
 * be disabled otherwise. */
void recorder_run(struct recorder *recorder);

#endif
