/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of which programs windows are recorded (copy/recorder.h): those whose calls ended a window that was
 * not, and had counted less than half of its time. Before the first window of a program its thread
 * tells: one that often gives up its CPU to wait, and is the only one of its process that runs, is a
 * server. Each call of
 * a recorded window costs its thread two stops, so programs that compute are not recorded. A program for
 * which recording did not help goes back for good: mostly its threads answer each other through
 * memory.
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
	bool is_recorded;
	unsigned in_vain; /* recorded windows in a row that counted nothing */
};

struct recordings {
	struct recorded_program programs[RECORDED_PROGRAMS];
	size_t count;
};

/* `running`: how many threads of the process run. */
bool recordings_want(const struct recordings *recordings, pid_t pid, pid_t tid, uint64_t running);
/* What came of a window that was to be so long. `is_cut`: a call ended it. */
void recordings_note(struct recordings *recordings, pid_t pid, bool was_recorded, bool is_cut,
		     uint64_t wanted_ns, uint64_t counted_ns);

#endif
