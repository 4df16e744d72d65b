/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much CPU time a thread takes per call where nobody stops it.
 *
 * A thread that is stopped twice in each call finds caches and TLBs cold, and takes a multiple of its time. So
 * times within a recorded window say how its stretches compare, not how long they are. The kernel counts
 * each thread's reads and writes (/proc/PID/task/TID/io); with its CPU time that tells how long so many
 * of them take, recorded windows left out. Calls on sockets that are not read() or write() are not
 * among them: for these a breakpoint behind the most frequent call that sends counts a moment later,
 * and then two breakpoints, one in front of it. What the second one adds is what each costs. Where calls
 * are so frequent that breakpoints take much of the time, too, nothing is told.
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
