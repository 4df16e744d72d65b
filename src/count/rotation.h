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
 * also read when their slices begin (they are disabled then, and no interrupt is needed). A slice
 * without a readable beginning or end is dropped.
 */
#ifndef COUNT_ROTATION_H
#define COUNT_ROTATION_H

#include "counters.h"

#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>

struct rotation {
	struct counters counters;
	struct hp_mux_group *groups; /* the plan's */
	struct hp_mux_plan plan;
	struct hp_mux_scheduler *scheduler;
	struct hp_mux_estimator *whole;	   /* of the run */
	struct hp_mux_estimator *interval; /* of the current interval; NULL without */
	uint32_t current;
	uint64_t begin_ns;    /* of the current slice, by the clock */
	uint64_t position_ns; /* the same on the line of time */
	const struct counters
		*clock;	   /* the counter that is always on; NULL: the line is the clock */
	double rate;	   /* of the last slice: enabled time over the clock's */
	uint64_t gaps_ns;  /* by the clock, at the rates of the slices before them */
	uint64_t asked_ns; /* when that counter was last asked, by the clock */
	uint64_t ahead_ns; /* by how much the line of time was ahead of it then */
	double gap_share;  /* how much of these the target really ran for */
	struct counter_reading *last; /* of each group, when its last slice began or ended */
	bool is_begin_known;	      /* the current slice's reading at its begin is in there */
	struct counter_reading now;
	uint64_t *values; /* what they point into */
	uint64_t slices;
	uint64_t slice_ns;   /* sum of their lengths */
	uint64_t enabled_ns; /* sum: how long the target ran while we looked */
};

/* Opens the rotation set's groups; nothing counts yet but what exec enables. */
struct hp_error *rotation_open(struct rotation *rotation,
			       const struct hp_rotation_set *rotation_set,
			       const struct counter_options *options,
			       const struct hp_machine *machine,
			       const struct hp_mux_scheduler_options *scheduler);
void rotation_close(struct rotation *rotation);
/* Closes the descriptors only. */
void rotation_let_go(struct rotation *rotation);

bool rotation_turns(const struct rotation *rotation);

/* The first slice begins; estimates are of what happens from here on. `switch_on`: nothing else
 * enables its group. */
struct hp_error *rotation_begin(struct rotation *rotation, uint64_t now_ns,
				const struct counters *clock, bool with_intervals, bool switch_on);
/* How long the target ran so far, as the counter that is always on says. */
uint64_t rotation_clock_ns(const struct counters *clock);
/* Ends the slice that runs, and begins another. */
void rotation_turn(struct rotation *rotation);
/* The same where others do the switching: what they read is in `rotation->now`. */
void rotation_take(struct rotation *rotation, uint64_t end_ns, uint64_t next_begin_ns,
		   uint32_t next);
/* Ends the slice that runs, for good. */
void rotation_end(struct rotation *rotation);
/* Takes what has been counted so far into account, and goes on with the same slice's group. */
void rotation_look(struct rotation *rotation);

/* Groups are switched somewhere inside a call, and what the target did meanwhile is inferred: no
 * count is known better than to a tenth of the share that gaps have of the time. */
double rotation_doubt(const struct rotation *rotation);

/* Puts zeros into `rotation->now`. */
void rotation_clear_reading(struct rotation *rotation);

#endif
