/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evaluate.h"

#include "formula.h"

#include <hpcprof/isa/machine.h>

#include <math.h>
#include <string.h>

static bool is_named(const char *symbol, const char *name, size_t length)
{
	return strncmp(symbol, name, length) == 0 && !symbol[length];
}

static bool find_constant(const struct stack_counts *counts, const char *name, size_t length,
			  double *value)
{
	const struct hp_stack_latencies *latencies = &counts->latencies;
	const struct {
		const char *name;
		double value;
	} constants[] = {
		{ "W", counts->table->width },	 { "refill", counts->table->refill },
		{ "l2", latencies->l2 },	 { "l3", latencies->l3 },
		{ "memory", latencies->memory }, { "mispredict", latencies->mispredict },
		{ "tlb", latencies->tlb },	 { "walk", latencies->walk },
	};

	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++) {
		if (!is_named(constants[i].name, name, length))
			continue;
		*value = constants[i].value;
		return true;
	}
	return false;
}

static bool look_up(void *context, const char *name, size_t length, double *value)
{
	const struct stack_counts *counts = context;
	const struct hp_stack_table *table = counts->table;

	for (size_t i = 0; i < table->event_count; i++) {
		if (!is_named(table->events[i].symbol, name, length))
			continue;
		*value = counts->events[i];
		return true;
	}
	for (size_t i = 0; i < counts->terms_known; i++) {
		if (!is_named(table->terms[i].symbol, name, length))
			continue;
		*value = counts->terms[i];
		return true;
	}
	return find_constant(counts, name, length, value);
}

static struct hp_stack_latencies latencies_of(const struct hp_stack_table *table)
{
	const struct hp_core *core = table->core ? hp_core_named(table->core) : NULL;

	if (!core)
		return table->latencies;
	return (struct hp_stack_latencies){
		.mispredict = core->mispredict_cycles,
		.l2 = core->l2_cycles,
		.l3 = core->l3_cycles,
		.memory = core->memory_cycles,
		.tlb = core->l2_tlb_cycles,
		.walk = core->walk_cycles,
	};
}

void stack_counts_begin(struct stack_counts *counts, const struct hp_stack_table *table,
			const double *events)
{
	counts->table = table;
	counts->events = events;
	counts->latencies = latencies_of(table);
	counts->terms_known = 0;
	for (size_t i = 0; i < table->term_count && i < STACK_TERMS_MOST; i++) {
		counts->terms[i] = stack_counts_value(counts, table->terms[i].formula);
		counts->terms_known++;
	}
}

double stack_counts_value(struct stack_counts *counts, const char *formula)
{
	double value;

	if (!formula || !formula_evaluate(formula, look_up, counts, &value))
		return NAN;
	return value;
}

/* --- what a formula needs --------------------------------------------------------------------- */

static const double any_count = 12345;

struct needs {
	struct stack_counts counts;
	bool *needed;
};

static bool mark(void *context, const char *name, size_t length, double *value)
{
	struct needs *needs = context;
	const struct hp_stack_table *table = needs->counts.table;

	*value = 1;
	for (size_t i = 0; i < table->event_count; i++) {
		if (!is_named(table->events[i].symbol, name, length))
			continue;
		needs->needed[i] = true;
		return true;
	}
	for (size_t i = 0; i < table->term_count; i++) {
		double ignored;

		if (is_named(table->terms[i].symbol, name, length))
			return formula_evaluate(table->terms[i].formula, mark, needs, &ignored);
	}
	return find_constant(&needs->counts, name, length, value);
}

bool stack_formula_events(const struct hp_stack_table *table, const char *formula, bool *needed)
{
	struct needs needs = { .counts = { .table = table }, .needed = needed };
	double ignored;

	return formula_evaluate(formula, mark, &needs, &ignored);
}

/* Whether the formula has another value with some count of this event. */
static bool matters(const struct stack_counts *counts, const char *formula, size_t event,
		    double without)
{
	double events[STACK_EVENTS_MOST];
	struct stack_counts with;
	double value;

	memcpy(events, counts->events, counts->table->event_count * sizeof(*events));
	events[event] = any_count;
	stack_counts_begin(&with, counts->table, events);
	value = stack_counts_value(&with, formula);
	return isnan(value) ? !isnan(without) : isnan(without) || value != without;
}

int stack_counts_missing(struct stack_counts *counts, const char *formula)
{
	bool needed[STACK_EVENTS_MOST] = { false };
	double value = stack_counts_value(counts, formula);
	int first = -1;

	if (!formula || !stack_formula_events(counts->table, formula, needed))
		return -1;
	for (size_t i = 0; i < counts->table->event_count; i++) {
		if (!needed[i] || !isnan(counts->events[i]))
			continue;
		if (matters(counts, formula, i, value))
			return (int)i;
		first = first < 0 ? (int)i : first;
	}
	/* One event alone does not suffice. */
	return isnan(value) ? first : -1;
}

bool hp_stack_formula_needs(const struct hp_stack_table *table, const char *formula, size_t event)
{
	bool needed[STACK_EVENTS_MOST] = { false };

	return formula && stack_formula_events(table, formula, needed) && needed[event];
}
