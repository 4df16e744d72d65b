/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stall stack: cycles per instruction as a sum of components, from counts.
 *
 * Azimi et al. 2005, section 4: each cycle in which nothing completes is charged to a source. Which
 * one is a choice where causes overlap, so a component is a range: from the smallest to the largest
 * of what the table's attributions (table.h) say, widened by `doubt`, the error of such formulas on
 * a core whose truth is known, and by the intervals of the counts, which propagate through the
 * formulas with their covariances. `likely` is the attribution of interval analysis.
 *
 * The likely values of components that are not part of another (`within`), with `other`, add up to
 * the CPI. `other` is what no formula claims; it is not distributed to components. If it is
 * negative, the formulas claim more cycles than there were; `adds_up` is false if that is more than
 * noise. Nothing is rescaled.
 *
 * A component whose events were not counted has no likely value: its cycles are in `other`, or in
 * the component that it is a part of. The same holds for events that read 0 where that is not
 * plausible.
 */
#ifndef HPCPROF_STACK_STACK_H
#define HPCPROF_STACK_STACK_H

#include <hpcprof/mux/estimate.h>
#include <hpcprof/stack/table.h>

struct hp_stack_part {
	bool is_known; /* the core has it at all */
	enum hp_stack_component within;
	double low, high; /* cycles per instruction, as all others */
	/* By accounting; NaN: not counted here. That of HP_STACK_INTERVAL is the likely value. */
	double values[HP_STACK_ACCOUNTINGS];
	/* The likely value is within this of the value by full counts in 95 of 100 cases, as events
	 * took turns on the counters. 0: everything was counted all the time; NaN: too little was
	 * counted. */
	double half;
	const char *missing; /* the name of an event that is missing; NULL: none is */
};

struct hp_stack_metric {
	const char *name; /* the vendor's */
	double share;	  /* of cycles; NaN: not counted */
};

enum { HP_STACK_METRICS = 16 };

struct hp_stack {
	const struct hp_stack_table *table;
	double cycles, instructions;   /* counts */
	double cpi, cpi_low, cpi_high; /* NaN where either was not counted */
	struct hp_stack_part parts[HP_STACK_COMPONENTS];
	struct hp_stack_metric metrics[HP_STACK_METRICS];
	size_t metric_count;
	bool adds_up;
	double excess;	      /* cycles per instruction claimed beyond the CPI; 0 */
	const char *violated; /* the first of the table's sums that counts contradict; NULL */
};

/* `events[i]` is the number in `estimates` of the table's event i, or HP_MUX_NO_EVENT. */
struct hp_error *hp_stack_create(const struct hp_stack_table *table,
				 const struct hp_mux_estimates *estimates, const uint32_t *events,
				 struct hp_stack *stack);

/* The components by likely value, then by upper end: the worst first. `other` is the last. */
void hp_stack_order(const struct hp_stack *stack, enum hp_stack_component *order);

#endif
