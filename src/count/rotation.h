/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of one rotation set while it rotates: which group counts now, what each slice counted,
 * and the estimates from these. hpcprof decides; the kernel never has more events than counters, so
 * that its own multiplexing does not set in.
 *
 * The length of a slice is measured from just after its group was enabled to just before it is
 * disabled. A set with a single group never rotates: nothing is switched, and its counts are exact.
 *
 * Slices lie on a time axis. For whole CPUs this is the clock. For tasks it is the time that the
 * target has run: while it sleeps no events happen; while hpcprof rotates it may run (on another
 * CPU) or not (on the same one). The share of rotations during which it runs is learnt from a
 * counter that is always enabled. Reading that counter costs an interrupt, so it is read at every
 * rotation at first, and then now and then.
 *
 * A child that starts while its parent's group is disabled may miss that, and count until the group
 * is disabled the next time. What it counts meanwhile belongs to no slice. So groups of tasks are
 * also read when their slices begin (they are disabled then, and no interrupt is needed). A group
 * that cannot be read (counters_read) continues for another slice.
 */
#ifndef COUNT_ROTATION_H
#define COUNT_ROTATION_H

#include "counters.h"

#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>

struct rotation {
	struct counters counters;
	struct hp_mux_group *groups; /* owned by the plan */
	struct hp_mux_plan plan;
	struct hp_mux_scheduler *scheduler;
	struct hp_mux_estimator *whole; /* for the whole run */
	/* for the current interval; NULL: there are no intervals */
	struct hp_mux_estimator *interval;
	uint32_t current;
	uint64_t begin_ns;    /* start of the current slice, in wall time */
	uint64_t position_ns; /* the same on the time line */
	const struct counters
		/* the counter that is always enabled; NULL: the time line is wall time */
		*clock;
	double rate;	   /* of the last slice: enabled time divided by wall time */
	uint64_t gaps_ns;  /* sum of gaps in wall time, at the rates of the slices before them */
	uint64_t asked_ns; /* wall time when that counter was read last */
	uint64_t ahead_ns; /* by how much the time line was ahead of it then */
	double gap_share;  /* the share of gaps in which the target really ran */
	/* by group: reading at the beginning or end of its last slice */
	struct counter_reading *last;
	struct counter_reading now;
	uint64_t *values; /* memory of all readings' values */
	uint64_t slices;
	uint64_t slice_ns;   /* sum of the slices' lengths */
	uint64_t enabled_ns; /* sum of the time that the target ran during slices */
};

/* Opens the rotation set's groups. Nothing counts yet except what exec enables. */
struct hp_error *rotation_open(struct rotation *rotation,
			       const struct hp_rotation_set *rotation_set,
			       const struct counter_options *options,
			       const struct hp_machine *machine,
			       const struct hp_mux_scheduler_options *scheduler);
void rotation_close(struct rotation *rotation);
/* Only closes the descriptors. */
void rotation_let_go(struct rotation *rotation);

bool rotation_turns(const struct rotation *rotation);

/* Begins the first slice; estimates cover the time from here on. `switch_on`: nothing else enables
 * its group. */
struct hp_error *rotation_begin(struct rotation *rotation, uint64_t now_ns,
				const struct counters *clock, bool with_intervals, bool switch_on);
/* How long the target has run, according to the counter that is always enabled. */
uint64_t rotation_clock_ns(const struct counters *clock);
/* Ends the current slice, and begins another; or goes on with it if it cannot be read. */
void rotation_turn(struct rotation *rotation);
/* The same if others do the switching; their readings are in `rotation->now`. */
void rotation_take(struct rotation *rotation, uint64_t end_ns, uint64_t next_begin_ns,
		   uint32_t next);
/* Ends the last slice. */
void rotation_end(struct rotation *rotation);
/* Adds what was counted so far to the estimates, and continues with the same group. */
void rotation_look(struct rotation *rotation);

/* The smallest relative width of intervals: groups are switched at an unknown time within a call,
 * so no count is known more precisely than to a tenth of the gaps' share of the time. */
double rotation_doubt(const struct rotation *rotation);

/* Clears `rotation->now`. */
void rotation_clear_reading(struct rotation *rotation);

#endif
