/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How cycles were spent: a prediction (hp_prediction) split into components that add up to the
 * measured cycles.
 *
 * The first components are those of a core without any events: its width, and the operands and
 * units that it waits for. Events follow. The cost of an event depends on the other events: removing
 * it alone from the real core gives one cost, and adding it alone to the core without events gives
 * another.
 * The likely cost is the mean of both, scaled so that all components add up.
 *
 * The range of a component contains both costs (the truth of interval analysis is also obtained by
 * simulating in both orders) and the error of the timing. It is limited by elimination, too: a
 * component has what the time without it leaves, and where that is short, so is its error. Measured
 * cycles that were not predicted form a component of their own; the range includes as many of them
 * as the component's events can have taken, if the number of events is known.
 */
#ifndef HPCPROF_ANALYZE_CPI_STACK_H
#define HPCPROF_ANALYZE_CPI_STACK_H

#include <hpcprof/analyze/analysis.h>

enum hp_cpi_component {
	HP_CPI_WIDTH,
	HP_CPI_DEPENDENCY,
	HP_CPI_PORT,
	HP_CPI_DIVIDER,
	HP_CPI_MULTIPLIER,
	HP_CPI_FP,
	HP_CPI_SYNC,
	HP_CPI_MISPREDICT,
	HP_CPI_ICACHE,
	HP_CPI_ITLB,
	HP_CPI_FETCH,
	HP_CPI_L2,
	HP_CPI_FAR,
	HP_CPI_DTLB,
	HP_CPI_STORE_BUFFER,
	HP_CPI_STORE_FORWARD,
	HP_CPI_UNEXPLAINED,
	HP_CPI_COMPONENTS,
};

/* Components that one access or one branch can have at once. What each took depends on the order in
 * which they are removed; what all took together is known better. */
enum hp_cpi_group {
	HP_CPI_OF_DATA, /* l2, l3-or-memory, dtlb */
	HP_CPI_OF_SUPPLY, /* branch-mispredict, icache, itlb, fetch: the core has nothing to execute */
	HP_CPI_GROUPS,
};

/* Shares of the measured cycles. */
struct hp_cpi_part {
	double low;
	double high;
	double likely; /* they add up to 1 */
};

struct hp_cpi_stack {
	struct hp_cpi_part parts[HP_CPI_COMPONENTS];
	struct hp_cpi_part groups[HP_CPI_GROUPS];
	double cycles; /* measured, in code that was timed */
	double apart;  /* share of `cycles`, at least, in other moments than windows saw */
	double excess; /* share of `cycles` that was predicted beyond them, and taken off again */
	double predicted; /* with unknown lines where they fit the time best; NAN unless absolute */
	double cpi;	  /* NAN unless absolute */
};

/* Whether executions are known well enough to predict the cycles of all of them. False also if the
 * core cannot have executed so many in the measured time. */
bool hp_cpi_is_absolute(const struct hp_analysis *analysis);
/* Adds up predictions of procedures, or of parts of them, each scaled to what was measured if it is
 * not absolute. */
void hp_cpi_add(struct hp_prediction *into, const struct hp_analysis *analysis,
		const struct hp_prediction *part);
/* requires: prediction->measured > 0. `is_absolute`: what was added is. */
struct hp_cpi_stack hp_cpi_of(const struct hp_prediction *prediction, bool is_absolute);

/* The stack of one procedure, or of a part of it, such as a loop. requires: something of it was
 * timed */
struct hp_cpi_stack hp_cpi_of_analysis(const struct hp_analysis *analysis);
/* The same, not settled, to be summed up or settled. */
struct hp_cpi_stack hp_cpi_of_part(const struct hp_analysis *analysis,
				   const struct hp_prediction *part);
/* Widens the ranges of a group's members, not that of the group, to contain those of another stack of
 * the same cycles. Before it is settled. */
void hp_cpi_widen_members(struct hp_cpi_stack *stack, enum hp_cpi_group group,
			  const struct hp_cpi_stack *other);
/* Takes off what was predicted beyond the measured cycles, most where the prediction is most in
 * doubt. Until then `unexplained` is less than 0 by as much, and `likely` may be out of its range. */
void hp_cpi_settle(struct hp_cpi_stack *stack);
/* The part's prediction, scaled to what was measured unless it is absolute. */
struct hp_prediction hp_cpi_scaled(const struct hp_analysis *analysis,
				   const struct hp_prediction *part);

/* The cycles of a component: what its removal from the real core saves, and what adding it alone to
 * the core without events costs. */
struct hp_cpi_orders {
	double last, first;
};
/* Returns what is predicted, as in struct hp_cpi_stack. */
double hp_cpi_find_orders(const struct hp_prediction *prediction,
			  struct hp_cpi_orders orders[HP_CPI_COMPONENTS]);

/* Adds up stacks, weighted by their cycles; all 0 at first. What is predicted for a part of the program only
 * makes sense there: time moves to others on other cores. */
struct hp_cpi_sum {
	struct hp_range_sum parts[HP_CPI_COMPONENTS];
	struct hp_range_sum groups[HP_CPI_GROUPS];
	double likely[HP_CPI_COMPONENTS];
	double cycles;
};
void hp_cpi_add_stack(struct hp_cpi_sum *sum, const struct hp_cpi_stack *more);
/* The stack of all that was added: settled, without what was predicted. */
struct hp_cpi_stack hp_cpi_of_sum(const struct hp_cpi_sum *sum);

uint32_t hp_cpi_members(enum hp_cpi_group group); /* bits by enum hp_cpi_component */

const char *hp_cpi_name(enum hp_cpi_component component); /* "l3-or-memory", as in JSON */
const char *hp_cpi_word(enum hp_cpi_component component); /* "L3 or memory", for people */

#endif
