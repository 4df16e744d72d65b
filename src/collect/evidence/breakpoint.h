/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One execution breakpoint of one thread, which counts its hits. */
#ifndef COLLECT_EVIDENCE_BREAKPOINT_H
#define COLLECT_EVIDENCE_BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct breakpoint_count {
	uint64_t hits;
	uint64_t running_ns; /* CPU time of the thread, in the kernel too, until it stopped */
};

/* Counts user code of the thread (0: our own) that runs the instruction at the address, `most`
 * times at most. The descriptor, or -1 and errno. */
int breakpoint_open(pid_t tid, uint64_t address, unsigned most);
/* Closes it. */
bool breakpoint_take(int fd, struct breakpoint_count *count);

/* What one hit takes here, measured on ourselves; 0 when there are no breakpoints to be had. */
double breakpoint_cost_ns(void);

#endif
