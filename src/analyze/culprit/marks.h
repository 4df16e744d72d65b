/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marks that mispredicted branches leave.
 *
 * While the core refills after a misprediction, the first instructions at the branch's target are
 * the oldest, so time accumulates on them. After a correct prediction they take no more time than
 * the instructions around them. The excess (the mark) needs no scale: it distinguishes
 * mispredictions from a loop that is slow as a whole, even without counts. Marks are cycles over
 * all executions.
 *
 * "Around them" is the mean of the loop without outliers: the time of a load that misses says
 * nothing about its neighbours.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_MARKS_H
#define HPCPROF_ANALYZE_CULPRIT_MARKS_H

#include "facts.h"

/* Requires cycles and frequencies. */
struct hp_error *marks_prepare(struct facts *facts, struct hp_arena *arena);
/* Cycles of all executions by which the instruction exceeds its share of its region. */
double mark_at(const struct facts *facts, uint32_t at);

#endif
