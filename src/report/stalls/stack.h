/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How cycles were spent: a prediction (hp_prediction) split into components that add up to the
 * measured cycles.
 *
 * The core without any events comes first: its width, and the operands and units that it waits for.
 * Events follow. The cost of an event depends on the other events: it differs between removing it
 * alone from the real core and adding it alone to the core without events. The likely cost is the
 * mean of both, scaled so that all components add up. The range contains both (simulating in both
 * orders, as the truth of interval analysis is obtained), the error of the timing, and the measured
 * cycles that were not predicted, which form a component of their own.
 */
#ifndef REPORT_STALLS_STACK_H
#define REPORT_STALLS_STACK_H

#include <hpcprof/analyze/analysis.h>

enum stack_component {
	STACK_WIDTH,
	STACK_DEPENDENCY,
	STACK_PORT,
	STACK_DIVIDER,
	STACK_MULTIPLIER,
	STACK_FP,
	STACK_SYNC,
	STACK_MISPREDICT,
	STACK_ICACHE,
	STACK_ITLB,
	STACK_FETCH,
	STACK_L2,
	STACK_FAR,
	STACK_DTLB,
	STACK_STORE_BUFFER,
	STACK_STORE_FORWARD,
	STACK_UNEXPLAINED, /* less than 0: predicted, but not measured */
	STACK_COMPONENTS,
};

/* Shares of the measured cycles. */
struct stack_part {
	double low;
	double high;
	double likely; /* they add up to 1 */
};

struct stack {
	struct stack_part parts[STACK_COMPONENTS];
	double cycles;	  /* measured, in code that was timed */
	double predicted; /* with unknown lines where they fit the time best; NAN unless absolute */
	double cpi;	  /* NAN unless absolute */
};

/* Whether executions are known well enough to say what all of them take: not, too, if the core
 * cannot have been as fast as that. */
bool stack_is_absolute(const struct hp_analysis *analysis);
/* Adds up predictions of procedures, each scaled to what was measured if it is not absolute. */
void stack_add(struct hp_prediction *into, const struct hp_analysis *analysis);
/* requires: prediction->measured > 0. `is_absolute`: what was added is. */
struct stack stack_of(const struct hp_prediction *prediction, bool is_absolute);

/* The stack of one procedure, or of a part of it, such as a loop. requires: something of it was
 * timed */
struct stack stack_of_analysis(const struct hp_analysis *analysis);
struct stack stack_of_part(const struct hp_analysis *analysis, const struct hp_prediction *part);
/* The part's prediction, scaled to what was measured unless it is absolute. */
struct hp_prediction stack_scaled(const struct hp_analysis *analysis,
				  const struct hp_prediction *part);

/* Cycles of a component, taken away from the core as it is, and added to the one without events. */
struct stack_orders {
	double last, first;
};
/* Returns what is predicted, as in struct stack. */
double stack_find_orders(const struct hp_prediction *prediction,
			 struct stack_orders orders[STACK_COMPONENTS]);

/* The parts of several stacks, weighted by their cycles: summed up into what is all 0, and then
 * ended. What is predicted for a part of the program only makes sense there: time moves to others
 * on other cores. */
void stack_sum(struct stack *into, const struct stack *more);
void stack_sum_end(struct stack *sum);

const char *stack_name(enum stack_component component); /* "l3-or-memory", as in JSON */
const char *stack_word(enum stack_component component); /* "L3 or memory", for people */

#endif
