/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formulas of a table, with counts put in. */
#ifndef STACK_EVALUATE_H
#define STACK_EVALUATE_H

#include <hpcprof/stack/table.h>

#include <stdbool.h>

/* A test checks that no table has more. */
enum { STACK_EVENTS_MOST = 48, STACK_TERMS_MOST = 32 };

struct stack_counts {
	const struct hp_stack_table *table;
	const double *events; /* in the table's order; NaN: not counted */
	double terms[STACK_TERMS_MOST];
	size_t terms_known; /* number of terms computed so far */
	struct hp_stack_latencies latencies;
};

/* Computes the terms. */
void stack_counts_begin(struct stack_counts *counts, const struct hp_stack_table *table,
			const double *events);
/* NaN: unknown, or not a formula (a test checks the tables' formulas). NULL is unknown. */
double stack_counts_value(struct stack_counts *counts, const char *formula);
/* The first uncounted event with which the formula would have a value, or another value; -1:
 * none. */
int stack_counts_missing(struct stack_counts *counts, const char *formula);
/* Marks the events that a formula needs, directly or through terms. False: it is not a formula. */
bool stack_formula_events(const struct hp_stack_table *table, const char *formula, bool *needed);

#endif
