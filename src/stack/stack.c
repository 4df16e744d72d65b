/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/stack/stack.h>

#include "evaluate.h"
#include "sums.h"
#include "tuning.h"

#include <hpcprof/mux/metric.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Index of the table's first two events. */
enum { CYCLES, INSTRUCTIONS };

/* All results of formulas, in cycles per instruction. */
struct figures {
	double cpi;
	double values[HP_STACK_COMPONENTS][HP_STACK_ACCOUNTINGS];
};
enum { FIGURES = sizeof(struct figures) / sizeof(double) };

struct making {
	const struct hp_stack_table *table;
	const struct hp_mux_estimates *estimates; /* adjusted to the table's sums */
	const struct hp_mux_estimates *given;	  /* before the adjustment, for their precision */
	const uint32_t *events;
	double counted[STACK_EVENTS_MOST]; /* in the table's order; NaN: not counted */
	struct figures figures;
	struct figures half; /* half widths that follow from the counts' intervals */
	double room;	     /* most that uncounted components may have */
	struct hp_stack *stack;
};

/* --- counts ----------------------------------------------------------------------------------- */

static double count_of(const struct hp_mux_estimates *estimates, uint32_t event)
{
	if (event == HP_MUX_NO_EVENT || estimates->events[event].verdict == HP_MUX_NOT_COUNTED)
		return NAN;
	return estimates->events[event].count;
}

/* The event never happened, and cannot have. */
static bool is_nothing(const struct hp_mux_estimates *estimates, uint32_t event)
{
	const struct hp_mux_estimate *estimate = &estimates->events[event];

	return estimate->count == 0 &&
	       !(estimate->verdict == HP_MUX_ESTIMATED && estimate->high > 0);
}

/* Events that were not counted, and dead ones, are unknown. */
static void take_counts(struct making *making)
{
	double cycles = count_of(making->estimates, making->events[CYCLES]);

	for (size_t i = 0; i < making->table->event_count; i++) {
		double count = count_of(making->estimates, making->events[i]);
		bool is_dead = !isnan(count) && is_nothing(making->given, making->events[i]) &&
			       !making->table->events[i].is_rare && cycles >= dead_cycles;

		making->counted[i] = is_dead ? NAN : count;
	}
}

/* --- figures ---------------------------------------------------------------------------------- */

/* What an accounting assigns to completion if no event tells it: everything but the rest. */
static void find_rest(struct figures *figures, unsigned accounting, enum hp_stack_component rest)
{
	double sum = 0;
	bool any = false;

	for (unsigned i = 0; i < HP_STACK_OTHER; i++) {
		double value = figures->values[i][accounting];

		if (i == rest || isnan(value))
			continue;
		sum += value;
		any = true;
	}
	if (any && isnan(figures->values[rest][accounting]))
		figures->values[rest][accounting] = figures->cpi - sum;
}

static void find_figures(const struct making *making, const double *events, struct figures *figures)
{
	const struct hp_stack_table *table = making->table;
	struct stack_counts counts;
	double instructions = events[INSTRUCTIONS];

	stack_counts_begin(&counts, table, events);
	figures->cpi = instructions > 0 ? events[CYCLES] / instructions : NAN;
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		for (unsigned j = 0; j < HP_STACK_ACCOUNTINGS; j++)
			figures->values[i][j] = NAN;
	for (size_t i = 0; i < table->row_count; i++)
		for (unsigned j = 0; j < HP_STACK_ACCOUNTINGS; j++)
			figures->values[table->rows[i].component][j] =
				stack_counts_value(&counts, table->rows[i].formulas[j]) /
				instructions;
	find_rest(figures, HP_STACK_NAIVE, HP_STACK_BASE);
	figures->values[HP_STACK_OTHER][HP_STACK_INTERVAL] = figures->cpi;
	for (unsigned i = 0; i < HP_STACK_OTHER; i++) {
		double value = figures->values[i][HP_STACK_INTERVAL];

		figures->values[HP_STACK_OTHER][HP_STACK_INTERVAL] -= isnan(value) ? 0 : value;
	}
}

/* --- intervals -------------------------------------------------------------------------------- */

/* Finds how each figure changes with a count, by changing the count a little. */
static void find_gradient(const struct making *making, size_t event, double *gradient)
{
	double moved[STACK_EVENTS_MOST];
	struct figures figures;
	double step = gradient_step * fmax(making->counted[event], 1);
	const double *before = (const double *)&making->figures;
	const double *after = (const double *)&figures;

	memcpy(moved, making->counted, sizeof(moved));
	moved[event] += step;
	find_figures(making, moved, &figures);
	for (size_t i = 0; i < FIGURES; i++)
		gradient[i] = isnan(after[i]) ? 0 : (after[i] - before[i]) / step;
}

