/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From slices to counts with 95 % intervals.
 *
 * An estimator is fed slice by slice, in memory that does not grow with the run; the result does
 * not depend on when it is asked for in between. Estimates are a value of their own: made from an
 * estimator, adjusted by invariants (reconcile.h), divided by each other (metric.h).
 *
 * With c the count of an event in a slice, o the length in which it was counted and w the length of
 * the run that the slice stands for, the methods are
 *
 *	scale        sum c * T / t: T the time enabled, t the time counted (Azimi section 3, and
 *	             what the kernel's time_enabled / time_running is for)
 *	interpolate  Lim 2.3: the count goes linearly from each observation to the next; the slope
 *	             m = k / n of an observation also holds for the time since the last one (what is
 *	             after the last has the last's)
 *	trapezoid    sum c / o * w: the rate goes linearly across each gap, measured with the reference event
 *	             where the two above use time; w is o and a part of the gap on either side, half
 *	             of it beside a slice as long, all of it at the ends of the run
 *	best         trapezoid by time, corrected by what is known: X, the reference event's total and those
 *	             of the first few events that every group counts (instructions, of a fixed
 *	             counter). + sum b (X - the group's own trapezoid of X), b from regressing
 *	             the event's steps on X's; so events that come with the work and events that
 *	             come with time are each measured by what they come with. As many of X as
 *	             make the estimate better, maybe none; and as far as the event's rate is noise
 *	             without memory, all slices count alike, as with scale. For every use
 *
 * The interval. The slice's error, what happened in w less what it says, is a sum of three kinds
 * with known shapes: noise without memory, memory of some length l, and a random walk. Their sizes
 * are fitted to the event's squared differences at several distances (a variogram), and the
 * variance adds up slice by slice, with the difference that was seen there, times what that shape
 * makes of w and o; or with the average difference, where that makes more. So autocorrelation is
 * allowed for, and w = o (always counted) has the error 0. Half of the memory is not believed. What
 * the known explain is judged by cross-validation: each half of the steps with the other half's b,
 * and by how much the halves' corrections differ. The quantile is Student's, the degrees of freedom
 * from the spread of the terms. Counts are far from symmetric where they come in bursts, so the
 * interval is a factor either way, count / f … count f with log f the relative half width: there is
 * more room for a burst that no slice saw than for one too many. `low` is never less than what was
 * really counted.
 *
 * In a time series best also knows the past: as far as an interval's own slices say less of it than
 * the mean rate so far and how much rates that last vary around it, it is drawn to that mean.
 *
 * A slice much shorter than slices are waits for its group's next, and counts with it: what
 * happened in a moment says little of a rate. A count that comes from fewer than five slices, or
 * whose relative half width is more than 1, is insufficient.
 *
 * Lengths of gaps: a rotation, or a slice in which the counters were somebody else's, is measured
 * in time and turned into reference event units at the rate of the slice before.
 */
#ifndef HPCPROF_MUX_ESTIMATE_H
#define HPCPROF_MUX_ESTIMATE_H

#include <hpcprof/mux/plan.h>
#include <hpcprof/base/cleanup.h>

#include <stdbool.h>
#include <stddef.h>

enum hp_mux_method {
	HP_MUX_SCALE,
	HP_MUX_INTERPOLATE,
	HP_MUX_TRAPEZOID,
	HP_MUX_BEST,
	HP_MUX_METHOD_COUNT,
};
const char *hp_mux_method_name(enum hp_mux_method method); /* "scale", "interpolate", … */
bool hp_mux_method_parse(const char *name, enum hp_mux_method *method);

enum hp_mux_verdict {
	HP_MUX_EXACT,	     /* counted all the time: the interval is the count */
	HP_MUX_ESTIMATED,    /* the interval holds in 95 of 100 cases */
	HP_MUX_INSUFFICIENT, /* counted, but too little to say how far off it may be */
	HP_MUX_NOT_COUNTED,  /* never got a slice: there is no count, not 0 */
};
const char *hp_mux_verdict_name(enum hp_mux_verdict verdict);

struct hp_mux_estimate {
	double count;	  /* best figure; NaN when not counted */
	double low, high; /* 95 %; NaN unless exact or estimated */
	double freedom;	  /* degrees of freedom of the variance; infinite when exact */
	double running;	  /* share of the run in which it was counted, 0 … 1 */
	uint64_t raw;	  /* really counted */
	uint64_t slices;  /* in which the target ran and it was counted */
	enum hp_mux_verdict verdict;
};

/* Of all events of a plan, in its order. */
struct hp_mux_estimates {
	size_t count;
	struct hp_mux_estimate *events;
	double *covariance; /* count × count, of the errors; row by row; 0 between groups */
	uint32_t *groups;   /* of each event; the plan's group_count for those always counted */
	uint32_t group_count;
	uint64_t elapsed_ns; /* from the first slice's begin to the end */
	double between;	     /* share of it between slices: what rotating took, 0 … 1 */
};
void hp_mux_estimates_destroy(struct hp_mux_estimates *estimates);
HP_DEFINE_CLEANUP(struct hp_mux_estimates, hp_mux_estimates_destroy);

double hp_mux_covariance(const struct hp_mux_estimates *estimates, size_t a, size_t b);

struct hp_mux_estimator;

/* The plan is copied. `begin_ns`: when the run began (before the first slice). */
struct hp_error *hp_mux_estimator_create(const struct hp_mux_plan *plan, uint64_t begin_ns,
					 struct hp_mux_estimator **created);
void hp_mux_estimator_destroy(struct hp_mux_estimator *estimator);
HP_DEFINE_CLEANUP(struct hp_mux_estimator, hp_mux_estimator_destroy);

/* Fails as hp_mux_slice_check does, and nothing has changed. Allocates nothing. */
struct hp_error *hp_mux_estimator_add(struct hp_mux_estimator *estimator,
				      const struct hp_mux_slice *slice);

/*
 * Ends an interval of a time series at `at_ns`, not before the last slice's end, and begins the
 * next. Ask for its estimates first. What is known of the rates goes on: a group that gets no slice
 * in the next interval is estimated from the last one. Keep a second estimator for the whole run.
 */
void hp_mux_estimator_cut(struct hp_mux_estimator *estimator, uint64_t at_ns);

/* Estimates of what happened up to `end_ns` (at least the last slice's end; 0 means just that). The
 * estimator stays as it is. */
struct hp_error *hp_mux_estimates_create(const struct hp_mux_estimator *estimator,
					 enum hp_mux_method method, uint64_t end_ns,
					 struct hp_mux_estimates **created);

/* Two-sided 95 % quantile of Student's t; 1.96 for infinite freedom. */
double hp_mux_quantile(double freedom);

#endif
