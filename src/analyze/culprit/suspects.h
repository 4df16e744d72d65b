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
	double weight;	 /* against the others, for what is beyond what is expected */
	double ceiling;	 /* cycles of all executions: more is not expected; INFINITY */
};

struct suspects {
	double doubt; /* 0 to 1: how much what is added counts for ranking */
	uint32_t count;
	struct suspect at[MOST_SUSPECTS];
};

/* A suspect of the same kind and culprit is one with it; one without a bound is none. */
void add_suspect(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected);
/* One that is expected to take no more than `ceiling` cycles of all executions together. */
void add_marked(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		double expected, double ceiling);
/* One that is seldom met, but likely to be it where others do not suffice. */
void add_reserve(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected, double weight);

#endif
