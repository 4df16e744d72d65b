/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that were seen at instructions in simulated windows (hp_happened). They bound causes: the
 * number of events, at the upper end of its interval, times the largest cost of one event. Without
 * simulation, causes are judged by the code alone.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_WITNESS_H
#define HPCPROF_ANALYZE_CULPRIT_WITNESS_H

#include "facts.h"

struct hp_arena;

/* Fills in `happened` of the analysis's instructions, in its arena. */
struct hp_error *witness_prepare(struct hp_analysis *analysis,
				 const struct hp_analysis_input *input, struct hp_arena *arena);
/* Adds to `most` of the prediction what the instruction's events can have taken in so many
 * executions. `seen` is NULL where it was not simulated: there each event that it can have. */
void witness_add_most(const struct hp_core *core, const struct hp_isa *isa,
		      const struct hp_insn *insn, const struct hp_happened *seen, double runs,
		      struct hp_prediction *prediction);
/* NULL: not simulated, or too seldom to bound anything. */
const struct hp_happened *witness_of(const struct facts *facts, uint32_t at);

/* Whether accesses of this kind can have events; `access`: bits of enum hp_access. */
static inline bool witness_accesses(const struct hp_insn *insn, unsigned access)
{
	for (size_t k = 0; k < insn->memory_count; k++)
		if (insn->memories[k].access & access)
			return true;
	return false;
}

/* Cycles by which a miss that hits the second level exceeds a first-level hit, which the code waits
 * for in any case. */
static inline double witness_l2_cycles(const struct hp_core *core)
{
	return (double)core->l2_cycles - core->l1_cycles;
}

/* Events per execution, including those that the models could not decide. */
static inline double witness_most(const struct hp_happened *seen, enum hp_event_kind miss,
				  enum hp_event_kind unknown)
{
	return seen->most[miss] + (seen->mean[unknown] > 0 ? seen->most[unknown] : 0);
}

#endif
