/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures made of counts: ratios with 95 % intervals, and which of them, and which invariants, a
 * list of events allows.
 *
 * A ratio R = N / D of two sums of counts. Its interval is Fieller's: all R for which N - R D is
 * compatible with 0, from the variances and the covariance of N and D, so counts of the same group,
 * whose errors are alike, give the narrower interval that they deserve. Of events in different
 * groups the covariance is not known; for G groups in turn it lies within ± sd sd / (G - 1) when
 * rates go together, and the worst is taken. Where D may be 0 there is no interval: insufficient.
 * By a D without error the interval is the counts' own.
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

/* What an event means, so that figures and invariants find their parts. */
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
/* Of an event by its generic name, without modifiers ("branch-misses"); NONE when it has none. */
enum hp_mux_role hp_mux_role_of(const char *name);

#define HP_MUX_NO_EVENT UINT32_MAX

/* A figure that a list of events allows. */
struct hp_mux_metric {
	const char *name;	/* "IPC", "branch-miss rate" */
	const char *unit;	/* "instructions/cycle", "%", "GHz", … */
	enum hp_mux_role about; /* beside which event it is shown */
	struct hp_mux_ratio ratio;
};

/* `events[role]`: the event that has this role, or HP_MUX_NO_EVENT. They must count the same things
 * (all user mode, say): the caller knows. Writes at most `room` metrics, returns how many there
 * are. */
size_t hp_mux_metrics(const struct hp_mux_estimates *estimates,
		      const uint32_t events[HP_MUX_ROLE_COUNT], struct hp_mux_metric *metrics,
		      size_t room);

/* The invariants that hold on every machine for these events (branch-misses <= branches,
 * page-faults = minor-faults + major-faults, …). Owned by the caller, as one block: free(). */
struct hp_error *hp_mux_invariants_create(const uint32_t events[HP_MUX_ROLE_COUNT],
					  struct hp_mux_invariant **invariants, size_t *count);

#endif
