/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of which programs windows are recorded (copy/recorder.h): those whose calls ended a window that was
 * not, and had counted less than half of its time. Before the first window of a program its thread
 * tells, if it is the only one of its process that runs: one that often gives up its CPU to wait is a
 * server; so is one that could not be held, because it was in a call on a socket or a pipe, again and
 * again. Each call of a recorded window costs its thread two stops, so programs that compute are not
 * recorded. A program for which recording did not help goes back for good: mostly its threads answer
 * each other through memory.
 */
#ifndef SHADOW_BUDGET_RECORDINGS_H
#define SHADOW_BUDGET_RECORDINGS_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct recorded_program {
	uint64_t device, inode; /* of its file */
	bool has_window;	/* that told */
	bool is_recorded;	/* … what is best for it */
	unsigned in_vain;	/* recorded windows in a row that counted nothing */
	unsigned in_calls;	/* times that it was found in a call on a socket or a pipe */
};

struct recordings {
	struct recorded_program programs[RECORDED_PROGRAMS];
	size_t count;
};

/* `running`: how many threads of the process run. */
bool recordings_want(const struct recordings *recordings, pid_t pid, pid_t tid, uint64_t running);
/* A thread could not be held, as it was in a system call with this first argument: perhaps the number of a
 * descriptor. */
void recordings_note_call(struct recordings *recordings, pid_t pid, uint64_t argument);
/* What came of a window that was to be so long. `is_cut`: a call ended it. */
void recordings_note(struct recordings *recordings, pid_t pid, bool was_recorded, bool is_cut,
		     uint64_t wanted_ns, uint64_t counted_ns);

#endif
