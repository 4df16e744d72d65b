/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates counts with 95 % intervals from slices.
 *
 * An estimator takes one slice after the other; its memory does not grow with the run. Asking for a
 * result does not change later results. Estimates are separate values: made from an estimator,
 * adjusted by invariants (reconcile.h), divided by each other (metric.h).
 *
 * With c the count of an event in a slice, o the length in which it was counted and w the length of
 * the run that the slice represents, the methods are
 *
 *	scale        sum c * T / t: T the time enabled, t the time counted (Azimi section 3, and
 *	             the purpose of the kernel's time_enabled / time_running)
 *	interpolate  Lim 2.3: the count grows linearly from each observation to the next; the slope
 *	             m = k / n of an observation also holds for the time since the previous one; the
 *	             time after the last observation has its slope
 *	trapezoid    sum c / o * w: the rate changes linearly across each gap, measured with the
 *	             reference event where the two methods above use time; w is o and a part of the
 *	             gap on either side: half of it beside a slice of equal length, all of it at the
 *	             ends of the run
 *	best         trapezoid by time, corrected by what is known: X, the totals of the reference
 *	             event and of the first few events that every group counts (instructions, on a
 *	             fixed counter). + sum b (X - the group's own trapezoid of X), with b from
 *	             regressing the event's steps on those of X. So events that follow the work and
 *	             events that follow time are each measured by what they follow. As many of X are
 *	             used as improve the estimate, possibly none. As far as the event's rate is noise
 *	             without memory, all slices count equally, as with scale. For every use
 *
 * The interval. The error of a slice is the difference between what happened in w and the estimate
 * from the slice. It is modelled as a sum of three kinds of known shapes: noise without memory,
 * memory of some length l, and a random walk. Their sizes are fitted to the event's squared
 * differences at several distances (a variogram). The variance is the sum over slices. Each slice
 * contributes the difference observed there times the factor that the shape gives for w and o; if
 * the average difference gives a larger sum, that is used. This allows for autocorrelation, and w =
 * o (always counted) has the error 0. Only three quarters of the fitted memory are used.
 *
 * The explanation by X is judged by cross-validation: each half of the steps is predicted with the
 * b of the other half, and the difference of the two corrections is taken into account. The
 * quantile is Student's, with degrees of freedom from the spread of the terms. Counts in bursts are
 * far from symmetric, so the interval is a factor, count / f … count f, where log f is the relative
 * half width: an unseen burst may add more than a burst counted in excess may subtract. `low` is
 * never less than what was actually counted.
 *
 * roc chooses turns by the latest rates: a group whose rate changed counts again soon, and other
 * groups wait. So observed changes are small over long gaps and large over short ones, as if the
 * event had no memory, or memory of another length, and slices are densest where most happens. For
 * roc no memory is therefore assumed, the variance is the largest that is compatible with
 * successive differences, and slices never all count equally.
 *
 * In a time series `best` also uses the past. If the slices of an interval determine its rate less
 * precisely than the mean rate so far and its variation do, the estimate moves toward that mean.
 *
 * A slice that is much shorter than usual is merged with the next slice of its group, because a
 * short moment says little about a rate. A count from fewer than five slices, or whose relative
 * half width is more than 1, is insufficient.
 *
 * Lengths of gaps: a rotation, or a slice in which another user had the counters, is measured in
 * time and converted into units of the reference event at the rate of the previous slice.
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
	HP_MUX_INSUFFICIENT, /* counted, but too little for an interval */
	HP_MUX_NOT_COUNTED,  /* never had a slice: there is no count, which is not 0 */
};
const char *hp_mux_verdict_name(enum hp_mux_verdict verdict);

struct hp_mux_estimate {
	double count;	  /* best figure; NaN when not counted */
	double low, high; /* 95 %; NaN unless exact or estimated */
	double freedom;	  /* degrees of freedom of the variance; infinite when exact */
	double running;	  /* share of the run in which it was counted, 0 … 1 */
	uint64_t raw;	  /* actually counted */
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
	double between;	     /* share of it between slices: the cost of rotation, 0 … 1 */
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
 * next. Ask for its estimates first. Knowledge of the rates continues: a group without a slice in
 * the next interval is estimated from the previous one. Use a second estimator for the whole run.
 */
void hp_mux_estimator_cut(struct hp_mux_estimator *estimator, uint64_t at_ns);

/* Estimates up to `end_ns` (at least the last slice's end; 0 means exactly that). The estimator
 * does not change. */
struct hp_error *hp_mux_estimates_create(const struct hp_mux_estimator *estimator,
					 enum hp_mux_method method, uint64_t end_ns,
					 struct hp_mux_estimates **created);

/* Two-sided 95 % quantile of Student's t; 1.96 for infinite freedom. */
double hp_mux_quantile(double freedom);

#endif
