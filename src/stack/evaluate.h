/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formulas of a table, with counts put in. */
#ifndef STACK_EVALUATE_H
#define STACK_EVALUATE_H

#include <hpcprof/stack/table.h>

#include <stdbool.h>

/* More than any table has; a test says so. */
enum { STACK_EVENTS_MOST = 48, STACK_TERMS_MOST = 32 };

struct stack_counts {
	const struct hp_stack_table *table;
	const double *events; /* in the table's order; NaN: not counted */
	double terms[STACK_TERMS_MOST];
	size_t terms_known; /* from the first */
	struct hp_stack_latencies latencies;
};

/* Computes the terms. */
void stack_counts_begin(struct stack_counts *counts, const struct hp_stack_table *table,
			const double *events);
/* NaN: not known, or no formula (a test sees that those of the tables are). NULL is not known. */
double stack_counts_value(struct stack_counts *counts, const char *formula);
/* The first event, by its number, that was not counted and with which the formula would have a value, or
 * another one; -1: none is. */
int stack_counts_missing(struct stack_counts *counts, const char *formula);
/* Marks the events that a formula needs, directly or through terms. False: it is no formula. */
bool stack_formula_events(const struct hp_stack_table *table, const char *formula, bool *needed);

#endif
