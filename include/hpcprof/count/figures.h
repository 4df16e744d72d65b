/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Combinations of counts: metrics (IPC, miss ratios), invariants, and counts adjusted by them. Only
 * events that count the same things are combined: of one kind of core and one mode (user, kernel,
 * both). Software events are combined with every kind.
 */
#ifndef HPCPROF_COUNT_FIGURES_H
#define HPCPROF_COUNT_FIGURES_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/mux/metric.h>
#include <hpcprof/pmu/groups.h>

struct hp_figure {
	struct hp_mux_metric metric;
	uint32_t event; /* beside which it is shown */
};

/* The invariants of one kind of core and mode, and their effect. */
struct hp_figure_class {
	struct hp_mux_invariant *invariants; /* one block; owned */
	size_t invariant_count;
	struct hp_mux_reconciliation *reconciliation; /* of all events; NULL without invariants */
};

struct hp_figures {
	struct hp_figure *figures;
	size_t figure_count;
	size_t figure_capacity;
	struct hp_figure_class *classes;
	size_t class_count;
	size_t class_capacity;
	/* For each event: the count adjusted by all invariants, or unchanged if none applies. */
	struct hp_mux_estimate *adjusted;
	double *width_change; /* of each event, 1 where nothing has changed */
	bool *is_adjusted;
};
void hp_figures_destroy(struct hp_figures *figures);
HP_DEFINE_CLEANUP(struct hp_figures, hp_figures_destroy);

struct hp_error *hp_figures_create(const struct hp_event_list *events,
				   const struct hp_rotation_sets *rotation_sets,
				   const struct hp_mux_estimates *estimates,
				   struct hp_figures **figures);

#endif
