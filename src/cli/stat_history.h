/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks over time: those of all intervals, the phases that they form (hpcprof/stack/phases.h), and
 * their output as text, JSON and a drawing. Memory is bounded: in a long run, neighbouring
 * intervals are merged.
 */
#ifndef HPCPROF_CLI_STAT_HISTORY_H
#define HPCPROF_CLI_STAT_HISTORY_H

#include "stat.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/stack/stack.h>

#include <jansson.h>

/* An interval, or a phase. */
struct stat_stretch {
	double begin_s, end_s;
	double cycles, instructions;
	double parts[HP_STACK_COMPONENTS]; /* likely cycles per instruction; NaN: not counted */
};

struct stat_history {
	HP_VECTOR(struct stat_stretch) intervals;
	size_t joined;			       /* reports in one interval */
	size_t in_last;			       /* reports in the last interval so far */
	HP_VECTOR(struct stat_stretch) phases; /* after stat_history_end */
};
void stat_history_clear(struct stat_history *history);

/* Adds the stack of an interval; false when memory is short. Ignores intervals without
 * instructions. */
bool stat_history_add(struct stat_history *history, const struct hp_counting_report *report,
		      const struct hp_stack *stack);
/* Finds the phases. */
struct hp_error *stat_history_end(struct stat_history *history);

double stat_stretch_cpi(const struct stat_stretch *stretch);
/* Returns the component whose share of the CPI changed most since the previous phase; `*change` is
 * the change in cycles per instruction. */
enum hp_stack_component stat_stretch_changed(const struct stat_stretch *before,
					     const struct stat_stretch *after, double *change);

void stat_phases_text(FILE *stream, const struct stat_history *history);
/* Returns the phases as an array; NULL when memory is short. */
json_t *stat_phases_json(const struct stat_history *history);
/* Draws components as stacked areas, and the ends of phases as lines. */
void stat_history_plot(FILE *stream, const struct stat_subject *subject,
		       const struct stat_history *history);

#endif
