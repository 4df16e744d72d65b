/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What branch records with cycles tell: how often straight code ran in all of the cycles that were
 * sampled, and how long it took from one taken branch to the next.
 */
#ifndef REPORT_RECORDED_H
#define REPORT_RECORDED_H

#include "counted.h"

/* Executions of the graph's blocks; nothing of those in no record. */
struct hp_error *recorded_terms_of(const struct report *report, const struct report_part *part,
				   const struct hp_cfg *cfg, evidence_vector *terms);

/* Of each block the cycles of one execution, the mean of those that were all that ran between two
 * taken branches; NAN when none were, or hardware does not say. Lives in the arena. */
struct hp_error *recorded_cycles(const struct report *report, const struct report_part *part,
				 const struct hp_cfg *cfg, struct hp_arena *arena, double **cycles);

#endif
