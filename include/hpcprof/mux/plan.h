/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logical counters, multiplexed on few physical ones: which events are counted together, and the
 * counts of one slice. Azimi section 3: groups take turns, one slice each time, and every group
 * counts a reference event (cycles, instructions or time) in addition to its events.
 *
 * Plain data, no system calls; nothing here owns memory. Times are those of the session's clock in
 * ns.
 *
 * Events are numbered through the plan: those of group 0 first, then those of group 1, …, and
 * finally the `always_count` events that every group counts in addition to its own (fixed
 * counters).
 */
#ifndef HPCPROF_MUX_PLAN_H
#define HPCPROF_MUX_PLAN_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct hp_mux_group {
	uint32_t event_count; /* without the reference event and those always counted */
	uint32_t share;	      /* its weight relative to other groups; 0: unset (1) */
};

struct hp_mux_plan {
	const struct hp_mux_group *groups;
	uint32_t group_count;  /* > 0 */
	uint32_t always_count; /* events counted in every slice */
	/* The next group depends on rates that were seen: hp_mux_policy_follows_rates. */
	bool follows_rates;
};

/* Limits, above any plausible number of groups and events. */
#define HP_MUX_MAX_GROUPS 1024
#define HP_MUX_MAX_EVENTS 1024
#define HP_MUX_MAX_SHARE  1000

/* USAGE when there is no group, no event, or more of anything than the limits. */
struct hp_error *hp_mux_plan_check(const struct hp_mux_plan *plan);
uint32_t hp_mux_plan_events(const struct hp_mux_plan *plan); /* of all groups, and always */
/* The number of a group's first event; of group `group_count`, the first that is always counted. */
uint32_t hp_mux_plan_first(const struct hp_mux_plan *plan, uint32_t group);
uint32_t hp_mux_plan_share(const struct hp_mux_plan *plan, uint32_t group); /* unset: 1 */

/*
 * One actual slice. Slices are in the order of time and do not overlap; the time between two slices
 * (the rotation) was counted by no group.
 *
 * `enabled_ns` and `running_ns` come from the kernel (for an event of a task they advance only
 * while the task runs, and add up over threads). Nothing enabled: the target slept, and the slice
 * is empty. Enabled but not running: another user had the counters, and the slice is a gap.
 * `reference` is the count of the group's reference event while running; if time is the reference
 * event, it is running_ns.
 */
struct hp_mux_slice {
	uint32_t group;
	uint64_t begin_ns, end_ns;
	uint64_t enabled_ns, running_ns; /* running_ns <= enabled_ns */
	uint64_t reference;
	const uint64_t *counts; /* raw: the group's events in order, then those always counted */
};

/* Whether a slice is consistent with the plan and with itself, and does not begin before
 * `after_ns`. */
bool hp_mux_slice_is_sound(const struct hp_mux_plan *plan, const struct hp_mux_slice *slice,
			   uint64_t after_ns);
/* The same as an error: USAGE with a message if it is not. */
struct hp_error *hp_mux_slice_check(const struct hp_mux_plan *plan,
				    const struct hp_mux_slice *slice, uint64_t after_ns);

#endif
