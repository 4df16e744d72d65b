/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates as text: three digits, and no more precision than they have. */
#ifndef REPORT_COMMON_QUANTITY_H
#define REPORT_COMMON_QUANTITY_H

#include "text.h"

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/model/profile.h>

/* "0.931", "12.3", "4711", "1.23 M", "45 G"; nothing if it is unknown. */
void quantity_add(struct hp_buffer *buffer, double value);
/* Cycles, with two digits after the point for small values. */
void quantity_add_cycles(struct hp_buffer *buffer, double cycles);
/* "0.93 ±5%" if the interval is about symmetric, otherwise "0.2 to 3.1". */
void quantity_add_interval(struct hp_buffer *buffer, double value, double low, double high);
/* Executions; nothing if too uncertain. If not absolute: relative to the hottest block; "" if
 * unknown. */
void quantity_add_frequency(struct hp_buffer *buffer, const struct hp_frequency *frequency,
			    bool is_absolute);
/* Cycles; "≥8.4" if only the interval's lower end is known; "" if unknown. */
void quantity_add_at_least(struct hp_buffer *buffer, double value, double low);

/* A sampling period: "1 ms", "250 us", "1000 cycles". */
void quantity_add_period(struct hp_buffer *buffer, enum hp_unit unit, uint64_t period);

/* The cause's name for people: "data cache miss". */
const char *quantity_cause(enum hp_cause_kind kind);
/* Whether the cause is one of `joint`, and matters. */
bool quantity_is_joint(const struct hp_joint_cause *joint, const struct hp_cause *cause);
/* The causes of an instruction that are to be told together, since which of them it was is not
 * known; NULL: there are none. */
const struct hp_joint_cause *quantity_joint(const struct hp_analysis *analysis,
					    const struct hp_analysed_insn *insn);
/* The same for one bit of hp_analysis.problems, as a sentence without a full stop. */
const char *quantity_problem(enum hp_analysis_problem problem);

#endif
