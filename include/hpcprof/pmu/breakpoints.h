/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether hardware breakpoints count here. There are hypervisors under which they open and are
 * scheduled like others, and are never hit: what they count is always 0, and no error says so.
 */
#ifndef HPCPROF_PMU_BREAKPOINTS_H
#define HPCPROF_PMU_BREAKPOINTS_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct hp_event_list;

enum hp_breakpoints {
	HP_BREAKPOINTS_FIRE,
	HP_BREAKPOINTS_SILENT, /* they open, and are never hit */
	HP_BREAKPOINTS_NONE,   /* they do not open: why, says errno */
};

/* Finds out on the calling thread, in some microseconds. `bp_type` is HW_BREAKPOINT_X, or W or RW of
 * <linux/hw_breakpoint.h>. */
enum hp_breakpoints hp_breakpoints_try(uint32_t bp_type);

/* An error when one of the events is a breakpoint of a kind that is never hit here. Where breakpoints
 * do not open that is found out with the events' own. */
struct hp_error *hp_breakpoints_check(const struct hp_event_list *events);

#endif
