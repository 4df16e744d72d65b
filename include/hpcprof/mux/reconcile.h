/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relations between counts make them more precise: hits + misses = accesses, loads + stores <=
 * instructions, slots add up, generic = the sum of its parts.
 *
 * With y the estimates, V their covariance and A x = 0, B x <= 0 the invariants, the adjusted
 * counts are
 *
 *	x = argmin (x - y)' V^-1 (x - y)   where A x = 0, B x <= 0, x >= what was actually counted
 *
 * with the covariance V - V A' (A V A')^-1 A V, the projection by the equalities only. An
 * inequality moves a count but never narrows its interval: the projection on a convex set that
 * contains the truth cannot increase the distance from the truth. Exact counts do not move.
 * Matrices are dense, because a plan has only a few dozen events.
 *
 * An invariant that the data contradict (|z| >= HP_MUX_CONTRADICTED) is reported and not used:
 * either it does not hold here, or the counters are wrong.
 */
#ifndef HPCPROF_MUX_RECONCILE_H
#define HPCPROF_MUX_RECONCILE_H

#include <hpcprof/mux/estimate.h>

enum hp_mux_relation {
	HP_MUX_EQUAL,	/* sum of coefficient * count = 0 */
	HP_MUX_AT_MOST, /* sum of coefficient * count <= 0 */
};

struct hp_mux_term {
	uint32_t event; /* its number in the plan; at most once in an invariant */
	double coefficient;
};

struct hp_mux_invariant {
	const char *text; /* for a person: "hits + misses = accesses"; borrowed */
	enum hp_mux_relation relation;
	const struct hp_mux_term *terms; /* borrowed */
	size_t term_count;
};

#define HP_MUX_CONTRADICTED 4.0

enum hp_mux_finding_kind {
	HP_MUX_SATISFIED, /* held already; an equality was used to narrow the intervals */
	HP_MUX_BINDING,	  /* counts were moved to make it hold */
	HP_MUX_VIOLATED,  /* by more than noise: not used */
	HP_MUX_UNDECIDED, /* one of its events has no interval: not used */
};

struct hp_mux_finding {
	enum hp_mux_finding_kind kind;
	double excess; /* sum of coefficient * raw estimate */
	double z;      /* excess in standard errors; infinite between exact counts; 0 undecided */
};

struct hp_mux_reconciliation {
	struct hp_mux_estimates *adjusted; /* same order and shape as what went in */
	double *width_change;		 /* of each event: new width / old width, <= 1; 1: exact */
	struct hp_mux_finding *findings; /* of each invariant */
	size_t finding_count;
};
void hp_mux_reconciliation_destroy(struct hp_mux_reconciliation *reconciliation);
HP_DEFINE_CLEANUP(struct hp_mux_reconciliation, hp_mux_reconciliation_destroy);

/* Only exact or estimated events take part; the others are returned unchanged. USAGE for a term
 * that names no event, names one twice, or has no finite coefficient. */
struct hp_error *hp_mux_reconcile(const struct hp_mux_estimates *raw,
				  const struct hp_mux_invariant *invariants, size_t invariant_count,
				  struct hp_mux_reconciliation **created);

#endif
