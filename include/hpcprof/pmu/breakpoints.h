/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether hardware breakpoints work on this machine. Under some hypervisors they open and
 * are scheduled, but are never hit: their count is always 0, without an error.
 */
#ifndef HPCPROF_PMU_BREAKPOINTS_H
#define HPCPROF_PMU_BREAKPOINTS_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hp_event_list;

enum hp_breakpoints {
	HP_BREAKPOINTS_FIRE,
	HP_BREAKPOINTS_SILENT, /* they open, and are never hit */
	HP_BREAKPOINTS_NONE,   /* they do not open; errno says why */
};

/* Tests this on the calling thread, in some microseconds. `bp_type` is HW_BREAKPOINT_X, or W or RW
 * of <linux/hw_breakpoint.h>. */
enum hp_breakpoints hp_breakpoints_try(uint32_t bp_type);

struct hp_breakpoint_count {
	uint64_t hits;
	uint64_t running_ns; /* CPU time of the thread, in the kernel too, until it stopped */
};

/* Counts how often user code of the thread (0: the calling one) executes the instruction at the
 * address, up to `most` times; then it stops. Returns the descriptor, or -1 and errno. */
int hp_breakpoint_open(pid_t tid, uint64_t address, unsigned most);
bool hp_breakpoint_read(int fd, struct hp_breakpoint_count *count);
/* Returns the cost of a hit, measured with `hits` hits in this thread; 0 without breakpoints. */
double hp_breakpoint_cost_ns(unsigned hits);

/* An error if one of the events is a breakpoint of a kind that is never hit here. If breakpoints do
 * not open, opening the events reports it. */
struct hp_error *hp_breakpoints_check(const struct hp_event_list *events);

#endif
