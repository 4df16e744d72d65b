/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how much CPU time a thread takes per system call when it is not stopped.
 *
 * A recorded thread is stopped twice in each call, finds caches and TLBs cold, and takes several
 * times as long as otherwise. So times within a recorded window show how its stretches compare, but
 * not how long they are. The kernel counts the reads and writes of each thread
 * (/proc/PID/task/TID/io). These counts and the thread's CPU time, both without the recorded
 * windows, give the time per call.
 *
 * The kernel does not count calls on sockets other than read() and write(). For these, a breakpoint
 * after the most frequent sending call counts calls shortly after the window. Then two breakpoints
 * are set, the second one before that call; the additional time is the cost of one breakpoint hit.
 * If calls are so frequent that breakpoints take much of the time, too, the time per call remains
 * unknown. If calls are seldom, the recorded times hardly differ from undisturbed ones.
 */
#ifndef SHADOW_CALL_PACE_H
#define SHADOW_CALL_PACE_H

#include "copy/call_log.h"

#include <sys/types.h>

/* What a thread had done by a moment. */
struct call_sums {
	uint64_t calls; /* that the kernel counts */
	uint64_t cpu_ns;
};

/* A thread, from when it was first met on. */
struct paced_thread {
	pid_t tid;
	struct call_sums begun, recorded; /* and in windows of it */
};

struct call_pace {
	struct paced_thread threads[PACED_THREADS]; /* the latest, in turn */
	size_t next;
	double differences_ns; /* of one breakpoint and two, per hit: the sum, of so many */
	uint64_t differences;
	double lost_ns; /* by breakpoints, the latest time */
};

/* Before the first window of a thread is recorded, or early. */
void call_pace_meet(struct call_pace *pace, pid_t pid, pid_t tid);
/* Scales the user time of a log's calls, just recorded, of a thread that runs on. Ends when `stop_fd` is
 * readable. The factor; 0: it is not known, nothing was
 * changed. */
double call_pace_apply(struct call_pace *pace, struct call_log *log, pid_t pid, pid_t tid,
		       int stop_fd);

#endif
