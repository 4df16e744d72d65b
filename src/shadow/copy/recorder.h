/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the system calls of a thread that is held (hold.h), as it goes on.
 *
 * The thread is stopped twice in each call, and nothing of it is changed. It is let go in front of a
 * call, mostly, and at once where something comes that is not for us: signals, stops, exec and all other
 * calls that call_outputs.h does not know. While it waits in a call nothing is done to it: the thread
 * that records it may be cancelled, and the kernel lets go of a thread whose tracer ends, wherever
 * that is, without waking it. So recorder_run() is called in a thread of its own, and is
 * cancelled where it takes too long.
 */
#ifndef SHADOW_COPY_RECORDER_H
#define SHADOW_COPY_RECORDER_H

#include "areas.h"
#include "call_log.h"

#include <sys/types.h>

struct recorder {
	pid_t tid;
	const struct areas *areas; /* of its process, as it is held */
	uint64_t user_ns;	   /* how long it is to be recorded, its own CPU time */
	size_t calls;		   /* at most, below LOGGED_CALLS */
	int clock_fd;		   /* an event that counts its CPU time */
	struct call_log *log;	   /* made by call_log_begin */
};

/* The thread is held by the calling one, in user mode. Afterwards it is let go, or has ended; log->end
 * says why. A cancellation point while the thread runs or waits; else cancellation must be
 * disabled. */
void recorder_run(struct recorder *recorder);

#endif
