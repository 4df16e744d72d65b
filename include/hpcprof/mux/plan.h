/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logical counters from few physical ones: what is counted together, and what one slice counted.
 * Azimi section 3: groups take turns, one slice each time, and every group counts a reference event (cycles,
 * instructions or time) beside its events.
 *
 * Plain data, no system call, nothing here owns memory. Times are of the session's one clock in ns.
 *
 * Events are numbered through the plan: those of group 0 first, then those of group 1, …, at last
 * the `always_count` events that every group counts beside its own (fixed counters).
 */
#ifndef HPCPROF_MUX_PLAN_H
#define HPCPROF_MUX_PLAN_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct hp_mux_group {
	uint32_t
		event_count; /* its own events, without the reference event and those always counted */
	uint32_t share;	     /* how much it matters beside the others; 0: not said (1) */
};

struct hp_mux_plan {
	const struct hp_mux_group *groups;
	uint32_t group_count;  /* > 0 */
	uint32_t always_count; /* events counted in every slice */
};

/* What there is room for: groups and events that anybody could mean. */
#define HP_MUX_MAX_GROUPS 1024
#define HP_MUX_MAX_EVENTS 1024
#define HP_MUX_MAX_SHARE  1000

/* USAGE when there is no group, no event, or more of anything than the limits. */
struct hp_error *hp_mux_plan_check(const struct hp_mux_plan *plan);
uint32_t hp_mux_plan_events(const struct hp_mux_plan *plan); /* of all groups, and always */
/* The number of a group's first event; of group `group_count`, the first that is always counted. */
uint32_t hp_mux_plan_first(const struct hp_mux_plan *plan, uint32_t group);
uint32_t hp_mux_plan_share(const struct hp_mux_plan *plan, uint32_t group); /* not said: 1 */

/*
 * One slice as it really was. Slices come in the order of time and do not overlap; what lies
 * between two of them (the rotation) was counted by nobody.
 *
 * `enabled_ns` and `running_ns` are the kernel's (of an event of a task they advance only while the
 * task runs, and add up over threads). Nothing enabled: the target slept, the slice is empty.
 * Enabled and not running: somebody else had the counters, the slice is a gap.
 * `reference event` is what the group's reference event counted while running; where time is the reference event, it is
 * running_ns.
 */
struct hp_mux_slice {
	uint32_t group;
	uint64_t begin_ns, end_ns;
	uint64_t enabled_ns, running_ns; /* running_ns <= enabled_ns */
	uint64_t reference;
	const uint64_t *counts; /* raw: the group's events in order, then those always counted */
};

/* A slice agrees with the plan and itself, and does not begin before `after_ns`. */
bool hp_mux_slice_is_sound(const struct hp_mux_plan *plan, const struct hp_mux_slice *slice,
			   uint64_t after_ns);
/* USAGE, in words, when it is not. */
struct hp_error *hp_mux_slice_check(const struct hp_mux_plan *plan,
				    const struct hp_mux_slice *slice, uint64_t after_ns);

#endif