/* Degrees of freedom of a sum of variances: Welch and Satterthwaite. */
struct freedom {
	double sum, parts;
};

static void add_variance(struct freedom *freedom, double variance, double degrees)
{
	freedom->sum += variance;
	freedom->parts += variance * variance / degrees;
}

static double degrees_of(const struct freedom *freedom)
{
	return freedom->parts > 0 ? freedom->sum * freedom->sum / freedom->parts : INFINITY;
}

/* The half width of one figure; infinite if one of its counts has no interval. */
static double half_of(const struct making *making, double (*gradients)[FIGURES], size_t figure)
{
	struct hp_mux_term terms[STACK_EVENTS_MOST];
	struct freedom freedom = { 0, 0 };
	size_t count = 0;

	for (size_t i = 0; i < making->table->event_count; i++) {
		const struct hp_mux_estimate *estimate;
		double gradient = gradients[i][figure];
		uint32_t event = making->events[i];

		if (isnan(making->counted[i]) || gradient == 0)
			continue;
		estimate = &making->estimates->events[event];
		if (making->given->events[event].verdict == HP_MUX_EXACT)
			continue;
		if (making->given->events[event].verdict != HP_MUX_ESTIMATED)
			return INFINITY;
		add_variance(&freedom,
			     gradient * gradient *
				     hp_mux_covariance(making->estimates, event, event),
			     estimate->freedom);
		terms[count++] = (struct hp_mux_term){ event, gradient };
	}
	return count ? hp_mux_quantile(degrees_of(&freedom)) *
			       sqrt(hp_mux_sum_variance(making->estimates, terms, count))
		     : 0;
}

static struct hp_error *find_halves(struct making *making)
{
	size_t events = making->table->event_count;
	double(*gradients)[FIGURES] = calloc(events + 1, sizeof(*gradients));
	double *half = (double *)&making->half;

	if (!gradients)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < events; i++)
		if (!isnan(making->counted[i]))
			find_gradient(making, i, gradients[i]);
	for (size_t i = 0; i < FIGURES; i++)
		half[i] = half_of(making, gradients, i);
	free(gradients);
	return NULL;
}

/* --- ranges ----------------------------------------------------------------------------------- */

static double limited(double value, double low, double high)
{
	return fmax(low, fmin(value, high));
}

static void find_other(struct making *making)
{
	struct hp_stack *stack = making->stack;
	struct hp_stack_part *other = &stack->parts[HP_STACK_OTHER];
	double likely = making->figures.values[HP_STACK_OTHER][HP_STACK_INTERVAL];
	double half = making->half.values[HP_STACK_OTHER][HP_STACK_INTERVAL];
	double most = isnan(stack->cpi_high) ? stack->cpi : stack->cpi_high;

	other->is_known = true;
	other->within = HP_STACK_OTHER;
	other->low = isinf(half) ? 0 : likely - half;
	other->high = limited(likely + half, 0, most);
	stack->adds_up = !(likely + half + sums_tolerance * stack->cpi < 0);
	stack->excess = stack->adds_up ? 0 : -likely;
}

/* From the smallest to the largest of the attributions, widened by the error of each. */
static void find_range(struct making *making, const struct hp_stack_row *row)
{
	const double per_whole = 1000;
	struct hp_stack_part *part = &making->stack->parts[row->component];
	const double *values = making->figures.values[row->component];
	const double *halves = making->half.values[row->component];
	double first = values[HP_STACK_INTERVAL];
	double second = values[HP_STACK_MULTI_STAGE];
	double doubt = row->doubt / per_whole * making->stack->cpi;
	double most = isnan(making->stack->cpi_high) ? making->stack->cpi : making->stack->cpi_high;

	if (!isnan(first) && isnan(second)) {
		part->low = first - halves[HP_STACK_INTERVAL] - doubt;
		part->high = first + halves[HP_STACK_INTERVAL] + doubt;
	} else if (!isnan(first)) {
		part->low = fmin(first - halves[HP_STACK_INTERVAL],
				 second - halves[HP_STACK_MULTI_STAGE]) -
			    doubt;
		part->high = fmax(first + halves[HP_STACK_INTERVAL],
				  second + halves[HP_STACK_MULTI_STAGE]) +
			     doubt;
	} else {
		part->low = 0;
		part->high = isnan(second) ? INFINITY
					   : second + halves[HP_STACK_MULTI_STAGE] + doubt;
		most = fmin(most, row->within == HP_STACK_OTHER
					  ? making->room
					  : fmax(0, making->stack->parts[row->within].high));
	}
	part->low = limited(part->low, 0, most);
	part->high = limited(part->high, 0, most);
}

static void find_part(struct making *making, const struct hp_stack_row *row,
		      struct stack_counts *counts)
{
	struct hp_stack_part *part = &making->stack->parts[row->component];
	const char *formula = row->formulas[HP_STACK_INTERVAL];
	int missing;

