/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eyerman et al. 2006, section 5.1: causes are added one by one to a core on which nothing costs
 * anything. A cause costs as much as the time grows by. The orders differ in whether data beyond
 * the second cache comes after code or before it.
 */
#include "truth.h"

#include <math.h>

enum { STEPS = HP_CYCLE_PARTS - 1, ALL = (1 << HP_CYCLE_PARTS) - 2 };

static const enum hp_cycle_part orders[2][STEPS] = {
	{ HP_CYCLE_UNITS, HP_CYCLE_BRANCH, HP_CYCLE_L1I, HP_CYCLE_L2I, HP_CYCLE_ITLB, HP_CYCLE_L2D,
	  HP_CYCLE_DTLB, HP_CYCLE_STORE },
	{ HP_CYCLE_UNITS, HP_CYCLE_BRANCH, HP_CYCLE_L2D, HP_CYCLE_DTLB, HP_CYCLE_STORE,
	  HP_CYCLE_L1I, HP_CYCLE_L2I, HP_CYCLE_ITLB },
};

/* Cycles per instruction by set of perfect parts, as far as known; 0: not yet. */
struct known {
	const struct core_run *run;
	double cpi[ALL + 1];
};

static struct hp_error *find(struct known *known, unsigned perfect, double *cpi)
{
	struct hp_cycle_config config = *known->run->config;
	struct core_run run = *known->run;
	struct hp_error *error = NULL;

	/* If stores cost nothing, the core without their cost is the same. */
	if (!config.has_store_buffer)
		perfect &= ~(1U << HP_CYCLE_STORE);
	config.perfect |= perfect;
	run.config = &config;
	run.watcher_count = 0;
	if (!known->cpi[perfect]) {
		error = core_run(&run);
		if (!error)
			known->cpi[perfect] =
				(double)run.counts.cycles / (double)run.counts.instructions;
	}
	*cpi = known->cpi[perfect];
	return error;
}

static struct hp_error *add_up(struct known *known, const enum hp_cycle_part order[STEPS],
			       struct hp_cycle_stack *stack)
{
	unsigned perfect = ALL;
	double before;
	struct hp_error *error = find(known, perfect, &before);

	stack->cpi[HP_CYCLE_BASE] = before;
	for (unsigned i = 0; i < STEPS && !error; i++) {
		double cpi;

		perfect &= ~(1U << order[i]);
		error = find(known, perfect, &cpi);
		stack->cpi[order[i]] = cpi - before;
		before = cpi;
	}
	return error;
}

/* Finds the cost of the limits of fetch, once where nothing else costs anything, and once where
 * everything does. */
static struct hp_error *find_fetch(const struct known *known, double cpi,
				   struct hp_cycle_result *result)
{
	struct hp_cycle_config config = *known->run->config;
	struct core_run run = *known->run;
	const double with[] = { result->truth_low.cpi[HP_CYCLE_BASE], cpi };
	double costs[2];

	config.fetches_all = true;
	run.config = &config;
	run.watcher_count = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct hp_error *error;

		config.perfect = known->run->config->perfect | (i ? 0 : (unsigned)ALL);
		error = core_run(&run);
		if (error)
			return error;
		costs[i] = with[i] - (double)run.counts.cycles / (double)run.counts.instructions;
	}
	result->fetch_low = fmax(0, fmin(costs[0], costs[1]));
	result->fetch_high = fmax(0, fmax(costs[0], costs[1]));
	return NULL;
}

struct hp_error *truth_find(const struct core_run *run, double cpi, struct hp_cycle_result *result)
{
	struct known known = { .run = run, .cpi = { cpi } };
	struct hp_cycle_stack stacks[2];

	for (unsigned i = 0; i < 2; i++) {
		struct hp_error *error = add_up(&known, orders[i], &stacks[i]);

		if (error)
			return error;
	}
	for (unsigned part = 0; part < HP_CYCLE_PARTS; part++) {
		double first = stacks[0].cpi[part], second = stacks[1].cpi[part];

		result->truth_low.cpi[part] = first < second ? first : second;
		result->truth_high.cpi[part] = first < second ? second : first;
	}
	return find_fetch(&known, cpi, result);
}
