/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sums.h"

#include "evaluate.h"
#include "tuning.h"

#include <hpcprof/mux/metric.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SUMS_MOST = 8, SUM_BYTES = 128 };

/* The sums of a table, as rows of coefficients. */
struct sums {
	struct hp_mux_invariant invariants[SUMS_MOST];
	struct hp_mux_term terms[SUMS_MOST][STACK_EVENTS_MOST];
	double scale[SUMS_MOST]; /* size of its left side */
	size_t count;
};

/* Each side is linear, so an event's coefficient is what it adds to the side. NaN if an event is
 * not counted. */
static double side(const struct hp_stack_table *table, const char *formula, const double *events)
{
	struct stack_counts counts;

	stack_counts_begin(&counts, table, events);
	return stack_counts_value(&counts, formula);
}

static void add_sum(const struct hp_stack_table *table, const char *text, const uint32_t *events,
		    const double *counted, struct sums *sums)
{
	struct hp_mux_invariant *invariant = &sums->invariants[sums->count];
	struct hp_mux_term *terms = sums->terms[sums->count];
	double unit[STACK_EVENTS_MOST] = { 0 };
	const char *relation = strpbrk(text, "<=");
	char left[SUM_BYTES], right[SUM_BYTES];

	if (!relation || sums->count == SUMS_MOST)
		return;
	snprintf(left, sizeof(left), "%.*s", (int)(relation - text), text);
	snprintf(right, sizeof(right), "%s", relation + (*relation == '<' ? 2 : 1));
	if (isnan(side(table, left, counted)) || isnan(side(table, right, counted)))
		return;
	*invariant = (struct hp_mux_invariant){
		.text = text,
		.relation = *relation == '<' ? HP_MUX_AT_MOST : HP_MUX_EQUAL,
		.terms = terms,
	};
	for (size_t i = 0; i < table->event_count; i++) {
		double coefficient;

		unit[i] = 1;
		coefficient = side(table, left, unit) - side(table, right, unit);
		unit[i] = 0;
		if (coefficient != 0 && events[i] != HP_MUX_NO_EVENT)
			terms[invariant->term_count++] =
				(struct hp_mux_term){ events[i], coefficient };
	}
	sums->scale[sums->count++] = side(table, left, counted);
}

struct hp_error *stack_sums_reconcile(const struct hp_stack_table *table,
				      const struct hp_mux_estimates *estimates,
				      const uint32_t *events, const double *counted,
				      struct hp_mux_reconciliation **reconciliation,
				      const char **violated)
{
	struct sums sums = { .count = 0 };
	struct hp_error *error;

	*violated = NULL;
	for (size_t i = 0; table->sums[i]; i++)
		add_sum(table, table->sums[i], events, counted, &sums);
	error = hp_mux_reconcile(estimates, sums.invariants, sums.count, reconciliation);
	for (size_t i = 0; !error && !*violated && i < sums.count; i++) {
		const struct hp_mux_finding *finding = &(*reconciliation)->findings[i];

		if (finding->kind == HP_MUX_VIOLATED &&
		    fabs(finding->excess) > sums_tolerance * sums.scale[i])
			*violated = sums.invariants[i].text;
	}
	return error;
}
