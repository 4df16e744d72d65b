/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides for which programs the windows' system calls are recorded (copy/recorder.h).
 *
 * Recording begins after a window without it that was ended by a call before it had counted the
 * required part of its time. Before the first window of a program, three observations of a thread
 * that is the only running one of its process suggest a server, which is then recorded: the thread
 * often gives up its CPU to wait, it repeatedly could not be held because it was in a call on a
 * socket or a pipe, or it often reads and writes while its process has a socket open.
 *
 * Each call in a recorded window stops the thread twice, so programs that only compute are not
 * recorded. They may make calls when they begin, which cut their first window: so what a call has cut
 * is tried without recording again, at longer and longer intervals. If recording has repeatedly
 * counted almost nothing in a program, it is not used again for that program; usually the threads of
 * such a program communicate through memory.
 */
#ifndef SHADOW_BUDGET_RECORDINGS_H
#define SHADOW_BUDGET_RECORDINGS_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct recorded_program {
	uint64_t device, inode; /* of the program's file */
	bool has_window;	/* a window has shown whether to record: see is_recorded */
	bool is_recorded;	/* the next windows are to be recorded; requires: has_window */
	bool has_counted;	/* a window without recording counted something */
	unsigned in_vain;	/* recorded windows in a row that counted almost nothing */
	unsigned in_calls;	/* how often a thread was in a call on a socket or a pipe */
	unsigned recorded; /* 1 + windows recorded since a call has cut one without; 0: none has */
	unsigned trials;   /* of windows without recording since then */
};

struct recordings {
	struct recorded_program programs[RECORDED_PROGRAMS];
	size_t count;
};

/* Whether the calls of the thread's next window should be recorded. `running`: the number of
 * running threads of the process. */
bool recordings_want(const struct recordings *recordings, pid_t pid, pid_t tid, uint64_t running);
/* Notes that a thread could not be held because it was in a system call with this first
 * argument, which may be the number of a descriptor. */
void recordings_note_call(struct recordings *recordings, pid_t pid, uint64_t argument);
/* Notes the result of a window with the intended length `wanted_ns`. `is_cut`: a call ended it. */
void recordings_note(struct recordings *recordings, pid_t pid, bool was_recorded, bool is_cut,
		     uint64_t wanted_ns, uint64_t counted_ns);

#endif
