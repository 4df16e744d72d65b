/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sums that the counts of a table must satisfy. Counts are adjusted to satisfy them, or
 * reported as contradicting them.
 */
#ifndef STACK_SUMS_H
#define STACK_SUMS_H

#include <hpcprof/mux/reconcile.h>
#include <hpcprof/stack/table.h>

/* Reconciles the estimates with the table's sums. `events`: as in hp_stack_create; `counted`: in
 * the table's order. `*violated`: the first sum that the counts contradict by more than noise and
 * errors of counters explain; NULL: none. */
struct hp_error *stack_sums_reconcile(const struct hp_stack_table *table,
				      const struct hp_mux_estimates *estimates,
				      const uint32_t *events, const double *counted,
				      struct hp_mux_reconciliation **reconciliation,
				      const char **violated);

#endif
