/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics computed from counts: ratios with 95 % intervals, and which metrics and invariants a list
 * of events allows.
 *
 * A ratio R = N / D of two sums of counts. Its interval is Fieller's: all R for which N - R D is
 * compatible with 0, from the variances and the covariance of N and D. Counts of the same group
 * have similar errors, so their interval is narrower. The covariance of events in different groups
 * is unknown; for G groups in turn it lies within ± sd sd / (G - 1) if rates change together, and
 * the worst case is taken. If D may be 0 there is no interval: insufficient. If D has no error, the
 * interval is that of the counts.
 */
#ifndef HPCPROF_MUX_METRIC_H
#define HPCPROF_MUX_METRIC_H

#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/reconcile.h>

struct hp_mux_ratio {
	double value;	  /* NaN when it has none */
	double low, high; /* NaN unless exact or estimated */
	enum hp_mux_verdict verdict;
};

/* scale * sum of numerator / sum of denominator. Terms must name events of `estimates`. An empty
 * denominator means `divisor` alone, a number known exactly (time, say). */
struct hp_mux_ratio hp_mux_ratio_of(const struct hp_mux_estimates *estimates,
				    const struct hp_mux_term *numerator, size_t numerator_count,
				    const struct hp_mux_term *denominator, size_t denominator_count,
				    double divisor, double scale);

/* The variance of the sum of the terms. Covariances of events in different groups are taken to be
 * 0, their average: for many terms the sum of all worst cases is far too wide. */
double hp_mux_sum_variance(const struct hp_mux_estimates *estimates,
			   const struct hp_mux_term *terms, size_t count);

/* The meaning of an event, with which metrics and invariants find their parts. */
enum hp_mux_role {
	HP_MUX_ROLE_NONE,
	HP_MUX_ROLE_CYCLES,
	HP_MUX_ROLE_REF_CYCLES,
	HP_MUX_ROLE_INSTRUCTIONS,
	HP_MUX_ROLE_CPU_TIME_NS, /* task-clock, cpu-clock */
	HP_MUX_ROLE_BRANCHES,
	HP_MUX_ROLE_BRANCH_MISSES,
	HP_MUX_ROLE_CACHE_REFERENCES,
	HP_MUX_ROLE_CACHE_MISSES,
	HP_MUX_ROLE_L1D_LOADS,
	HP_MUX_ROLE_L1D_LOAD_MISSES,
	HP_MUX_ROLE_L1D_STORES,
	HP_MUX_ROLE_L1I_LOADS,
	HP_MUX_ROLE_L1I_LOAD_MISSES,
	HP_MUX_ROLE_LLC_LOADS,
	HP_MUX_ROLE_LLC_LOAD_MISSES,
	HP_MUX_ROLE_DTLB_LOADS,
	HP_MUX_ROLE_DTLB_LOAD_MISSES,
	HP_MUX_ROLE_ITLB_LOADS,
	HP_MUX_ROLE_ITLB_LOAD_MISSES,
	HP_MUX_ROLE_STALLED_FRONTEND,
	HP_MUX_ROLE_STALLED_BACKEND,
	HP_MUX_ROLE_PAGE_FAULTS,
	HP_MUX_ROLE_MINOR_FAULTS,
	HP_MUX_ROLE_MAJOR_FAULTS,
	HP_MUX_ROLE_CONTEXT_SWITCHES,
	HP_MUX_ROLE_COUNT,
};
/* By the generic name of an event, without modifiers ("branch-misses"); NONE if it has none. */
enum hp_mux_role hp_mux_role_of(const char *name);

#define HP_MUX_NO_EVENT UINT32_MAX

/* A metric that a list of events allows. */
struct hp_mux_metric {
	const char *name;	/* "IPC", "branch-miss rate" */
	const char *unit;	/* "instructions/cycle", "%", "GHz", … */
	enum hp_mux_role about; /* the event beside which it is shown */
	struct hp_mux_ratio ratio;
};

/* `events[role]`: the event with this role, or HP_MUX_NO_EVENT. The caller ensures that they count
 * the same things (for instance, all user mode). Writes at most `room` metrics and returns their
 * number. */
size_t hp_mux_metrics(const struct hp_mux_estimates *estimates,
		      const uint32_t events[HP_MUX_ROLE_COUNT], struct hp_mux_metric *metrics,
		      size_t room);

/* The invariants that hold on every machine for these events (branch-misses <= branches,
 * page-faults = minor-faults + major-faults, …). Owned by the caller, as one block: free(). */
struct hp_error *hp_mux_invariants_create(const uint32_t events[HP_MUX_ROLE_COUNT],
					  struct hp_mux_invariant **invariants, size_t *count);

#endif
