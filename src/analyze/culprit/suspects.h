/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The suspects of one stalled instruction, each with two figures: the most cycles that one
 * execution can lose to it, and the expected number, for ranking. Both are core cycles per
 * execution of the stalled instruction.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_SUSPECTS_H
#define HPCPROF_ANALYZE_CULPRIT_SUSPECTS_H

#include <hpcprof/analyze/analysis.h>

enum { MOST_SUSPECTS = 24 };

struct suspect {
	uint8_t kind;	  /* enum hp_cause_kind */
	uint32_t culprit; /* instruction, or HP_SCHEDULE_NONE */
	double bound;
	double expected; /* never more than `bound` */
	/* share of the cycles beyond the expected ones that it gets, relative to other suspects */
	double weight;
	double ceiling; /* limit of expected cycles in all executions; INFINITY: none */
};

struct suspects {
	double doubt; /* 0 to 1: factor on the rank of suspects that are added */
	uint32_t count;
	struct suspect at[MOST_SUSPECTS];
};

/* Adds a suspect, or adds to one of the same kind and culprit. Without a bound, does nothing. */
void add_suspect(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected);
/* Adds a suspect that is expected to take at most `ceiling` cycles in all executions together. */
void add_marked(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		double expected, double ceiling);
/* Adds a suspect that is rare, but likely if the other suspects do not explain the stall. */
void add_reserve(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected, double weight);

#endif