	part->is_known = true;
	part->within = row->within;
	if (!formula)
		formula = row->formulas[HP_STACK_MULTI_STAGE];
	missing = stack_counts_missing(counts, formula);
	part->missing = missing < 0 ? NULL : making->table->events[missing].name;
	find_range(making, row);
}

static bool has_value(const struct making *making, const struct hp_stack_row *row)
{
	return row->within == HP_STACK_OTHER &&
	       !isnan(making->figures.values[row->component][HP_STACK_INTERVAL]);
}

/* Finds where uncounted components are included: in `other`, and in components that would be
 * smaller without them. */
static void find_room(struct making *making)
{
	making->room = fmax(0, making->stack->parts[HP_STACK_OTHER].high);
	for (unsigned i = 0; i < HP_STACK_OTHER; i++)
		if (making->stack->parts[i].missing)
			making->room += making->stack->parts[i].high;
}

/* A part of another component lies within that one's range. */
static void find_parts(struct making *making)
{
	const struct hp_stack_table *table = making->table;
	struct stack_counts counts;

	stack_counts_begin(&counts, table, making->counted);
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++) {
		struct hp_stack_part *part = &making->stack->parts[i];
		double half = making->half.values[i][HP_STACK_INTERVAL];

		memcpy(part->values, making->figures.values[i], sizeof(part->values));
		part->half = isinf(half) ? NAN : half;
	}
	find_other(making);
	for (size_t i = 0; i < table->row_count; i++)
		if (has_value(making, &table->rows[i]))
			find_part(making, &table->rows[i], &counts);
	find_room(making);
	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].within == HP_STACK_OTHER && !has_value(making, &table->rows[i]))
			find_part(making, &table->rows[i], &counts);
	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].within != HP_STACK_OTHER)
			find_part(making, &table->rows[i], &counts);
}

static void find_metrics(struct making *making)
{
	const struct hp_stack_table *table = making->table;
	struct hp_stack *stack = making->stack;
	struct stack_counts counts;
	double whole = making->counted[CYCLES];

	stack_counts_begin(&counts, table, making->counted);
	if (table->whole)
		whole = stack_counts_value(&counts, table->whole);
	for (size_t i = 0; i < table->term_count; i++)
		if (table->terms[i].metric && stack->metric_count < HP_STACK_METRICS)
			stack->metrics[stack->metric_count++] = (struct hp_stack_metric){
				table->terms[i].metric,
				counts.terms[i] / whole,
			};
}

/* --- all together ----------------------------------------------------------------------------- */

struct hp_error *hp_stack_create(const struct hp_stack_table *table,
				 const struct hp_mux_estimates *estimates, const uint32_t *events,
				 struct hp_stack *stack)
{
	_cleanup_(hp_mux_reconciliation_destroy_scope) struct hp_mux_reconciliation *sums = NULL;
	struct making making = {
		.table = table,
		.estimates = estimates,
		.given = estimates,
		.events = events,
		.stack = stack,
	};
	struct hp_error *error;

	*stack = (struct hp_stack){ .table = table };
	take_counts(&making);
	error = stack_sums_reconcile(table, estimates, events, making.counted, &sums,
				     &stack->violated);
	if (error)
		return error;
	making.estimates = sums->adjusted;
	take_counts(&making);
	find_figures(&making, making.counted, &making.figures);
	error = find_halves(&making);
	if (error)
		return error;
	stack->cycles = making.counted[CYCLES];
	stack->instructions = making.counted[INSTRUCTIONS];
	stack->cpi = making.figures.cpi;
	stack->cpi_low = fmax(0, stack->cpi - making.half.cpi);
	stack->cpi_high = stack->cpi + making.half.cpi;
	if (isinf(making.half.cpi))
		stack->cpi_low = stack->cpi_high = NAN;
	find_parts(&making);
	find_metrics(&making);
	return NULL;
}

static int by_size(const void *left, const void *right, void *context)
{
	const struct hp_stack *stack = context;
	const struct hp_stack_part *a = &stack->parts[*(const enum hp_stack_component *)left];
	const struct hp_stack_part *b = &stack->parts[*(const enum hp_stack_component *)right];
	double x = a->values[HP_STACK_INTERVAL], y = b->values[HP_STACK_INTERVAL];

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (!isnan(x) && x != y)
		return x < y ? 1 : -1;
	return (a->high < b->high) - (a->high > b->high);
}

void hp_stack_order(const struct hp_stack *stack, enum hp_stack_component *order)
{
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		order[i] = (enum hp_stack_component)i;
	qsort_r(order, HP_STACK_OTHER, sizeof(*order), by_size, (void *)(uintptr_t)stack);
}
